// What the families' config.json files have in common, read and checked. Errors name file and field: kUnsupported what
// weir does not have, kCorrupt what is missing or contradicts itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "families/activation.h"
#include "families/encoder.h"
#include "huggingface/json_object.h"

namespace weir::families {

inline constexpr std::uint32_t kMaxSize = 1u << 20;
inline constexpr std::uint32_t kMaxVocabulary = 1u << 24;
inline constexpr std::uint32_t kMaxLayers = 1000;

/// The fields' names in a family's config.json; where there are several, the first that is there counts.
struct SizeFields {
  std::vector<const char*> hidden = {"hidden_size"};
  std::vector<const char*> layers = {"num_hidden_layers"};
  std::vector<const char*> heads = {"num_attention_heads"};
  std::vector<const char*> intermediate = {"intermediate_size"};
  std::vector<const char*> positions = {"max_position_embeddings"};
};

struct Sizes {
  std::uint32_t hidden = 0;
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t intermediate = 0;
  std::uint32_t positions = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t pad_token_id = 0;

  std::uint32_t head_size() const { return hidden / heads; }
  Facts facts(std::string family) const;
};

/// All sizes, and that heads divide the hidden size and the padding token lies in the vocabulary.
Result<Sizes> read_sizes(const huggingface::JsonObject& config, const SizeFields& fields,
                         std::uint32_t default_pad_token_id = 0);

/// Refuses decoders, cross attention and quantized checkpoints.
Status check_is_encoder(const huggingface::JsonObject& config);
/// Refuses `key` when it is there and something else than `expected`.
Status expect_boolean(const huggingface::JsonObject& config, const char* key, bool expected);

/// A number from 1 to `max`, under the first of `keys` that is there.
Result<std::uint32_t> positive(const huggingface::JsonObject& config, const std::vector<const char*>& keys,
                               std::uint32_t max);
/// Rows of the token type table; 0 where there is none.
Result<std::uint32_t> token_types(const huggingface::JsonObject& config, std::optional<std::uint32_t> otherwise);
Result<float> epsilon(const huggingface::JsonObject& config, const std::vector<const char*>& keys,
                      std::optional<float> otherwise = std::nullopt);
Result<Activation> activation(const huggingface::JsonObject& config, const std::vector<const char*>& keys,
                              std::optional<Activation> otherwise = std::nullopt);

}  // namespace weir::families
