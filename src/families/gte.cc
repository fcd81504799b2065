// GTE's encoder of 2024 (Zhang et al. 2024, arXiv:2407.19669), `model_type` "new" in the authors' form and "gte" in
// transformers': rotary positions, a gated feed-forward part.
#include <string>

#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"
#include "families/positions.h"
#include "families/rotary_config.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;

/// What the authors' code can do and no published model has.
Status check_form(const JsonObject& config) {
  WEIR_RETURN_IF_ERROR(config.expect_text("position_embedding_type", "rope"));
  WEIR_RETURN_IF_ERROR(config.expect_text("layer_norm_type", "layer_norm"));
  WEIR_RETURN_IF_ERROR(expect_boolean(config, "pack_qkv", true));
  WEIR_RETURN_IF_ERROR(expect_boolean(config, "logn_attention_scale", false));
  return expect_boolean(config, "logn_attention_clip1", false);
}

Layer gte_layer(const std::string& name, const Sizes& sizes, float norm_epsilon) {
  const std::uint64_t hidden = sizes.hidden;
  const std::uint64_t wide = sizes.intermediate;
  const auto part = [&](std::uint64_t index) {
    return Linear{name + "attention.qkv_proj", hidden, hidden, true, index * hidden, 3 * hidden};
  };
  Layer layer;
  layer.attention.query = part(0);
  layer.attention.key = part(1);
  layer.attention.value = part(2);
  layer.attention.output = Linear{name + "attention.o_proj", hidden, hidden};
  layer.attention.rotary = 0;
  layer.attention_norm = Norm{name + "attn_ln", hidden, norm_epsilon};
  layer.feed_forward.up = Linear{name + "mlp.up_gate_proj", hidden, wide, false, 0, 2 * wide};
  layer.feed_forward.gate = Linear{name + "mlp.up_gate_proj", hidden, wide, false, wide, 2 * wide};
  layer.feed_forward.down = Linear{name + "mlp.down_proj", wide, hidden};
  layer.feed_forward_norm = Norm{name + "mlp_ln", hidden, norm_epsilon};
  return layer;
}

}  // namespace

Result<Architecture> read_gte(const JsonObject& config) {
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_RETURN_IF_ERROR(check_form(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, 0));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const RotaryConfig rotary, read_rotary(config, "rope_theta", 10000, RotaryScaling::kNtk));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  Facts facts = sizes.facts("gte");
  facts.has_token_type_ids = types > 1;
  std::vector<Layer> layers;
  for (std::uint32_t i = 0; i < sizes.layers; ++i) {
    layers.push_back(gte_layer("encoder.layer." + std::to_string(i) + ".", sizes, norm_epsilon));
  }
  Encoder encoder = bert_encoder(facts, sizes, "new.", std::move(layers));
  encoder.prefixes.emplace_back("gte.");
  encoder.ignored.emplace_back("rotary_emb.inv_freq");
  encoder.ignored.emplace_back("embeddings.rotary_emb.inv_freq");
  encoder.embeddings = bert_embeddings(sizes, types, sizes.hidden, norm_epsilon);
  encoder.embeddings.positions.reset();
  encoder.activation = function;
  encoder.text_head = pooler_head(sizes.hidden);
  encoder.rotary_frequencies = {rotary_frequencies(sizes.head_size(), rotary.theta, rotary.stretch)};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
