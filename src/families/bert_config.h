// What a config.json of `model_type` "bert" says, checked.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "families/activation.h"
#include "families/family.h"
#include "families/weights.h"
#include "huggingface/json_object.h"

namespace weir::families {

struct BertConfig {
  Facts facts;
  std::uint32_t heads = 0;
  std::uint32_t intermediate_size = 0;
  std::uint32_t token_types = 0;
  float layer_norm_epsilon = 0;
  Activation activation = Activation::kGelu;
};

/// The names of a checkpoint's tensors begin with this: "", or "bert." where a head stands on the encoder.
std::string bert_prefix(const Weights& weights);

/// Once all is taken: heads on top of the encoder are no concern of ours; a piece of encoder that the config does not
/// have is. kCorrupt.
Status check_bert_left_over(const Weights& weights, const std::string& prefix);

/// kUnsupported names what weir does not have, kCorrupt what is missing or contradicts itself.
Result<BertConfig> read_bert_config(const huggingface::JsonObject& config);

}  // namespace weir::families
