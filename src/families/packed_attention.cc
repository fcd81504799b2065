#include "families/packed_attention.h"

#include <cmath>
#include <cstdint>

#include "families/family.h"
#include "families/positions.h"

namespace weir::families {

PackedRows PackedAttention::add(const Attention& attention, const PackedRows& input, const std::string& name) {
  const std::uint32_t head_size = encoder_.facts.hidden_size / encoder_.heads;
  // DeBERTa's scores are sums of as many products.
  const int products = 1 + (attention.position_key ? 1 : 0) + (attention.position_query ? 1 : 0);
  PackedOperators::Attention node;
  node.query_key_value = query_key_value(attention, input, name);
  node.offsets = kOffsets;
  if (has_keys_) node.keys = kKeys;
  node.heads = encoder_.heads;
  node.head_size = head_size;
  node.scale = 1.0f / std::sqrt(static_cast<float>(head_size) * static_cast<float>(products));
  if (encoder_.relative_bias) {
    const std::int64_t columns = 2 * std::int64_t{encoder_.relative_bias->max_distance} + 1;
    node.relative_bias =
        model_.weight("relative_bias", {std::int64_t{encoder_.heads}, columns}, model_.relative_bias());
  }
  if (!encoder_.alibi_slopes.empty()) {
    node.alibi_slopes = model_.weight("alibi.slopes", {std::int64_t{encoder_.heads}}, encoder_.alibi_slopes);
  }
  if (attention.rotary) add_rotary(*attention.rotary, node);
  if (attention.window > 0) {
    node.window = model_.integers("window." + std::to_string(attention.window), {std::int64_t{attention.window}});
  }
  if (products > 1) node.position_buckets = disentangled_.buckets();
  if (attention.position_key) {
    node.position_keys = disentangled_.positions(*attention.position_key, name + ".position_keys");
  }
  if (attention.position_query) {
    node.position_queries = disentangled_.positions(*attention.position_query, name + ".position_queries");
  }
  return operators_.attention(name, node);
}

/// One layer gives all three, unless something is done to one of them.
std::string PackedAttention::query_key_value(const Attention& attention, const PackedRows& input,
                                             const std::string& name) {
  const std::string together = name + ".query_key_value";
  if (!attention.query_norm && !attention.key_norm) {
    const std::string weights = parameters_.linear(name, {&attention.query, &attention.key, &attention.value});
    return operators_.attention_inputs(together, input, weights);
  }
  const std::string query = normalized(attention.query, attention.query_norm, input, name + ".query");
  const std::string key = normalized(attention.key, attention.key_norm, input, name + ".key");
  const std::string value = normalized(attention.value, std::nullopt, input, name + ".value");
  return model_.graph().node("Concat", {query, key, value}, together, {{"axis", std::int64_t{1}}});
}

std::string PackedAttention::normalized(const Linear& linear, const std::optional<Norm>& norm, const PackedRows& input,
                                        const std::string& name) {
  std::string values = operators_.linear(name, input, parameters_.linear(name, {&linear}));
  if (!norm) return values;
  return operators_.layer_norm(name + ".normalized", {values, {}, parameters_.norm(*norm), PackedWanted::kValues})
      .values;
}

void PackedAttention::add_rotary(std::size_t index, PackedOperators::Attention& node) {
  const std::string name = "rotary." + std::to_string(index);
  node.rotary_cos = name + ".cos";
  node.rotary_sin = name + ".sin";
  if (!rotary_.insert(index).second) return;
  const std::uint32_t positions = encoder_.facts.max_positions;
  const std::vector<float>& frequencies = encoder_.rotary_frequencies[index];
  const RotaryTables tables = rotary_tables(frequencies, positions);
  const std::vector<std::int64_t> shape = {std::int64_t{positions}, static_cast<std::int64_t>(frequencies.size())};
  model_.weight(node.rotary_cos, shape, tables.cosines);
  model_.weight(node.rotary_sin, shape, tables.sines);
}

}  // namespace weir::families
