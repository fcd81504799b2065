// NomicBERT (Nussbaum et al. 2024, arXiv:2402.01613): rotary positions, a gated feed-forward part, few biases. Its
// config comes in two forms: the authors' own, named after GPT-2's, and transformers'.
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

struct Biases {
  bool attention = false;
  bool up = false;
  bool down = false;
};

Result<bool> flag(const JsonObject& config, const char* key, bool otherwise) {
  WEIR_ASSIGN_OR_RETURN(const auto value, config.boolean(key));
  return value.value_or(otherwise);
}

/// What the authors' code can do and no published model has.
Status check_form(const JsonObject& config) {
  for (const char* key : {"prenorm", "use_rms_norm", "parallel_block", "rotary_emb_interleaved", "causal"}) {
    WEIR_RETURN_IF_ERROR(expect_boolean(config, key, false));
  }
  for (const char* key : {"num_experts", "moe_every_n_layers"}) {
    WEIR_ASSIGN_OR_RETURN(const auto count, config.number(key));
    if (count.value_or(0) > 0) {
      return config.error(key, "mixtures of experts are not supported", ErrorKind::kUnsupported);
    }
  }
  WEIR_ASSIGN_OR_RETURN(const auto fraction, config.number("rotary_emb_fraction"));
  if (fraction.value_or(1) != 1) {
    return config.error("rotary_emb_fraction", "is not 1: partly rotary positions are not supported",
                        ErrorKind::kUnsupported);
  }
  if (config.has("rotary_emb_scale_base")) {
    return config.error("rotary_emb_scale_base", "scaled rotary positions are not supported", ErrorKind::kUnsupported);
  }
  return {};
}

Result<Activation> gate_activation(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto name, config.text("activation_function"));
  if (!name) return activation(config, {"hidden_act"});
  if (*name == "swiglu") return Activation::kSilu;
  if (*name == "geglu") return Activation::kGelu;
  return config.error("activation_function", "'" + *name + "' is not supported; weir has swiglu and geglu",
                      ErrorKind::kUnsupported);
}

/// With a scaling factor the frequencies of a text longer than the training's hang on the length of its batch.
Status limit_positions(const JsonObject& config, Facts& facts) {
  WEIR_ASSIGN_OR_RETURN(const auto factor, config.number("rotary_scaling_factor"));
  if (!factor) return {};
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t trained, positive(config, {"max_trained_positions"}, kMaxSize));
  facts.max_positions = std::min(facts.max_positions, trained);
  return {};
}

Layer nomic_layer(const std::string& name, const Sizes& sizes, const Biases& biases, float norm_epsilon) {
  const std::uint64_t hidden = sizes.hidden;
  const auto part = [&](std::uint64_t index) {
    return Linear{name + "attn.Wqkv", hidden, hidden, biases.attention, index * hidden, 3 * hidden};
  };
  Layer layer;
  layer.attention.query = part(0);
  layer.attention.key = part(1);
  layer.attention.value = part(2);
  layer.attention.output = Linear{name + "attn.out_proj", hidden, hidden, biases.attention};
  layer.attention.rotary = 0;
  layer.attention_norm = Norm{name + "norm1", hidden, norm_epsilon};
  layer.feed_forward.up = Linear{name + "mlp.fc11", hidden, sizes.intermediate, biases.up};
  layer.feed_forward.gate = Linear{name + "mlp.fc12", hidden, sizes.intermediate, biases.up};
  layer.feed_forward.down = Linear{name + "mlp.fc2", sizes.intermediate, hidden, biases.down};
  layer.feed_forward_norm = Norm{name + "norm2", hidden, norm_epsilon};
  return layer;
}

}  // namespace

Result<Architecture> read_nomic_bert(const JsonObject& config) {
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_RETURN_IF_ERROR(check_form(config));
  const SizeFields fields{{"hidden_size", "n_embd"},
                          {"num_hidden_layers", "n_layer"},
                          {"num_attention_heads", "n_head"},
                          {"intermediate_size", "n_inner"},
                          {"max_position_embeddings", "n_positions"}};
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, fields));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, 0));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps", "layer_norm_epsilon"}));
  WEIR_ASSIGN_OR_RETURN(const RotaryConfig rotary, read_rotary(config, "rotary_emb_base", 1000, RotaryScaling::kNone));
  WEIR_ASSIGN_OR_RETURN(const Activation function, gate_activation(config));
  Biases biases;
  WEIR_ASSIGN_OR_RETURN(biases.attention, flag(config, "qkv_proj_bias", false));
  WEIR_ASSIGN_OR_RETURN(biases.up, flag(config, "mlp_fc1_bias", false));
  WEIR_ASSIGN_OR_RETURN(biases.down, flag(config, "mlp_fc2_bias", false));
  Facts facts = sizes.facts("nomic_bert");
  facts.has_token_type_ids = types > 1;
  WEIR_RETURN_IF_ERROR(limit_positions(config, facts));
  std::vector<Layer> layers;
  for (std::uint32_t i = 0; i < sizes.layers; ++i) {
    layers.push_back(nomic_layer("encoder.layers." + std::to_string(i) + ".", sizes, biases, norm_epsilon));
  }
  Encoder encoder = bert_encoder(facts, sizes, "bert.", std::move(layers));
  encoder.prefixes.emplace_back("nomic_bert.");
  encoder.parts.emplace_back("emb_ln.");
  encoder.embeddings = bert_embeddings(sizes, types, sizes.hidden, norm_epsilon);
  encoder.embeddings.positions.reset();
  encoder.embeddings.norm->name = "emb_ln";
  encoder.activation = function;
  encoder.text_head = pooler_head(sizes.hidden);
  encoder.rotary_frequencies = {rotary_frequencies(sizes.head_size(), rotary.theta, rotary.stretch)};
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
