// BERT (Devlin et al. 2018, arXiv:1810.04805), its pooler left out. `model_type` "bert" with ALiBi instead of positions
// is JinaBERT.
#include <string>

#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {

Result<Architecture> read_bert(const huggingface::JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto positions, config.text("position_embedding_type"));
  if (positions.value_or("absolute") == "alibi") return read_jina_bert(config);
  WEIR_RETURN_IF_ERROR(config.expect_text("position_embedding_type", "absolute"));
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, std::nullopt));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  Facts facts = sizes.facts("bert");
  facts.has_token_type_ids = types > 0;
  Encoder encoder =
      bert_encoder(facts, sizes, "bert.", bert_layers("encoder.layer.", LayerNames{}, sizes, norm_epsilon));
  encoder.embeddings = bert_embeddings(sizes, types, sizes.hidden, norm_epsilon);
  encoder.activation = function;
  encoder.text_head = pooler_head(sizes.hidden);
  encoder.word_head = WordHead{{{Linear{"/cls.predictions.transform.dense", sizes.hidden, sizes.hidden}, function,
                                 Norm{"/cls.predictions.transform.LayerNorm", sizes.hidden, norm_epsilon}}},
                               "/cls.predictions.decoder",
                               "/cls.predictions.bias"};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
