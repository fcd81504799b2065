// What a model folder in the Hugging Face and sentence-transformers layout says about how to use the model: pooling,
// normalization, longest text, prompts. All of it means what sentence-transformers makes of it, and nothing is guessed:
// where a file is missing, the error names it and the flag to give instead.
//
//   modules.json                       which parts (modules.h); others are refused by name
//   config.json, tokenizer.json, …     in the Transformer's folder, which is usually the model's own
//   sentence_bert_config.json          max_seq_length; else tokenizer_config.json's model_max_length, at most
//                                      config.json's max_position_embeddings
//   1_Pooling/config.json              one of mean, cls, max, lasttoken
//   config_sentence_transformers.json  prompts, default_prompt_name
//
// Of a ColBERT model it says what late_interaction.h has, too, and reads no pooling.
//
// Values; no threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "huggingface/json_object.h"
#include "huggingface/late_interaction.h"

namespace weir::huggingface {

/// What the user said on the command line; it takes the place of what a file says.
struct Overrides {
  std::optional<bundle::Pooling> pooling;
  std::optional<bool> normalize;
  std::optional<std::uint32_t> max_tokens;
  std::optional<bundle::Task> task;
};

struct Layout {
  std::string transformer_path;  ///< Where config.json, the weights and tokenizer.json lie; empty: the folder itself.
  bundle::Pooling pooling = bundle::Pooling::kMean;
  bool normalize = true;
  std::uint32_t max_tokens = 0;
  std::map<std::string, std::string> prompts;
  std::optional<std::string> default_prompt;
  std::optional<std::uint32_t> pooling_dimensions;  ///< As the Pooling module states it.
  bool has_pooling = false;                         ///< modules.json has a Pooling.
  bool pools_words = false;                         ///< Its pooling is SPLADE's: a weight per word.
  std::vector<std::string> dense_paths;             ///< Folders of modules.json's Dense, in their order.
  std::optional<LateInteraction> late_interaction;  ///< Of ColBERT models; Dense then works on tokens.
  std::vector<std::string> files;                   ///< Paths of those that were read.
};

struct LayoutRequest {
  std::vector<std::string> folders;  ///< A file is taken from the first that has it.
  Overrides overrides;
  bool needs_pooling = true;  ///< False when the graph has pooled already, or gives scores.
};

/// kNotFound: a file is missing and no flag takes its place; kCorrupt; kUnsupported: a module, a pooling mode or a
/// setting that weir does not implement, by name; kInvalidArgument: an override that the model cannot meet.
Result<Layout> read_layout(const LayoutRequest& request);

/// The first `folder/name` that exists.
std::optional<std::string> find_file(const std::vector<std::string>& folders, const std::string& name);

}  // namespace weir::huggingface
