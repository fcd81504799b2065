#include <algorithm>
#include <cmath>
#include <limits>

#include "recognize/arithmetic.h"
#include "recognize/attention.h"
#include "recognize/handlers.h"

namespace weir::recognize {
namespace {

struct Axes {
  std::vector<bool> reduced;
  bool keeps = true;

  Dims result(const Dims& dims) const {
    Dims kept;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (!reduced[axis]) kept.push_back(dims[axis]);
      if (reduced[axis] && keeps) kept.push_back(1);
    }
    return kept;
  }
  /// Only that one.
  bool is(std::size_t axis) const {
    return axis < reduced.size() && reduced[axis] && std::count(reduced.begin(), reduced.end(), true) == 1;
  }
};

Result<Axes> axes_of(const Call& call, const Dims& dims) {
  WEIR_ASSIGN_OR_RETURN(const auto given, call.integers("axes", 1));
  Axes axes{std::vector<bool>(dims.size(), !given || given->empty()), call.integer("keepdims", 1) != 0};
  if ((!given || given->empty()) && call.integer("noop_with_empty_axes", 0) != 0) return unsupported("no axes");
  for (const std::int64_t axis : given.value_or(IndexMap())) {
    const auto at = axis_of(axis, dims.size());
    if (!at) return unsupported("an axis that is not there");
    axes.reduced[*at] = true;
  }
  return axes;
}

enum class Kind { kSum, kMean, kMax, kMin, kProduct, kSquares, kLength };

double start_of(Kind kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == Kind::kMax) return -kInfinity;
  if (kind == Kind::kMin) return kInfinity;
  return kind == Kind::kProduct ? 1 : 0;
}

double accumulated(Kind kind, double so_far, double x) {
  switch (kind) {
    case Kind::kMax:
      return std::max(so_far, x);
    case Kind::kMin:
      return std::min(so_far, x);
    case Kind::kProduct:
      return so_far * x;
    case Kind::kSquares:
    case Kind::kLength:
      return so_far + x * x;
    default:
      return so_far + x;
  }
}

Result<Value> reduced_constant(const Constant& given, const Axes& axes, Kind kind) {
  WEIR_ASSIGN_OR_RETURN(const Constant constant, given.small());
  const Dims& dims = constant.dims();
  const Dims strides = strides_of(dims);
  Axes keeping = axes;
  keeping.keeps = true;
  const Dims kept = keeping.result(dims);
  const Dims kept_strides = strides_of(kept);
  const std::int64_t count = element_count(kept);
  if (count < 0 || count > kMaxElements) return unsupported("a result of shape " + dims_text(kept));
  Constant::Numbers numbers(static_cast<std::size_t>(count), start_of(kind));
  for (std::int64_t i = 0; i < constant.count(); ++i) {
    std::int64_t to = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (!axes.reduced[axis]) to += i / strides[axis] % dims[axis] * kept_strides[axis];
    }
    double& number = numbers[static_cast<std::size_t>(to)];
    number = accumulated(kind, number, constant.numbers()[static_cast<std::size_t>(i)]);
  }
  const double each = count > 0 ? static_cast<double>(constant.count()) / static_cast<double>(count) : 1;
  for (double& number : numbers) {
    if (kind == Kind::kMean) number /= each;
    if (kind == Kind::kLength) number = std::sqrt(number);
  }
  return Value(Constant(constant.type(), axes.result(dims), std::move(numbers)));
}

bool are_squares(const std::vector<double>& samples, double factor) {
  const std::vector<double>& points = sample_points();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double square = points[i] * points[i] * factor;
    if (!(std::abs(samples[i] - square) <= 1e-6 * (square + 1e-9))) return false;
  }
  return true;
}

Result<Value> row_mean(const Call& call, const View& view, const Axes& axes) {
  if (view.map != nullptr || view.dims.back() != view.of->columns()) {
    return unsupported("a mean of " + kind_text(Value(view)));
  }
  const auto* function = view.of->as<Pointwise>();
  const auto* centered = function != nullptr ? function->x->as<Centered>() : nullptr;
  const bool is_variance = centered != nullptr && are_squares(function->samples, 1);
  Dims dims = view.of->dims;
  dims.back() = 1;
  const MeaningPtr meaning = is_variance ? call.meanings().of<Variance>(centered->x, dims, call.place())
                                         : call.meanings().of<Mean>(view.of, dims, call.place());
  return Value(View{meaning, axes.result(view.dims), nullptr, view.scale});
}

Result<Value> token_sum(const Call& call, const View& view, const Axes& axes) {
  const auto* masked = view.of->as<MaskedRows>();
  const bool fits = masked != nullptr && view.is_plain() && view.dims == view.of->dims;
  if (!fits) return unsupported("a sum over tokens of " + kind_text(Value(view)) + " without the mask");
  View sum = call.make(MaskedSum{masked->x}, {view.dims[0], view.dims[2]});
  sum.dims = axes.result(view.dims);
  return Value(std::move(sum));
}

Result<Value> row_length(const Call& call, const View& view, const Axes& axes, bool is_root) {
  Dims dims(view.dims.begin(), view.dims.end() - 1);
  dims.push_back(1);
  View made = is_root ? call.make(Length{view}, dims) : call.make(SquaredSum{view}, dims);
  made.dims = axes.result(view.dims);
  return Value(std::move(made));
}

Result<Value> reduced_view(const Call& call, const View& view, const Axes& axes, Kind kind) {
  const std::size_t rank = view.dims.size();
  const bool of_columns = rank > 0 && axes.is(rank - 1);
  if (kind == Kind::kMean && of_columns) return row_mean(call, view, axes);
  if (kind == Kind::kSum && rank == 3 && axes.is(1)) return token_sum(call, view, axes);
  if (kind == Kind::kLength && of_columns) return row_length(call, view, axes, true);
  if (kind == Kind::kSquares && of_columns) return row_length(call, view, axes, false);
  const SampledView function = sampled(view);
  if (kind == Kind::kSum && of_columns && are_squares(function.samples, 1)) {
    return row_length(call, View{function.x, view.dims, function.map, 1}, axes, false);
  }
  return unsupported("a reduction of " + kind_text(Value(view)));
}

template <Kind kind>
Outputs reduce(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(0));
  const Dims* dims = dims_of(*value);
  if (dims == nullptr) return unsupported("an input without a shape");
  WEIR_ASSIGN_OR_RETURN(const Axes axes, axes_of(call, *dims));
  if (const auto* constant = std::get_if<Constant>(value)) return one(reduced_constant(*constant, axes, kind));
  return one(reduced_view(call, std::get<View>(*value), axes, kind));
}

Outputs softmax(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const View* view, call.view(0));
  // Before opset 13 all axes from the given one on are taken together, and the default is another.
  const auto axis = axis_of(call.integer("axis", call.opset() < 13 ? 1 : -1), view->dims.size());
  if (!axis || *axis + 1 != view->dims.size()) return unsupported("a softmax over another axis than the last");
  return one(attention_probabilities(call, *view));
}

Outputs layer_normalization(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  const Dims* dims = dims_of(*x);
  const auto axis = dims != nullptr ? axis_of(call.integer("axis", -1), dims->size()) : std::nullopt;
  if (!axis || *axis + 1 != dims->size()) return unsupported("a layer norm over more than the last axis");
  const Constant* gamma = nullptr;
  const Constant* beta = nullptr;
  if (call.has(1)) {
    WEIR_ASSIGN_OR_RETURN(gamma, call.constant(1));
  }
  if (call.has(2)) {
    WEIR_ASSIGN_OR_RETURN(beta, call.constant(2));
  }
  return one(layer_normed(call, *x, call.number("epsilon", 1e-5), gamma, beta));
}

Outputs lp_normalization(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const View* view, call.view(0));
  const auto axis = axis_of(call.integer("axis", -1), view->dims.size());
  if (!axis || *axis + 1 != view->dims.size() || call.integer("p", 2) != 2) return unsupported("another norm");
  return one(Value(call.make(UnitLength{*view}, view->dims)));
}

constexpr Handler kHandlers[] = {
    {"ReduceSum", reduce<Kind::kSum>},           {"ReduceMean", reduce<Kind::kMean>},
    {"ReduceMax", reduce<Kind::kMax>},           {"ReduceMin", reduce<Kind::kMin>},
    {"ReduceProd", reduce<Kind::kProduct>},      {"ReduceSumSquare", reduce<Kind::kSquares>},
    {"ReduceL2", reduce<Kind::kLength>},         {"Softmax", softmax},
    {"LayerNormalization", layer_normalization}, {"LpNormalization", lp_normalization},
};

}  // namespace

std::span<const Handler> reduction_handlers() { return kHandlers; }

}  // namespace weir::recognize
