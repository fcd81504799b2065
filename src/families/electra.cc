// ELECTRA's discriminator (Clark et al. 2020, arXiv:2003.10555): BERT whose tables may be narrower than its layers.
#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {

Result<Architecture> read_electra(const huggingface::JsonObject& config) {
  WEIR_RETURN_IF_ERROR(config.expect_text("position_embedding_type", "absolute"));
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, std::nullopt));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t columns, positive(config, {"embedding_size"}, kMaxSize));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  Facts facts = sizes.facts("electra");
  facts.has_token_type_ids = types > 0;
  Encoder encoder =
      bert_encoder(facts, sizes, "electra.", bert_layers("encoder.layer.", LayerNames{}, sizes, norm_epsilon));
  encoder.parts.push_back("embeddings_project.");
  encoder.embeddings = bert_embeddings(sizes, types, columns, norm_epsilon);
  if (columns != sizes.hidden) encoder.embeddings.projection = Linear{"embeddings_project", columns, sizes.hidden};
  encoder.activation = function;
  encoder.text_head = dense_head("/classifier.dense", sizes.hidden, Activation::kGelu, "/classifier.out_proj");
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
