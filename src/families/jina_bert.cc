// JinaBERT v2 (Günther et al. 2023, arXiv:2310.19923): BERT with ALiBi instead of positions and a gated feed-forward
// part. Two forms are published under one kind of config: that of the text models, and one whose queries and keys are
// normalized ("qk-post-norm", the code model's); the tensors' names tell.
#include <string>

#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"
#include "families/positions.h"

namespace weir::families {
namespace {

/// The gate is the first half of the stored channels, or the second.
FeedForward gated(const std::string& name, const std::string& down, const Sizes& sizes, bool gate_first) {
  const std::uint64_t half = sizes.intermediate;
  const Linear first{name, sizes.hidden, half, false, 0, 2 * half};
  const Linear second{name, sizes.hidden, half, false, half, 2 * half};
  return {gate_first ? first : second, gate_first ? second : first, Linear{down, half, sizes.hidden}};
}

void use_text_form(Encoder& encoder, const Sizes& sizes, float norm_epsilon, bool is_gated) {
  for (std::size_t i = 0; i < encoder.layers.size() && is_gated; ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".mlp.";
    encoder.layers[i].feed_forward = gated(name + "gated_layers", name + "wo", sizes, true);
    encoder.layers[i].feed_forward_norm = Norm{name + "layernorm", sizes.hidden, norm_epsilon};
  }
}

void use_post_norm_form(Encoder& encoder, const Sizes& sizes, float norm_epsilon, bool is_gated) {
  for (std::size_t i = 0; i < encoder.layers.size(); ++i) {
    Layer& layer = encoder.layers[i];
    const std::string name = "encoder.layer." + std::to_string(i) + ".";
    const auto norm = [&](const std::string& part) { return Norm{name + part, sizes.hidden, norm_epsilon}; };
    layer.attention.query_norm = norm("attention.self.layer_norm_q");
    layer.attention.key_norm = norm("attention.self.layer_norm_k");
    layer.attention_inner_norm = layer.attention_norm;
    layer.attention_norm = norm("layer_norm_1");
    layer.feed_forward_norm = norm("layer_norm_2");
    layer.feed_forward = gated(name + "mlp.up_gated_layer", name + "mlp.down_layer", sizes, false);
    if (is_gated) continue;
    layer.feed_forward.gate.reset();
    layer.feed_forward.up = Linear{name + "mlp.up_layer", sizes.hidden, sizes.intermediate, false};
  }
}

}  // namespace

Result<Architecture> read_jina_bert(const huggingface::JsonObject& config) {
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, std::nullopt));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(Activation function, activation(config, {"hidden_act"}));
  WEIR_ASSIGN_OR_RETURN(const auto kind, config.text("feed_forward_type"));
  const std::string part = kind.value_or("original");
  if (part == "geglu") function = Activation::kGelu;
  if (part == "reglu") function = Activation::kRelu;
  const bool is_gated = part == "geglu" || part == "reglu";
  if (!is_gated && part != "original") {
    return config.error("feed_forward_type", "'" + part + "' is not supported; weir has original, geglu and reglu",
                        ErrorKind::kUnsupported);
  }
  Facts facts = sizes.facts("jina-bert");
  facts.has_token_type_ids = types > 0;
  Encoder encoder =
      bert_encoder(facts, sizes, "bert.", bert_layers("encoder.layer.", LayerNames{}, sizes, norm_epsilon));
  encoder.embeddings = bert_embeddings(sizes, types, sizes.hidden, norm_epsilon);
  encoder.embeddings.positions.reset();
  encoder.activation = function;
  encoder.text_head = pooler_head(sizes.hidden);
  encoder.alibi_slopes = alibi_slopes(sizes.heads);
  return Architecture(facts, [encoder, sizes, norm_epsilon, is_gated](const Weights& weights) {
    Encoder form = encoder;
    const std::string mark = "encoder.layer.0.attention.self.layer_norm_q.weight";
    if (weights.has(mark) || weights.has("bert." + mark)) {
      use_post_norm_form(form, sizes, norm_epsilon, is_gated);
    } else {
      use_text_form(form, sizes, norm_epsilon, is_gated);
    }
    return form;
  });
}

}  // namespace weir::families
