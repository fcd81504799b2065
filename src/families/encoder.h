// What an encoder computes, as data: which tensors of a checkpoint, in which arrangement. A family's file makes one of
// a config.json; padded.h and packed.h write it as a graph. What a new family needs beyond this is added here, once.
//
// Names are those of the checkpoint, without its prefix. Values; no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "families/activation.h"

namespace weir::families {

/// What others need to know of a model, whatever its family.
struct Facts {
  std::string family;
  std::uint32_t hidden_size = 0;
  std::uint32_t vocabulary_size = 0;
  std::uint32_t max_positions = 0;  ///< Tokens of the longest text.
  std::uint32_t pad_token_id = 0;
  std::uint32_t layers = 0;
  bool has_token_type_ids = true;
  bool masked_tokens_see_none = false;  ///< A token that is not attended to does not attend to others, either.
};

/// Tensor NAME.weight [rows, columns].
struct Table {
  std::string name;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// Tensors NAME.weight [channels, inputs] and NAME.bias [channels].
struct Linear {
  std::string name;
  std::uint64_t inputs = 0;
  std::uint64_t channels = 0;
  bool bias = true;
  // A part of tensors that hold the channels of several layers, one after the other.
  std::uint64_t first_channel = 0;
  std::uint64_t stored_channels = 0;  ///< 0: `channels`, and they are all.
};

/// Layer normalization: tensors NAME.weight and NAME.bias, or, in checkpoints of long ago, NAME.gamma and NAME.beta.
struct Norm {
  std::string name;
  std::uint64_t size = 0;
  float epsilon = 0;
  bool bias = true;
};

struct Embeddings {
  Table words;
  std::optional<Table> positions;    ///< Learned absolute positions.
  std::uint32_t first_position = 0;  ///< The row of a text's first token.
  bool skip_padding_tokens = false;  ///< Tokens that are pad_token_id take the row before the first and do not count.
  std::optional<Table> types;        ///< Row 0 for all tokens where the model takes no token_type_ids.
  std::optional<Norm> norm;
  std::optional<Linear> projection;  ///< From the tables' columns to the hidden size.
  bool project_first = false;        ///< Before `norm`.
  bool zero_padding = false;         ///< Rows of padding become 0.
};

struct Attention {
  Linear query;
  Linear key;
  Linear value;
  Linear output;
  std::optional<Norm> query_norm;  ///< Over all heads together.
  std::optional<Norm> key_norm;
  std::optional<Linear> position_query;  ///< With Encoder::disentangled.
  std::optional<Linear> position_key;
  std::optional<std::size_t> rotary;  ///< Which of Encoder::rotary_frequencies.
  std::uint32_t window = 0;           ///< Token i sees tokens i - window .. i + window; 0: all.
};

/// down(activation(up(x))), or with a gate down(activation(gate(x)) * up(x)).
struct FeedForward {
  std::optional<Linear> gate;
  Linear up;
  Linear down;
};

/// With norm_first   y = x + attention(attention_norm(x)),   y + feed_forward(feed_forward_norm(y)), else
///                   y = attention_norm(x + attention(x)),   feed_forward_norm(y + feed_forward(y)).
struct Layer {
  Attention attention;
  std::optional<Norm> attention_inner_norm;  ///< attention(x) becomes this of (x + attention(x)). Not with norm_first.
  std::optional<Norm> attention_norm;        ///< Missing: the identity. Only with norm_first.
  FeedForward feed_forward;
  Norm feed_forward_norm;
};

/// A bias of attention scores by the bucket of the distance between two tokens (T5's form): table [buckets, heads].
struct RelativeBias {
  Table table;
  std::uint32_t max_distance = 0;  ///< Distances beyond it share a bucket.
};

/// DeBERTa's attention: scores by content and by relative position, each against the other.
struct Disentangled {
  Table positions;  ///< [2 * span, hidden]
  std::optional<Norm> norm;
  std::uint32_t span = 0;
  std::uint32_t buckets = 0;  ///< 0: every distance its own.
  std::uint32_t max_distance = 0;
};

/// After the first layer: norm(output + activation(convolution(input))), over neighbouring tokens.
struct Convolution {
  std::string name;  ///< Tensors NAME.weight [hidden, hidden / groups, width] and NAME.bias.
  Norm norm;
  std::uint32_t width = 0;  ///< Odd.
  std::uint32_t groups = 1;
  Activation activation = Activation::kTanh;
};

/// norm(activation(dense(x))).
struct HeadStep {
  Linear dense;
  Activation activation = Activation::kTanh;
  std::optional<Norm> norm;
};

/// What stands on top of the encoder for a task, up to the labels. Names with a '/' before them are outside of the
/// encoder: no prefix stands before them. Empty steps with an empty name: the family's head is not known.
struct Head {
  std::vector<HeadStep> steps;
  std::string classifier;   ///< A Linear to the labels.
  bool has_bias = true;     ///< The classifier.
  bool reads_mean = false;  ///< Of a text: the mean of its tokens, not the first.
};

/// The masked language model's head: steps, then the table of words (or a tensor of its own) and a bias.
struct WordHead {
  std::vector<HeadStep> steps;
  std::string decoder;  ///< NAME.weight, if it is there.
  std::string bias;     ///< The tensor's whole name; empty: none.
};

struct Encoder {
  Facts facts;
  std::vector<std::string> prefixes;  ///< One of them stands before all names.
  std::vector<std::string> parts;     ///< Tensors that begin so belong to the encoder; one too many is an error.
  std::vector<std::string> ignored;   ///< But these.
  Embeddings embeddings;
  std::vector<Layer> layers;
  std::uint32_t heads = 0;
  Activation activation = Activation::kGelu;
  bool norm_first = false;
  std::optional<Norm> final_norm;

  // Positions in attention
  std::vector<std::vector<float>> rotary_frequencies;  ///< Radians per position, [head size / 2] each.
  std::vector<float> alibi_slopes;                     ///< [heads]: -slope * distance is added to the scores.
  std::optional<RelativeBias> relative_bias;
  std::optional<Disentangled> disentangled;
  std::optional<Convolution> convolution;

  // Heads
  Head text_head;
  Head token_head{{}, "/classifier"};
  std::optional<WordHead> word_head;
};

}  // namespace weir::families
