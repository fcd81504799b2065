#include "recognize/attention.h"

#include <cmath>
#include <utility>

namespace weir::recognize {
namespace {

constexpr std::int64_t kBatch = Sample::kBatch;
constexpr std::int64_t kSequence = Sample::kSequence;
/// What is added to a score to take it out is at most this; less would leave a rest of attention.
constexpr double kOut = -1000;
/// Rounding in a quantized mask.
constexpr double kAlmostNothing = 1e-3;

/// The sizes of one operand of a batched product.
struct Heads {
  std::int64_t heads = 0;
  std::int64_t size = 0;
};

Result<Heads> heads_of(const Dims& dims, std::size_t sequence_axis, std::size_t size_axis) {
  if (dims.size() < 3 || dims[sequence_axis] != kSequence) return unsupported("an operand of shape " + dims_text(dims));
  const std::int64_t products = element_count(Dims(dims.begin(), dims.end() - 2));
  if (products <= 0 || products % kBatch != 0 || dims[size_axis] <= 0) {
    return unsupported("an operand of shape " + dims_text(dims));
  }
  return Heads{products / kBatch, dims[size_axis]};
}

/// Which column of the linear layer each of a head's elements is, the same for each token; each token's must come from
/// that token. `transposed`: the head's elements lie before the sequence.
Result<HeadColumns> head_columns(const View& view, const Heads& heads, bool transposed) {
  const std::int64_t width = view.of->columns();
  if (view.of->as<Linear>() == nullptr || element_count(view.of->dims) != Sample::kTokens * width) {
    return unsupported("attention over " + kind_text(Value(view)));
  }
  HeadColumns result{view.of, IndexMap(static_cast<std::size_t>(heads.heads * heads.size), -1)};
  for (std::int64_t i = 0; i < kBatch * heads.heads * kSequence * heads.size; ++i) {
    const std::int64_t inner = i % (kSequence * heads.size);
    const std::int64_t outer = i / (kSequence * heads.size);
    const std::int64_t position = transposed ? inner % kSequence : inner / heads.size;
    const std::int64_t element = transposed ? inner / kSequence : inner % heads.size;
    const std::int64_t from = view.map != nullptr ? (*view.map)[static_cast<std::size_t>(i)] : i;
    std::int64_t& column = result.columns[static_cast<std::size_t>(outer % heads.heads * heads.size + element)];
    if (column < 0) column = from % width;
    const std::int64_t token = outer / heads.heads * kSequence + position;
    if (from / width != token || from % width != column) return unsupported("heads that mix tokens");
  }
  return result;
}

/// Every score is that of a text's token (any) and a token of the same text (its own or padding).
Result<Scores> masked(const View& view, const Constant& mask) {
  const auto& scores = *view.of->as<Scores>();
  const auto selection = broadcast(mask.dims(), view.dims);
  if (scores.is_masked || view.map != nullptr || !selection || selection->dims != view.dims) {
    return unsupported("a mask " + dims_text(mask.dims()) + " of scores " + dims_text(view.dims));
  }
  WEIR_ASSIGN_OR_RETURN(const Constant wide, mask.selected(*selection).small());
  const Sample sample;
  for (std::size_t i = 0; i < wide.numbers().size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t text = at / (scores.heads * kSequence * kSequence);
    // Rows of padding are looked at by nobody.
    if (!sample.is_token(text, at / kSequence % kSequence)) continue;
    const bool attended = sample.is_token(text, at % kSequence);
    const double number = wide.numbers()[i];
    if (attended ? !(std::abs(number) <= kAlmostNothing) : !(number <= kOut)) {
      return unsupported("a mask that is not that of each text's own tokens");
    }
  }
  Scores result = scores;
  result.scale = view.scale;
  result.is_masked = true;
  return result;
}

/// A mask as operators take it: how long each text is, or which of its tokens are its own.
Status check_token_mask(const Constant& mask) {
  WEIR_ASSIGN_OR_RETURN(const Constant small, mask.small());
  const Sample sample;
  const Error wrong = unsupported("a mask that is not that of each text's own tokens");
  if (mask.dims() == Dims{kBatch}) {
    for (std::int64_t text = 0; text < kBatch; ++text) {
      if (small.numbers()[static_cast<std::size_t>(text)] != static_cast<double>(sample.length(text))) return wrong;
    }
    return {};
  }
  Dims dims = mask.dims();
  if (dims.size() < 2 || dims.back() != kSequence || dims.front() != kBatch) return wrong;
  const std::int64_t rows = small.count() / (kBatch * kSequence);
  for (std::int64_t i = 0; i < small.count(); ++i) {
    const std::int64_t text = i / (rows * kSequence);
    const bool row_is_padding = rows == kSequence && !sample.is_token(text, i / kSequence % kSequence);
    const bool attended = small.numbers()[static_cast<std::size_t>(i)] != 0;
    if (!row_is_padding && attended != sample.is_token(text, i % kSequence)) return wrong;
  }
  return {};
}

View of_heads(const View& rows, std::int64_t heads, const std::vector<std::int64_t>& order) {
  const std::int64_t size = rows.dims.back() / heads;
  const Dims split{kBatch, kSequence, heads, size};
  const auto moved = transposed(split, order);
  const auto view = selected(Value(rows), {split, {}});
  return std::get<View>(*selected(*view, *moved));
}

}  // namespace

Result<Value> attention_scores(const Call& call, const View& query, const View& key) {
  const std::size_t rank = query.dims.size();
  if (rank < 3 || key.dims.size() != rank)
    return unsupported("a product of " + kind_text(Value(query)) + " and " + kind_text(Value(key)));
  WEIR_ASSIGN_OR_RETURN(const Heads heads, heads_of(query.dims, rank - 2, rank - 1));
  WEIR_ASSIGN_OR_RETURN(const Heads key_heads, heads_of(key.dims, rank - 1, rank - 2));
  if (heads.heads != key_heads.heads || heads.size != key_heads.size) return unsupported("heads of different sizes");
  Scores scores;
  WEIR_ASSIGN_OR_RETURN(scores.query, head_columns(query, heads, false));
  WEIR_ASSIGN_OR_RETURN(scores.key, head_columns(key, heads, true));
  scores.heads = heads.heads;
  Dims dims(query.dims.begin(), query.dims.end() - 1);
  dims.push_back(kSequence);
  View view = call.make(std::move(scores), dims);
  view.scale = query.scale * key.scale;
  return Value(std::move(view));
}

Result<Value> masked_scores(const Call& call, const View& scores, const Constant& mask) {
  WEIR_ASSIGN_OR_RETURN(Scores result, masked(scores, mask));
  View view = call.make(std::move(result), scores.of->dims);
  view.dims = scores.dims;
  return Value(std::move(view));
}

Result<Value> attention_probabilities(const Call& call, const View& view) {
  const auto* scores = view.of->as<Scores>();
  if (scores != nullptr && !scores->is_masked) {
    return unsupported("attention without a mask: padding would be attended to");
  }
  if (scores == nullptr || !view.is_plain()) return unsupported("a softmax of " + kind_text(Value(view)));
  View result = call.make(Probabilities{view.of}, view.of->dims);
  result.dims = view.dims;
  return Value(std::move(result));
}

Result<Value> attention_context(const Call& call, const View& probabilities, const View& value) {
  const std::size_t rank = value.dims.size();
  if (!probabilities.is_plain() || rank != probabilities.dims.size() || rank < 3) {
    return unsupported("a product of " + kind_text(Value(probabilities)) + " and " + kind_text(Value(value)));
  }
  WEIR_ASSIGN_OR_RETURN(const Heads heads, heads_of(value.dims, rank - 2, rank - 1));
  const auto& scores = *probabilities.of->as<Probabilities>()->scores->as<Scores>();
  if (scores.heads != heads.heads) return unsupported("values of another number of heads");
  View scaled = value;
  if (value.scale != 1) {
    return unsupported("values multiplied by a number");
  }
  WEIR_ASSIGN_OR_RETURN(HeadColumns columns, head_columns(scaled, heads, false));
  View whole = call.make(Context{probabilities.of, std::move(columns)}, {kBatch, kSequence, heads.heads * heads.size});
  const Dims split{kBatch, kSequence, heads.heads, heads.size};
  whole.dims = split;
  const auto moved = transposed(split, {0, 2, 1, 3});
  WEIR_ASSIGN_OR_RETURN(const Value by_head, selected(Value(std::move(whole)), *moved));
  return selected(by_head, {value.dims, {}});
}

Result<Value> attention(const Call& call, const WholeAttention& whole) {
  for (const View* view : {&whole.query, &whole.key, &whole.value}) {
    const bool fits = view->dims.size() == 3 && view->dims[0] == kBatch && view->dims[1] == kSequence &&
                      whole.heads > 0 && view->dims[2] > 0 && view->dims[2] % whole.heads == 0;
    if (!fits) return unsupported("attention over " + kind_text(Value(*view)));
  }
  const View query = of_heads(whole.query, whole.heads, {0, 2, 1, 3});
  const View key = of_heads(whole.key, whole.heads, {0, 2, 3, 1});
  const View value = of_heads(whole.value, whole.heads, {0, 2, 1, 3});
  WEIR_ASSIGN_OR_RETURN(Value scores, attention_scores(call, query, key));
  const double head_size = static_cast<double>(query.dims.back());
  auto& view = std::get<View>(scores);
  view.scale *= whole.scale != 0 ? whole.scale : 1 / std::sqrt(head_size);
  if (whole.added != nullptr) {
    WEIR_ASSIGN_OR_RETURN(scores, masked_scores(call, view, *whole.added));
  } else if (whole.mask != nullptr) {
    WEIR_RETURN_IF_ERROR(check_token_mask(*whole.mask));
    Scores masked = *view.of->as<Scores>();
    masked.is_masked = true;
    masked.scale = view.scale;
    scores = Value(call.make(std::move(masked), view.of->dims));
  }
  WEIR_ASSIGN_OR_RETURN(const Value probabilities, attention_probabilities(call, std::get<View>(scores)));
  WEIR_ASSIGN_OR_RETURN(const Value context, attention_context(call, std::get<View>(probabilities), value));
  const auto back = transposed(*dims_of(context), {0, 2, 1, 3});
  WEIR_ASSIGN_OR_RETURN(const Value rows, selected(context, *back));
  return selected(rows, {{kBatch, kSequence, whole.value.dims[2]}, {}});
}

}  // namespace weir::recognize
