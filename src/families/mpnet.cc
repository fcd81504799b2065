// MPNet (Song et al. 2020, arXiv:2004.09297): BERT with a bias of the scores by distance, the same in all layers, and
// positions counted as RoBERTa's, always from 2.
#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {

Result<Architecture> read_mpnet(const huggingface::JsonObject& config) {
  constexpr std::uint32_t kPadding = 1;
  constexpr std::uint32_t kMaxDistance = 128;
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(Sizes sizes, read_sizes(config, SizeFields{}, kPadding));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t buckets, positive(config, {"relative_attention_num_buckets"}, kMaxSize));
  if (sizes.pad_token_id != kPadding) {
    return config.error("pad_token_id", std::to_string(sizes.pad_token_id) + " is not supported; MPNet has 1",
                        ErrorKind::kUnsupported);
  }
  if (buckets < 4 || buckets % 4 != 0 || buckets / 4 >= kMaxDistance) {
    return config.error("relative_attention_num_buckets", std::to_string(buckets) + " is not supported; MPNet has 32",
                        ErrorKind::kUnsupported);
  }
  if (sizes.positions <= kPadding + 1) return config.error("max_position_embeddings", "leaves no position");
  const LayerNames names{"attention.attn.q",    "attention.attn.k",   "attention.attn.v", "attention.attn.o",
                         "attention.LayerNorm", "intermediate.dense", "output.dense",     "output.LayerNorm"};
  Facts facts = sizes.facts("mpnet");
  facts.max_positions = sizes.positions - kPadding - 1;
  facts.has_token_type_ids = false;
  Encoder encoder = bert_encoder(facts, sizes, "mpnet.", bert_layers("encoder.layer.", names, sizes, norm_epsilon));
  encoder.embeddings = bert_embeddings(sizes, 0, sizes.hidden, norm_epsilon);
  encoder.embeddings.first_position = kPadding + 1;
  encoder.embeddings.skip_padding_tokens = true;
  encoder.activation = function;
  encoder.text_head = dense_head("/classifier.dense", sizes.hidden, Activation::kTanh, "/classifier.out_proj");
  encoder.relative_bias = RelativeBias{{"encoder.relative_attention_bias", buckets, sizes.heads}, kMaxDistance};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
