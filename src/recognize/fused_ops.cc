// ONNX Runtime's operators (com.microsoft) as its optimizers write them; arguments as its contrib operators' documents
// list them.
#include <array>
#include <limits>
#include <utility>

#include "recognize/arithmetic.h"
#include "recognize/attention.h"
#include "recognize/embedding.h"
#include "recognize/handlers.h"
#include "recognize/linear.h"
#include "recognize/quantized.h"

namespace weir::recognize {
namespace {

Result<const Constant*> optional_constant(const Call& call, std::size_t index) {
  if (!call.has(index)) return static_cast<const Constant*>(nullptr);
  return call.constant(index);
}

Result<View> plain_view(Result<Value> value) {
  if (!value.ok()) return std::move(value).error();
  auto* view = std::get_if<View>(&*value);
  if (view == nullptr) return unsupported("an input of no meaning");
  return std::move(*view);
}

/// Columns from `first` on.
Result<View> columns_of(const View& rows, std::int64_t first, std::int64_t count) {
  IndexMap indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(first + i);
  const auto selection = taken(rows.dims, rows.dims.size() - 1, indices, {count});
  if (!selection) return unsupported("columns beyond " + dims_text(rows.dims));
  return plain_view(selected(Value(rows), *selection));
}

struct QkvSizes {
  std::int64_t query = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
};

Result<QkvSizes> qkv_sizes(const Call& call, std::int64_t columns) {
  QkvSizes sizes{columns / 3, columns / 3, columns / 3};
  const auto* given = call.attribute("qkv_hidden_sizes");
  const auto* list = given != nullptr ? std::get_if<std::vector<std::int64_t>>(given) : nullptr;
  if (list != nullptr && list->size() == 3) sizes = {(*list)[0], (*list)[1], (*list)[2]};
  const bool fits = sizes.query > 0 && sizes.key > 0 && sizes.value > 0 && sizes.query <= columns &&
                    sizes.key <= columns && sizes.value <= columns && sizes.query + sizes.key + sizes.value == columns;
  if (!fits) return unsupported("queries, keys and values in " + std::to_string(columns) + " columns");
  return sizes;
}

Status refuse(const Call& call, std::string_view attribute) {
  if (call.integer(attribute, 0) == 0) return {};
  return unsupported("attribute '" + std::string(attribute) + "'");
}

/// Attention over one linear layer that makes queries, keys and values.
Result<Value> packed_attention(const Call& call, const View& rows, const Constant* mask, const Constant* added_scores) {
  WEIR_RETURN_IF_ERROR(refuse(call, "unidirectional"));
  WEIR_RETURN_IF_ERROR(refuse(call, "do_rotary"));
  if (rows.dims.size() != 3) return unsupported("attention over " + kind_text(Value(rows)));
  WEIR_ASSIGN_OR_RETURN(const QkvSizes sizes, qkv_sizes(call, rows.dims.back()));
  WholeAttention whole;
  WEIR_ASSIGN_OR_RETURN(whole.query, columns_of(rows, 0, sizes.query));
  WEIR_ASSIGN_OR_RETURN(whole.key, columns_of(rows, sizes.query, sizes.key));
  WEIR_ASSIGN_OR_RETURN(whole.value, columns_of(rows, sizes.query + sizes.key, sizes.value));
  whole.heads = call.integer("num_heads", 0);
  whole.scale = call.number("scale", 0);
  whole.mask = mask;
  whole.added = added_scores;
  return attention(call, whole);
}

/// input, weights, bias, mask_index, past, attention_bias.
Outputs attention_node(const Call& call) {
  if (call.has(4)) return unsupported("past keys and values");
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value* weights, call.value(1));
  WEIR_ASSIGN_OR_RETURN(Value rows, product(call, *x, *weights));
  if (call.has(2)) {
    WEIR_ASSIGN_OR_RETURN(const Value* bias, call.value(2));
    WEIR_ASSIGN_OR_RETURN(rows, added(call, rows, *bias));
  }
  WEIR_ASSIGN_OR_RETURN(const View view, plain_view(rows));
  WEIR_ASSIGN_OR_RETURN(const Constant* mask, optional_constant(call, 3));
  WEIR_ASSIGN_OR_RETURN(const Constant* added_scores, optional_constant(call, 5));
  return one(packed_attention(call, view, mask, added_scores));
}

/// input, weights, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past.
Outputs quantized_attention(const Call& call) {
  if (call.has(8)) return unsupported("past keys and values");
  WEIR_ASSIGN_OR_RETURN(const Value x, restored(call, 0, 3, 6));
  WEIR_ASSIGN_OR_RETURN(const Value weights, restored(call, 1, 4, 7));
  WEIR_ASSIGN_OR_RETURN(const Value rows, product(call, x, weights));
  WEIR_ASSIGN_OR_RETURN(const Value* bias, call.value(2));
  WEIR_ASSIGN_OR_RETURN(const View view, plain_view(added(call, rows, *bias)));
  WEIR_ASSIGN_OR_RETURN(const Constant* mask, optional_constant(call, 5));
  return one(packed_attention(call, view, mask, nullptr));
}

/// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
Outputs multi_head_attention(const Call& call) {
  WEIR_RETURN_IF_ERROR(refuse(call, "unidirectional"));
  if (call.has(6) || call.has(7)) return unsupported("past keys and values");
  std::array<View, 3> parts;
  const Constant* bias = nullptr;
  WEIR_ASSIGN_OR_RETURN(bias, optional_constant(call, 3));
  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const View* given, call.view(i));
    if (given->dims.size() != 3) return unsupported("attention over " + kind_text(Value(*given)));
    parts[i] = *given;
    if (bias == nullptr) continue;
    IndexMap indices;
    for (std::int64_t column = 0; column < given->dims.back(); ++column) indices.push_back(first + column);
    first += given->dims.back();
    if (bias->dims().size() != 1) return unsupported("a bias of shape " + dims_text(bias->dims()));
    const auto selection = taken(bias->dims(), 0, indices, {given->dims.back()});
    if (!selection) return unsupported("a bias of shape " + dims_text(bias->dims()));
    WEIR_ASSIGN_OR_RETURN(const Constant part, bias->selected(*selection).small());
    WEIR_ASSIGN_OR_RETURN(parts[i], plain_view(added(call, Value(*given), Value(part))));
  }
  WholeAttention whole{parts[0], parts[1], parts[2], call.integer("num_heads", 0), call.number("scale", 0),
                       nullptr,  nullptr};
  WEIR_ASSIGN_OR_RETURN(whole.mask, optional_constant(call, 4));
  WEIR_ASSIGN_OR_RETURN(whole.added, optional_constant(call, 5));
  return one(attention(call, whole));
}

/// input, skip, gamma, beta, bias → normalized, mean, deviation, sum.
Outputs skip_layer_normalization(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value* skip, call.value(1));
  Value rows = *x;
  if (call.has(4)) {
    WEIR_ASSIGN_OR_RETURN(const Value* bias, call.value(4));
    WEIR_ASSIGN_OR_RETURN(rows, added(call, rows, *bias));
  }
  WEIR_ASSIGN_OR_RETURN(const Value sum, added(call, rows, *skip));
  WEIR_ASSIGN_OR_RETURN(const Constant* gamma, call.constant(2));
  WEIR_ASSIGN_OR_RETURN(const Constant* beta, optional_constant(call, 3));
  WEIR_ASSIGN_OR_RETURN(Value normalized, layer_normed(call, sum, call.number("epsilon", 1e-12), gamma, beta));
  return std::vector<Value>{std::move(normalized), Unknown{}, Unknown{}, sum};
}

Result<Value> table_rows(const Call& call, const Constant& table, const Constant& indices) {
  IndexMap rows;
  if (!indices.is_small()) return unsupported("indices that are weights");
  for (const double number : indices.numbers()) rows.push_back(static_cast<std::int64_t>(number));
  WEIR_ASSIGN_OR_RETURN(const auto found, embedded_rows(call, table, rows, indices.dims()));
  if (!found) return unsupported("rows of a table that are neither words, types nor positions");
  return *found;
}

Constant position_indices() {
  Constant::Numbers numbers;
  for (std::int64_t position = 0; position < Sample::kSequence; ++position)
    numbers.push_back(static_cast<double>(position));
  return {DataType::kInt64, {Sample::kSequence}, std::move(numbers)};
}

/// How long each text is: the mask_index output.
Value text_lengths(const Call& call, bool has_mask) {
  Constant::Numbers lengths;
  for (std::int64_t text = 0; text < Sample::kBatch; ++text) {
    lengths.push_back(has_mask ? static_cast<double>(call.sample().length(text)) : 0);
  }
  return Constant(DataType::kInt32, {Sample::kBatch}, std::move(lengths));
}

struct EmbeddingTables {
  Constant words;
  Constant positions;
  std::optional<Constant> types;
  Constant gamma;
  Constant beta;
};

/// input_ids, segment_ids, then the tables; mask and position_ids at the end.
Outputs embedded(const Call& call, const EmbeddingTables& tables, std::size_t mask, std::size_t position_ids) {
  WEIR_ASSIGN_OR_RETURN(const Constant* ids, call.constant(0));
  WEIR_ASSIGN_OR_RETURN(Value sum, table_rows(call, tables.words, *ids));
  Constant positions = position_indices();
  if (call.has(position_ids)) {
    WEIR_ASSIGN_OR_RETURN(const Constant* given, call.constant(position_ids));
    positions = *given;
  }
  WEIR_ASSIGN_OR_RETURN(const Value position_rows, table_rows(call, tables.positions, positions));
  WEIR_ASSIGN_OR_RETURN(sum, added(call, sum, position_rows));
  if (tables.types && call.has(1)) {
    WEIR_ASSIGN_OR_RETURN(const Constant* types, call.constant(1));
    WEIR_ASSIGN_OR_RETURN(const Value type_rows, table_rows(call, *tables.types, *types));
    WEIR_ASSIGN_OR_RETURN(sum, added(call, sum, type_rows));
  }
  if (call.has(mask)) {
    WEIR_ASSIGN_OR_RETURN(const Constant* given, call.constant(mask));
    if (!given->is_small() || given->numbers() != call.sample().mask) return unsupported("a mask of another kind");
  }
  WEIR_ASSIGN_OR_RETURN(Value rows,
                        layer_normed(call, sum, call.number("epsilon", 1e-12), &tables.gamma, &tables.beta));
  return std::vector<Value>{std::move(rows), text_lengths(call, call.has(mask)), sum};
}

/// input_ids, segment_ids, words, positions, types, gamma, beta, mask, position_ids.
Outputs embed_layer_normalization(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* words, call.constant(2));
  WEIR_ASSIGN_OR_RETURN(const Constant* positions, call.constant(3));
  WEIR_ASSIGN_OR_RETURN(const Constant* types, optional_constant(call, 4));
  WEIR_ASSIGN_OR_RETURN(const Constant* gamma, call.constant(5));
  WEIR_ASSIGN_OR_RETURN(const Constant* beta, call.constant(6));
  EmbeddingTables tables{*words, *positions, {}, *gamma, *beta};
  if (types != nullptr) tables.types = *types;
  return embedded(call, tables, 7, 8);
}

Result<Constant> restored_constant(const Call& call, std::size_t index, std::size_t scale, std::size_t zero_point) {
  WEIR_ASSIGN_OR_RETURN(Value value, restored(call, index, scale, zero_point, 0));
  auto* constant = std::get_if<Constant>(&value);
  if (constant == nullptr) return unsupported("a table that is no constant");
  return std::move(*constant);
}

/// As above with the tables in 8 bits: mask at 7, scales from 8 on, zero points from 13 on.
Outputs quantized_embed_layer_normalization(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(Constant words, restored_constant(call, 2, 8, 13));
  WEIR_ASSIGN_OR_RETURN(Constant positions, restored_constant(call, 3, 9, 14));
  std::optional<Constant> types;
  if (call.has(4)) {
    WEIR_ASSIGN_OR_RETURN(types, restored_constant(call, 4, 10, 15));
  }
  WEIR_ASSIGN_OR_RETURN(Constant gamma, restored_constant(call, 5, 11, 16));
  WEIR_ASSIGN_OR_RETURN(Constant beta, restored_constant(call, 6, 12, 17));
  return embedded(call, {std::move(words), std::move(positions), std::move(types), std::move(gamma), std::move(beta)},
                  7, std::numeric_limits<std::size_t>::max());
}

constexpr Handler kHandlers[] = {
    {"Attention", attention_node},
    {"QAttention", quantized_attention},
    {"MultiHeadAttention", multi_head_attention},
    {"SkipLayerNormalization", skip_layer_normalization},
    {"EmbedLayerNormalization", embed_layer_normalization},
    {"QEmbedLayerNormalization", quantized_embed_layer_normalization},
};

}  // namespace

std::span<const Handler> fused_handlers() { return kHandlers; }

}  // namespace weir::recognize
