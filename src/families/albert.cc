// ALBERT (Lan et al. 2019, arXiv:1909.11942): a group of layers computed again and again with the same weights, and
// tables narrower than the layers. The graph repeats the nodes; the weights are there once.
#include <string>

#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {
namespace {

struct Groups {
  std::uint32_t groups = 1;
  std::uint32_t layers_in_group = 1;
};

/// Layers 0 .. layers - 1 take the groups in equal parts, each of them all of its group's inner layers.
std::vector<Layer> repeated_layers(const Sizes& sizes, const Groups& shape, float norm_epsilon) {
  const LayerNames names{"attention.query",     "attention.key", "attention.value", "attention.dense",
                         "attention.LayerNorm", "ffn",           "ffn_output",      "full_layer_layer_norm"};
  std::vector<Layer> layers;
  for (std::uint32_t i = 0; i < sizes.layers; ++i) {
    const std::uint64_t group = std::uint64_t{i} * shape.groups / sizes.layers;
    for (std::uint32_t inner = 0; inner < shape.layers_in_group; ++inner) {
      const std::string name =
          "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." + std::to_string(inner) + ".";
      layers.push_back(bert_layer(name, names, sizes, norm_epsilon));
    }
  }
  return layers;
}

}  // namespace

Result<Architecture> read_albert(const huggingface::JsonObject& config) {
  constexpr const char* kProjection = "encoder.embedding_hidden_mapping_in";
  WEIR_RETURN_IF_ERROR(config.expect_text("position_embedding_type", "absolute"));
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, std::nullopt));
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t columns, positive(config, {"embedding_size"}, kMaxSize));
  Groups shape;
  WEIR_ASSIGN_OR_RETURN(shape.groups, positive(config, {"num_hidden_groups"}, kMaxLayers));
  WEIR_ASSIGN_OR_RETURN(shape.layers_in_group, positive(config, {"inner_group_num"}, kMaxLayers));
  if (shape.groups > sizes.layers) return config.error("num_hidden_groups", "is more than num_hidden_layers");
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  Facts facts = sizes.facts("albert");
  facts.has_token_type_ids = types > 0;
  Encoder encoder = bert_encoder(facts, sizes, "albert.", repeated_layers(sizes, shape, norm_epsilon));
  encoder.embeddings = bert_embeddings(sizes, types, columns, norm_epsilon);
  encoder.embeddings.projection = Linear{kProjection, columns, sizes.hidden};
  encoder.activation = function;
  encoder.text_head = dense_head("pooler", sizes.hidden, Activation::kTanh, "/classifier");
  return Architecture(facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
