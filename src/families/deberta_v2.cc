// DeBERTa-v2 and v3 (He et al. 2020, arXiv:2006.03654; 2021, arXiv:2111.09543): attention by content and by bucketed
// relative position, optionally a convolution after the first layer. As transformers' DebertaV2Model computes it.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "families/bert_layers.h"
#include "families/config.h"
#include "families/families.h"

namespace weir::families {
namespace {

using huggingface::JsonObject;

struct PositionKinds {
  bool content_to_position = false;
  bool position_to_content = false;
};

/// A list, or one string with '|' between.
Result<PositionKinds> position_kinds(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto list, config.texts("pos_att_type"));
  PositionKinds kinds;
  for (const std::string& entry : list.value_or(std::vector<std::string>())) {
    for (std::size_t begin = 0; begin <= entry.size();) {
      const std::size_t end = std::min(entry.find('|', begin), entry.size());
      const std::string kind = entry.substr(begin, end - begin);
      begin = end + 1;
      if (kind == "c2p") {
        kinds.content_to_position = true;
      } else if (kind == "p2c") {
        kinds.position_to_content = true;
      } else if (!kind.empty()) {
        return config.error("pos_att_type", "'" + kind + "' is not supported; weir has c2p and p2c",
                            ErrorKind::kUnsupported);
      }
    }
  }
  return kinds;
}

/// 0 where the field says -1, which means "not set".
Result<std::uint32_t> optional_size(const JsonObject& config, const char* key) {
  WEIR_ASSIGN_OR_RETURN(const auto number, config.number(key));
  if (!number || *number < 1) return 0u;
  return positive(config, {key}, kMaxSize);
}

Result<Disentangled> read_disentangled(const JsonObject& config, const Sizes& sizes, float norm_epsilon) {
  Disentangled positions;
  WEIR_ASSIGN_OR_RETURN(positions.buckets, optional_size(config, "position_buckets"));
  WEIR_ASSIGN_OR_RETURN(positions.max_distance, optional_size(config, "max_relative_positions"));
  if (positions.max_distance == 0) positions.max_distance = sizes.positions;
  positions.span = positions.buckets > 0 ? positions.buckets : positions.max_distance;
  if (positions.buckets == 1 || (positions.buckets > 0 && positions.max_distance <= positions.buckets / 2 + 1)) {
    return config.error("position_buckets", std::to_string(positions.buckets) +
                                                " does not fit max_relative_positions (" +
                                                std::to_string(positions.max_distance) + ")");
  }
  positions.positions = {"encoder.rel_embeddings", std::uint64_t{2} * positions.span, sizes.hidden};
  WEIR_ASSIGN_OR_RETURN(const auto norm, config.text("norm_rel_ebd"));
  if (norm.value_or("none").find("layer_norm") != std::string::npos) {
    positions.norm = Norm{"encoder.LayerNorm", sizes.hidden, norm_epsilon};
  }
  return positions;
}

Status add_disentangled(const JsonObject& config, const Sizes& sizes, float norm_epsilon, Encoder& encoder) {
  WEIR_ASSIGN_OR_RETURN(const PositionKinds kinds, position_kinds(config));
  WEIR_ASSIGN_OR_RETURN(const auto relative, config.boolean("relative_attention"));
  if (!relative.value_or(false)) {
    if (!kinds.content_to_position && !kinds.position_to_content) return {};
    return config.error("relative_attention", "false with pos_att_type is not supported", ErrorKind::kUnsupported);
  }
  WEIR_ASSIGN_OR_RETURN(encoder.disentangled, read_disentangled(config, sizes, norm_epsilon));
  WEIR_ASSIGN_OR_RETURN(const auto shared, config.boolean("share_att_key"));
  for (std::size_t i = 0; i < encoder.layers.size(); ++i) {
    Attention& attention = encoder.layers[i].attention;
    const std::string name = "encoder.layer." + std::to_string(i) + ".attention.self.";
    const Linear key{name + "pos_key_proj", sizes.hidden, sizes.hidden};
    const Linear query{name + "pos_query_proj", sizes.hidden, sizes.hidden};
    if (kinds.content_to_position) attention.position_key = shared.value_or(false) ? attention.key : key;
    if (kinds.position_to_content) attention.position_query = shared.value_or(false) ? attention.query : query;
  }
  return {};
}

Status add_convolution(const JsonObject& config, const Sizes& sizes, float norm_epsilon, Encoder& encoder) {
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t width, optional_size(config, "conv_kernel_size"));
  if (width == 0) return {};
  Convolution convolution;
  convolution.name = "encoder.conv.conv";
  convolution.norm = Norm{"encoder.conv.LayerNorm", sizes.hidden, norm_epsilon};
  convolution.width = width;
  WEIR_ASSIGN_OR_RETURN(convolution.groups, optional_size(config, "conv_groups"));
  convolution.groups = std::max(convolution.groups, 1u);
  if (width % 2 == 0) {
    return config.error("conv_kernel_size", "an even width is not supported", ErrorKind::kUnsupported);
  }
  if (sizes.hidden % convolution.groups != 0) return config.error("conv_groups", "does not divide hidden_size");
  WEIR_ASSIGN_OR_RETURN(convolution.activation, activation(config, {"conv_act"}, Activation::kTanh));
  encoder.convolution = convolution;
  return {};
}

Status add_embeddings(const JsonObject& config, const Sizes& sizes, float norm_epsilon, Encoder& encoder) {
  WEIR_ASSIGN_OR_RETURN(const std::uint32_t types, token_types(config, 0));
  WEIR_ASSIGN_OR_RETURN(const auto columns, config.count("embedding_size", kMaxSize));
  WEIR_ASSIGN_OR_RETURN(const auto absolute, config.boolean("position_biased_input"));
  Embeddings& embeddings = encoder.embeddings;
  embeddings = bert_embeddings(sizes, types, columns.value_or(sizes.hidden), norm_epsilon);
  encoder.facts.has_token_type_ids = types > 0;
  encoder.facts.masked_tokens_see_none = true;
  embeddings.norm->size = sizes.hidden;
  embeddings.zero_padding = true;
  if (!absolute.value_or(true)) {
    embeddings.positions.reset();
    encoder.ignored.emplace_back("embeddings.position_embeddings.weight");
  }
  if (columns && *columns != sizes.hidden) {
    embeddings.projection = Linear{"embeddings.embed_proj", *columns, sizes.hidden, false};
    embeddings.project_first = true;
  }
  return {};
}

}  // namespace

Result<Architecture> read_deberta_v2(const JsonObject& config) {
  WEIR_RETURN_IF_ERROR(check_is_encoder(config));
  WEIR_ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(config, SizeFields{}));
  WEIR_ASSIGN_OR_RETURN(const float norm_epsilon, epsilon(config, {"layer_norm_eps"}));
  WEIR_ASSIGN_OR_RETURN(const Activation function, activation(config, {"hidden_act"}));
  WEIR_ASSIGN_OR_RETURN(const auto head_size, config.count("attention_head_size", kMaxSize));
  if (head_size.value_or(sizes.head_size()) != sizes.head_size()) {
    return config.error("attention_head_size", "another size than hidden_size / num_attention_heads is not supported",
                        ErrorKind::kUnsupported);
  }
  LayerNames names;
  names.query = "attention.self.query_proj";
  names.key = "attention.self.key_proj";
  names.value = "attention.self.value_proj";
  Encoder encoder = bert_encoder(sizes.facts("deberta-v2"), sizes, "deberta.",
                                 bert_layers("encoder.layer.", names, sizes, norm_epsilon));
  encoder.activation = function;
  WEIR_ASSIGN_OR_RETURN(const Activation pooler, activation(config, {"pooler_hidden_act"}, Activation::kGelu));
  encoder.text_head = dense_head("/pooler.dense", sizes.hidden, pooler, "/classifier");
  WEIR_RETURN_IF_ERROR(add_embeddings(config, sizes, norm_epsilon, encoder));
  WEIR_RETURN_IF_ERROR(add_disentangled(config, sizes, norm_epsilon, encoder));
  WEIR_RETURN_IF_ERROR(add_convolution(config, sizes, norm_epsilon, encoder));
  return Architecture(encoder.facts, [encoder](const Weights&) { return encoder; });
}

}  // namespace weir::families
