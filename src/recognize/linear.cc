#include "recognize/linear.h"

#include <algorithm>
#include <utility>

#include "recognize/attention.h"

namespace weir::recognize {
namespace {

MeaningPtr meaning(const Call& call, decltype(Meaning::kind) kind, const Dims& dims) {
  return call.meanings().keep(Meaning{std::move(kind), dims, call.place()});
}

View in_place_of(const View& view, MeaningPtr of) { return {std::move(of), view.dims, view.map, 1}; }

/// One number for all stays one number.
void multiply(std::vector<double>& scale, const std::vector<double>& by) {
  if (scale.size() < by.size()) scale.resize(by.size(), scale.front());
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] *= by[by.size() == 1 ? 0 : i];
}

/// Rows of the meaning as they lie times weights [inputs, columns].
Result<Linear> rows_times_weights(const View& rows, const Constant& weights) {
  const bool fits = weights.dims().size() == 2 && !rows.dims.empty() && rows.dims.back() == weights.dims()[0] &&
                    rows.map == nullptr && rows.of->columns() == rows.dims.back();
  if (!fits) {
    return unsupported("a product of " + kind_text(Value(rows)) + " and weights " + dims_text(weights.dims()));
  }
  if (weights.count() == 0) return unsupported("empty weights");
  return Linear{rows.of, weights, {rows.scale}, {}};
}

Dims product_dims(const View& rows, const Constant& weights) {
  Dims dims = rows.dims;
  dims.back() = weights.dims()[1];
  return dims;
}

}  // namespace

Result<Value> product(const Call& call, const Value& a, const Value& b) {
  const auto* left = std::get_if<View>(&a);
  const auto* right = std::get_if<View>(&b);
  const auto* weights = std::get_if<Constant>(&b);
  if (left != nullptr && weights != nullptr) {
    WEIR_ASSIGN_OR_RETURN(Linear linear, rows_times_weights(*left, *weights));
    return Value(call.make(std::move(linear), product_dims(*left, *weights)));
  }
  if (left == nullptr || right == nullptr) return unsupported("a product of " + kind_text(a) + " and " + kind_text(b));
  if (left->of->as<Probabilities>() != nullptr) return attention_context(call, *left, *right);
  return attention_scores(call, *left, *right);
}

Result<Value> integer_product(const Call& call, const Value& a, const Value& b) {
  const auto* left = std::get_if<View>(&a);
  if (left == nullptr) return unsupported("an integer product of " + kind_text(a));
  if (const auto* weights = std::get_if<Constant>(&b)) {
    WEIR_ASSIGN_OR_RETURN(Linear linear, rows_times_weights(*left, *weights));
    const Dims dims = product_dims(*left, *weights);
    return Value(call.make(IntegerProduct{meaning(call, std::move(linear), dims), {}, {}}, dims));
  }
  const View& right = std::get<View>(b);
  // Its shape is found when the scales are there; until then it has one that fits nothing.
  return Value(call.make(IntegerProduct{nullptr, *left, right}, {}));
}

Result<MeaningPtr> scaled_linear(const Call& call, const View& view) {
  const auto* linear = view.of->as<Linear>();
  if (linear == nullptr) return unsupported("a number times " + kind_text(Value(view)));
  if (view.scale == 1) return view.of;
  Linear scaled = *linear;
  multiply(scaled.scale, {view.scale});
  for (double& number : scaled.bias) number *= view.scale;
  return meaning(call, std::move(scaled), view.of->dims);
}

Result<Value> with_bias(const Call& call, const View& view, const std::vector<double>& bias) {
  WEIR_ASSIGN_OR_RETURN(const MeaningPtr scaled, scaled_linear(call, view));
  Linear linear = *scaled->as<Linear>();
  linear.bias.resize(bias.size(), 0.0);
  for (std::size_t i = 0; i < bias.size(); ++i) linear.bias[i] += bias[i];
  return Value(in_place_of(view, meaning(call, std::move(linear), view.of->dims)));
}

Result<Value> with_column_scale(const Call& call, const View& view, const std::vector<double>& scale) {
  const auto* product = view.of->as<IntegerProduct>();
  View inner = view;
  if (product != nullptr && product->linear != nullptr) inner.of = product->linear;
  WEIR_ASSIGN_OR_RETURN(const MeaningPtr scaled, scaled_linear(call, inner));
  Linear linear = *scaled->as<Linear>();
  multiply(linear.scale, scale);
  for (std::size_t i = 0; i < linear.bias.size(); ++i) linear.bias[i] *= scale[i];
  MeaningPtr made = meaning(call, std::move(linear), view.of->dims);
  if (product != nullptr) made = meaning(call, IntegerProduct{std::move(made), {}, {}}, view.of->dims);
  return Value(in_place_of(view, std::move(made)));
}

Result<Value> scaled_scale(const Call& call, const View& view, const DynamicScale& scale, const Constant& constant) {
  DynamicScale scaled = scale;
  const auto& numbers = constant.numbers();
  if (numbers.empty() || (scaled.factor.size() > 1 && numbers.size() > 1)) return unsupported("scales of scales");
  for (double& factor : scaled.factor) factor *= view.scale;
  multiply(scaled.factor, numbers);
  return Value(call.make(std::move(scaled), constant.dims()));
}

Result<Value> rescaled(const Call& call, const View& view, const View& scale) {
  const auto& factor = *scale.of->as<DynamicScale>();
  if (const auto* other = view.of->as<DynamicScale>()) {
    DynamicScale both = factor;
    both.x.insert(both.x.begin(), other->x.begin(), other->x.end());
    for (double& number : both.factor) number *= scale.scale * view.scale;
    if (both.factor.size() > 1 && other->factor.size() > 1) return unsupported("scales of scales");
    multiply(both.factor, other->factor);
    return Value(call.make(std::move(both), scale.dims.size() > view.dims.size() ? scale.dims : view.dims));
  }
  const auto& product_of = *view.of->as<IntegerProduct>();
  if (product_of.linear != nullptr) {
    View linear = view;
    linear.of = product_of.linear;
    linear.scale *= scale.scale;
    if (factor.x.size() != 1 || factor.x[0] != linear.of->as<Linear>()->x) {
      return unsupported("the scale of something else than what is multiplied");
    }
    if (factor.factor.size() > 1 && static_cast<std::int64_t>(factor.factor.size()) != linear.of->columns()) {
      return unsupported("scales of another number of columns");
    }
    return with_column_scale(call, linear, factor.factor);
  }
  const bool same = factor.x.size() == 2 && factor.factor.size() == 1 &&
                    ((factor.x[0] == product_of.left->of && factor.x[1] == product_of.right->of) ||
                     (factor.x[1] == product_of.left->of && factor.x[0] == product_of.right->of));
  if (!same) return unsupported("the scales of something else than what is multiplied");
  WEIR_ASSIGN_OR_RETURN(Value made, product(call, Value(*product_of.left), Value(*product_of.right)));
  auto& made_view = std::get<View>(made);
  made_view.scale *= factor.factor[0] * scale.scale * view.scale;
  return made;
}

}  // namespace weir::recognize
