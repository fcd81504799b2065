// ModernBERT (Warner et al. 2024, arXiv:2412.13663): normalization before each part, rotary positions, a gated
// feed-forward part, and attention to all tokens in every third layer only, else to a window around each token.
#include <optional>
#include <string>

#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"
#include "families/positions.h"
#include "families/rotary_config.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;

struct Form {
  float epsilon = 0;
  bool norm_bias = false;
  bool attention_bias = false;
  bool feed_forward_bias = false;
  std::uint32_t window = 0;         ///< Of the layers that have one: tokens to each side.
  std::vector<bool> sees_all = {};  ///< Per layer.
  double global_theta = 0;
  double local_theta = 0;
};

Status read_layer_types(const JsonObject& config, const Sizes& sizes, Form& form) {
  WEIR_ASSIGN_OR_RETURN(const auto types, config.texts("layer_types"));
  if (!types) {
    WEIR_ASSIGN_OR_RETURN(const auto every, config.count("global_attn_every_n_layers", kMaxLayers));
    if (every && *every == 0) return config.error("global_attn_every_n_layers", "must not be 0");
    for (std::uint32_t i = 0; i < sizes.layers; ++i) form.sees_all.push_back(i % every.value_or(3) == 0);
    return {};
  }
  if (types->size() != sizes.layers) return config.error("layer_types", "must name num_hidden_layers kinds");
  for (const std::string& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      return config.error("layer_types",
                          "'" + type +
                              "' is not supported; weir has full_attention and "
                              "sliding_attention",
                          ErrorKind::kUnsupported);
    }
    form.sees_all.push_back(type == "full_attention");
  }
  return {};
}

Status read_thetas(const JsonObject& config, Form& form) {
  WEIR_RETURN_IF_ERROR(refuse_rotary_scaling(config));
  WEIR_ASSIGN_OR_RETURN(form.global_theta, read_theta(config, "global_rope_theta", 160000));
  WEIR_ASSIGN_OR_RETURN(form.local_theta, read_theta(config, "local_rope_theta", 10000));
  WEIR_ASSIGN_OR_RETURN(const auto parameters, config.object("rope_parameters"));
  if (!parameters) return {};
  for (const char* key : {"rope_theta", "rope_type", "type", "factor", "partial_rotary_factor"}) {
    if (!parameters->has(key)) continue;
    return parameters->error(key, "is not supported here, but in full_attention and sliding_attention",
                             ErrorKind::kUnsupported);
  }
  WEIR_ASSIGN_OR_RETURN(const auto global, parameters->object("full_attention"));
  WEIR_ASSIGN_OR_RETURN(const auto local, parameters->object("sliding_attention"));
  if (global) {
    WEIR_ASSIGN_OR_RETURN(form.global_theta, layer_theta(*global, form.global_theta));
  }
  if (local) {
    WEIR_ASSIGN_OR_RETURN(form.local_theta, layer_theta(*local, form.local_theta));
  }
  return {};
}

Result<Form> read_form(const JsonObject& config, const Sizes& sizes) {
  Form form;
  WEIR_ASSIGN_OR_RETURN(form.epsilon, epsilon(config, {"norm_eps"}, 1e-5f));
  WEIR_ASSIGN_OR_RETURN(const auto norm_bias, config.boolean("norm_bias"));
  WEIR_ASSIGN_OR_RETURN(const auto attention_bias, config.boolean("attention_bias"));
  WEIR_ASSIGN_OR_RETURN(const auto feed_forward_bias, config.boolean("mlp_bias"));
  WEIR_ASSIGN_OR_RETURN(const auto window, config.count("local_attention", kMaxSize));
  form.norm_bias = norm_bias.value_or(false);
  form.attention_bias = attention_bias.value_or(false);
  form.feed_forward_bias = feed_forward_bias.value_or(false);
  form.window = window.value_or(128) / 2;
  if (form.window == 0) return config.error("local_attention", "must be at least 2");
  WEIR_RETURN_IF_ERROR(read_layer_types(config, sizes, form));
  WEIR_RETURN_IF_ERROR(read_thetas(config, form));
  return form;
}

Layer modernbert_layer(std::uint32_t index, const Sizes& sizes, const Form& form) {
  const std::string name = "layers." + std::to_string(index) + ".";
  const std::uint64_t hidden = sizes.hidden;
  const std::uint64_t wide = sizes.intermediate;
  const auto part = [&](std::uint64_t at) {
    return Linear{name + "attn.Wqkv", hidden, hidden, form.attention_bias, at * hidden, 3 * hidden};
  };
  Layer layer;
  // The embeddings are normalized already.
  if (index > 0) layer.attention_norm = Norm{name + "attn_norm", hidden, form.epsilon, form.norm_bias};
  layer.attention.query = part(0);
  layer.attention.key = part(1);
  layer.attention.value = part(2);
  layer.attention.output = Linear{name + "attn.Wo", hidden, hidden, form.attention_bias};
  layer.attention.rotary = form.sees_all[index] ? 0 : 1;
  layer.attention.window = form.sees_all[index] ? 0 : form.window;
  layer.feed_forward_norm = Norm{name + "mlp_norm", hidden, form.epsilon, form.norm_bias};
  layer.feed_forward.gate = Linear{name + "mlp.Wi", hidden, wide, form.feed_forward_bias, 0, 2 * wide};
  layer.feed_forward.up = Linear{name + "mlp.Wi", hidden, wide, form.feed_forward_bias, wide, 2 * wide};
  layer.feed_forward.down = Linear{name + "mlp.Wo", wide, hidden, form.feed_forward_bias};
  return layer;
}

/// One dense layer with a norm, under each of its heads.
Status add_heads(const JsonObject& config, const Sizes& sizes, const Form& form, Encoder& encoder) {
  WEIR_ASSIGN_OR_RETURN(const auto bias, config.boolean("classifier_bias"));
  WEIR_ASSIGN_OR_RETURN(const auto decoder_bias, config.boolean("decoder_bias"));
  WEIR_ASSIGN_OR_RETURN(const auto pooling, config.text("classifier_pooling"));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"classifier_activation"}, Activation::kGelu));
  if (pooling.value_or("cls") != "cls" && *pooling != "mean") {
    return config.error("classifier_pooling", "'" + *pooling + "' is not supported; weir has cls and mean",
                        ErrorKind::kUnsupported);
  }
  const HeadStep step{Linear{"/head.dense", sizes.hidden, sizes.hidden, bias.value_or(false)}, function,
                      Norm{"/head.norm", sizes.hidden, form.epsilon, form.norm_bias}};
  encoder.text_head = {{step}, "/classifier", true, pooling.value_or("cls") == "mean"};
  encoder.token_head = {{step}, "/classifier"};
  encoder.word_head = WordHead{{step}, "/decoder", decoder_bias.value_or(true) ? "/decoder.bias" : ""};
  return {};
}

}  // namespace

Result<Architecture> read_modernbert(const JsonObject& config) {
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const Form form, read_form(config, sizes));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_activation"}, Activation::kGelu));
  Facts facts = sizes.facts("modernbert");
  facts.has_token_type_ids = false;
  std::vector<Layer> layers;
  for (std::uint32_t i = 0; i < sizes.layers; ++i) layers.push_back(modernbert_layer(i, sizes, form));
  Encoder encoder = bert_encoder(facts, sizes, "model.", std::move(layers));
  encoder.parts = {"embeddings.", "layers.", "final_norm."};
  encoder.embeddings.words = {"embeddings.tok_embeddings", sizes.vocabulary, sizes.hidden};
  encoder.embeddings.norm = Norm{"embeddings.norm", sizes.hidden, form.epsilon, form.norm_bias};
  encoder.final_norm = Norm{"final_norm", sizes.hidden, form.epsilon, form.norm_bias};
  encoder.norm_first = true;
  encoder.activation = function;
  WEIR_RETURN_IF_ERROR(add_heads(config, sizes, form, encoder));
  encoder.rotary_frequencies = {rotary_frequencies(sizes.head_size(), form.global_theta),
                                rotary_frequencies(sizes.head_size(), form.local_theta)};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
