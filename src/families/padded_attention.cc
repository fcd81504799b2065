#include "families/padded_attention.h"

#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "families/family.h"
#include "families/positions.h"

namespace weir::families {
namespace {

constexpr std::int64_t kFloatType = 1;  // of Cast

std::string window_mask(std::uint32_t window) { return "mask.window." + std::to_string(window); }

std::string rotary_name(std::size_t index) { return "rotary." + std::to_string(index); }

}  // namespace

PaddedAttention::PaddedAttention(const Encoder& encoder, ModelGraph& model)
    : encoder_(encoder), model_(model), graph_(model.graph()), head_size_(encoder.facts.hidden_size / encoder.heads) {
  graph_.node("Concat", {"shape", model_.integers("heads", {encoder.heads, head_size_})}, "heads_shape",
              {{"axis", std::int64_t{0}}});
  model_.integers("flat_shape", {-1, std::int64_t{encoder.facts.hidden_size}});
  const std::uint32_t parts = 1 + (encoder.disentangled ? (encoder.layers.front().attention.position_key ? 1 : 0) +
                                                              (encoder.layers.front().attention.position_query ? 1 : 0)
                                                        : 0);
  graph_.float_constant("score_divisor", std::sqrt(static_cast<float>(head_size_) * static_cast<float>(parts)));
  add_mask();
  add_distance();
  add_windows();
  add_alibi();
  add_relative_bias();
  add_disentangled();
  for (std::size_t i = 0; i < encoder.rotary_frequencies.size(); ++i) add_rotary(i);
}

/// 0 for real tokens and the lowest float for padding, added to the scores: its softmax is 0 exactly, so that a text's
/// vector does not depend on how far it was padded.
void PaddedAttention::add_mask() {
  const std::string wide = graph_.node("Unsqueeze", {"mask.float", model_.integers("mask.axes", {1, 2})}, "mask.wide");
  const std::string padding = graph_.node("Sub", {graph_.float_constant("one", 1.0f), wide}, "mask.padding");
  const std::string lowest = graph_.float_constant("lowest", std::numeric_limits<float>::lowest());
  graph_.node("Mul", {padding, lowest}, "mask");
}

/// "distance" [sequence, sequence]: query's position less key's.
void PaddedAttention::add_distance() {
  bool wanted = !encoder_.alibi_slopes.empty() || encoder_.relative_bias || encoder_.disentangled;
  for (const Layer& layer : encoder_.layers) wanted = wanted || layer.attention.window > 0;
  if (!wanted) return;
  const std::string first = model_.integers("axis.first", {0});
  const std::string count = graph_.node("Squeeze", {"length", first}, "length.scalar");
  const std::int64_t zero = 0;
  const std::int64_t one = 1;
  const std::string positions = graph_.node(
      "Range",
      {graph_.int64_constant("zero.scalar", {}, {&zero, 1}), count, graph_.int64_constant("one.scalar", {}, {&one, 1})},
      "positions");
  const std::string rows = graph_.node("Unsqueeze", {positions, model_.integers("axis.second", {1})}, "positions.rows");
  const std::string columns = graph_.node("Unsqueeze", {positions, first}, "positions.columns");
  graph_.node("Sub", {rows, columns}, "distance");
}

void PaddedAttention::add_windows() {
  std::set<std::uint32_t> done = {0};
  for (const Layer& layer : encoder_.layers) {
    const std::uint32_t window = layer.attention.window;
    if (!done.insert(window).second) continue;
    const std::string name = window_mask(window);
    const std::int64_t value = window;
    const std::string limit = graph_.int64_constant(name + ".limit", {}, {&value, 1});
    const std::string far =
        graph_.node("Greater", {graph_.node("Abs", {"distance"}, name + ".distance"), limit}, name + ".far");
    const std::string number = graph_.node("Cast", {far}, name + ".number", {{"to", kFloatType}});
    const std::string band = graph_.node("Mul", {number, "lowest"}, name + ".band");
    graph_.node("Min", {"mask", band}, name);
  }
}

void PaddedAttention::add_alibi() {
  if (encoder_.alibi_slopes.empty()) return;
  std::vector<float> negative;
  negative.reserve(encoder_.alibi_slopes.size());
  for (const float slope : encoder_.alibi_slopes) negative.push_back(-slope);
  const std::string slopes = model_.weight("alibi.slopes", {std::int64_t{encoder_.heads}, 1, 1}, negative);
  const std::string number = graph_.node("Cast", {"distance"}, "alibi.distance", {{"to", kFloatType}});
  const std::string far = graph_.node("Abs", {number}, "alibi.far");
  graph_.node("Mul", {far, slopes}, "position_bias");
}

/// The table by bucket becomes one by distance: its ends hold for all that is further.
void PaddedAttention::add_relative_bias() {
  if (!encoder_.relative_bias) return;
  const RelativeBias& bias = *encoder_.relative_bias;
  const std::vector<float> values = model_.relative_bias();
  const std::int64_t reach = bias.max_distance;
  const std::string table = model_.weight("relative_bias", {std::int64_t{encoder_.heads}, 2 * reach + 1}, values);
  const std::int64_t bounds[] = {reach, 0, 2 * reach};
  const std::string shift = graph_.int64_constant("relative_bias.reach", {}, {&bounds[0], 1});
  const std::string shifted = graph_.node("Sub", {shift, "distance"}, "relative_bias.shifted");
  const std::string index = graph_.node("Clip",
                                        {shifted, graph_.int64_constant("relative_bias.first", {}, {&bounds[1], 1}),
                                         graph_.int64_constant("relative_bias.last", {}, {&bounds[2], 1})},
                                        "relative_bias.index");
  graph_.node("Gather", {table, index}, "position_bias", {{"axis", std::int64_t{1}}});
}

void PaddedAttention::add_rotary(std::size_t index) {
  const std::string name = rotary_name(index);
  const RotaryTables tables = rotary_tables(encoder_.rotary_frequencies[index], encoder_.facts.max_positions);
  const std::vector<std::int64_t> shape = {std::int64_t{encoder_.facts.max_positions}, head_size_ / 2};
  const std::string zero = model_.integers("zero", {0});
  for (const auto& [part, values] : {std::pair{".cos", &tables.cosines}, {".sin", &tables.sines}}) {
    const std::string table = model_.weight(name + part + ".table", shape, *values);
    graph_.node("Slice", {table, zero, "length", zero}, name + part);
  }
}

void PaddedAttention::add_disentangled() {
  if (!encoder_.disentangled) return;
  const Disentangled& positions = *encoder_.disentangled;
  std::string table = model_.table(positions.positions);
  if (positions.norm) table = model_.layer_norm(*positions.norm, table, "disentangled.normalized");
  graph_.node("Identity", {table}, "disentangled.positions");
  const std::int64_t last = std::int64_t{encoder_.facts.max_positions} - 1;
  const std::string by_distance = model_.integers("disentangled.buckets", model_.position_rows());
  const std::string shift = graph_.int64_constant("disentangled.last", {}, {&last, 1});
  const std::string shifted = graph_.node("Add", {"distance", shift}, "disentangled.shifted");
  graph_.node("Gather", {by_distance, shifted}, "disentangled.index");
  graph_.node("Transpose", {"disentangled.index"}, "disentangled.index.swapped");
  const std::string batch =
      graph_.node("Slice", {"shape", model_.integers("zero", {0}), model_.integers("ends.one", {1})}, "batch.size");
  const std::string heads = model_.integers("heads.count", {std::int64_t{encoder_.heads}});
  const std::string wide =
      graph_.node("Concat", {batch, heads, "length", "length"}, "scores.shape", {{"axis", std::int64_t{0}}});
  graph_.node("Expand", {"disentangled.index", wide}, "disentangled.to_key");
  graph_.node("Expand", {"disentangled.index.swapped", wide}, "disentangled.to_query");
  model_.integers("disentangled.heads", {-1, std::int64_t{encoder_.heads}, head_size_});
}

std::string PaddedAttention::heads_of(const std::string& input) {
  const std::string heads = graph_.node("Reshape", {input, "heads_shape"}, input + ".heads");
  return graph_.node("Transpose", {heads}, input + ".by_head", {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

std::string PaddedAttention::swapped(const std::string& input) {
  return graph_.node("Transpose", {input}, input + ".swapped", {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
}

std::string PaddedAttention::halves(const std::string& input, bool first) {
  const std::string half = model_.integers("head.half", {head_size_ / 2});
  const std::string begin = first ? model_.integers("zero", {0}) : half;
  const std::string end = first ? half : model_.integers("head.end", {head_size_});
  return graph_.node("Slice", {input, begin, end, model_.integers("axis.head", {3})},
                     input + (first ? ".first" : ".second"));
}

/// Each pair (x, y), half a head apart, becomes (x cos - y sin, y cos + x sin).
std::string PaddedAttention::rotated(const std::string& input, std::size_t rotary) {
  const std::string first = halves(input, true);
  const std::string second = halves(input, false);
  const std::string cosines = rotary_name(rotary) + ".cos";
  const std::string sines = rotary_name(rotary) + ".sin";
  const auto times = [&](const std::string& left, const std::string& right, const std::string& suffix) {
    return graph_.node("Mul", {left, right}, left + suffix);
  };
  const std::string x =
      graph_.node("Sub", {times(first, cosines, ".cos"), times(second, sines, ".sin")}, first + ".rotated");
  const std::string y =
      graph_.node("Add", {times(second, cosines, ".cos"), times(first, sines, ".sin")}, second + ".rotated");
  return graph_.node("Concat", {x, y}, input + ".rotated", {{"axis", std::int64_t{3}}});
}

/// Each token's scores against all relative positions, looked up for each other token.
std::string PaddedAttention::position_scores(const std::string& side, const Linear& linear, const std::string& name) {
  const std::string projected = model_.linear(linear, "disentangled.positions", name + ".projected");
  const std::string heads = graph_.node("Reshape", {projected, "disentangled.heads"}, name + ".heads");
  const std::string table =
      graph_.node("Transpose", {heads}, name + ".table", {{"perm", std::vector<std::int64_t>{1, 2, 0}}});
  return graph_.node("MatMul", {side, table}, name + ".all");
}

std::string PaddedAttention::scores(const std::string& query, const std::string& key, const Attention& attention,
                                    const std::string& name) {
  std::string sum = graph_.node("MatMul", {query, swapped(key)}, name + "products");
  const auto look_up = [&](const std::string& all, const std::string& index, const std::string& output) {
    return graph_.node("GatherElements", {all, index}, output, {{"axis", std::int64_t{3}}});
  };
  if (attention.position_key) {
    const std::string all = position_scores(query, *attention.position_key, name + "to_position");
    sum = graph_.node("Add", {sum, look_up(all, "disentangled.to_key", name + "to_position")}, name + "products.1");
  }
  if (attention.position_query) {
    const std::string all = position_scores(key, *attention.position_query, name + "from_position");
    const std::string found = swapped(look_up(all, "disentangled.to_query", name + "from_position"));
    sum = graph_.node("Add", {sum, found}, name + "products.2");
  }
  std::string scaled = graph_.node("Div", {sum, "score_divisor"}, name + "scores");
  if (!encoder_.alibi_slopes.empty() || encoder_.relative_bias) {
    scaled = graph_.node("Add", {scaled, "position_bias"}, name + "scores.biased");
  }
  const std::string mask = attention.window == 0 ? std::string("mask") : window_mask(attention.window);
  return graph_.node("Add", {scaled, mask}, name + "scores.masked");
}

std::string PaddedAttention::add(const std::string& input, const Attention& attention, const std::string& name) {
  std::string query = model_.linear(attention.query, input, name + "query");
  if (attention.query_norm) query = model_.layer_norm(*attention.query_norm, query, name + "query.normalized");
  std::string key = model_.linear(attention.key, input, name + "key");
  if (attention.key_norm) key = model_.layer_norm(*attention.key_norm, key, name + "key.normalized");
  query = heads_of(query);
  key = heads_of(key);
  const std::string value = heads_of(model_.linear(attention.value, input, name + "value"));
  if (attention.rotary) {
    query = rotated(query, *attention.rotary);
    key = rotated(key, *attention.rotary);
  }
  const std::string masked = scores(query, key, attention, name);
  const std::string weights = graph_.node("Softmax", {masked}, name + "weights", {{"axis", std::int64_t{-1}}});
  const std::string context = graph_.node("MatMul", {weights, value}, name + "context");
  const std::string tokens =
      graph_.node("Transpose", {context}, name + "context.tokens", {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  return graph_.node("Reshape", {tokens, "flat_shape"}, name + "context.flat");
}

}  // namespace weir::families
