// DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT with names of its own, without token types. The epsilon of its
// norms is in no config.
#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {

Result<Architecture> read_distilbert(const huggingface::JsonObject& config) {
  constexpr float kEpsilon = 1e-12f;
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  const SizeFields fields{{"dim"}, {"n_layers"}, {"n_heads"}, {"hidden_dim"}, {"max_position_embeddings"}};
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, fields));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"activation"}));
  const LayerNames names{"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                         "sa_layer_norm",   "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};
  Facts facts = sizes.facts("distilbert");
  facts.has_token_type_ids = false;
  Encoder encoder =
      bert_encoder(facts, sizes, "distilbert.", bert_layers("transformer.layer.", names, sizes, kEpsilon));
  encoder.parts = {"embeddings.", "transformer."};
  encoder.embeddings = bert_embeddings(sizes, 0, sizes.hidden, kEpsilon);
  encoder.activation = function;
  encoder.text_head = dense_head("/pre_classifier", sizes.hidden, Activation::kRelu, "/classifier");
  encoder.word_head = WordHead{{{Linear{"/vocab_transform", sizes.hidden, sizes.hidden}, function,
                                 Norm{"/vocab_layer_norm", sizes.hidden, kEpsilon}}},
                               "/vocab_projector",
                               "/vocab_projector.bias"};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
