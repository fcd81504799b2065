// RoBERTa (Liu et al. 2019, arXiv:1907.11692), XLM-RoBERTa and CamemBERT: BERT whose positions are counted from
// pad_token_id + 1 over the tokens that are not padding. Their tokenizers
// give no token types: all tokens have the first.
#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {

Result<Architecture> read_roberta(const huggingface::JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto model_type, config.text("model_type"));
  WEIR_RETURN_IF_ERROR(config.expect_text("position_embedding_type", "absolute"));
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}, 1));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, 1));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  Facts facts = sizes.facts(*model_type);
  const std::uint32_t first = sizes.pad_token_id + 1;
  if (sizes.positions <= first) {
    return config.error("max_position_embeddings", std::to_string(sizes.positions) +
                                                       " leaves no position after pad_token_id (" +
                                                       std::to_string(sizes.pad_token_id) + ")");
  }
  facts.max_positions = sizes.positions - first;
  facts.has_token_type_ids = false;
  Encoder encoder =
      bert_encoder(facts, sizes, "roberta.", bert_layers("encoder.layer.", LayerNames{}, sizes, norm_epsilon));
  encoder.embeddings = bert_embeddings(sizes, types, sizes.hidden, norm_epsilon);
  encoder.embeddings.first_position = first;
  encoder.embeddings.skip_padding_tokens = true;
  encoder.activation = function;
  encoder.text_head = dense_head("/classifier.dense", sizes.hidden, Activation::kTanh, "/classifier.out_proj");
  encoder.word_head = WordHead{{{Linear{"/lm_head.dense", sizes.hidden, sizes.hidden}, Activation::kGelu,
                                 Norm{"/lm_head.layer_norm", sizes.hidden, norm_epsilon}}},
                               "/lm_head.decoder",
                               "/lm_head.bias"};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
