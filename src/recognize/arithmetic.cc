#include "recognize/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "recognize/attention.h"
#include "recognize/linear.h"
#include "recognize/pooling.h"

namespace weir::recognize {
namespace {

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)); }

Error no_meaning(const char* what, const Value& a, const Value& b) {
  return unsupported(std::string(what) + " of " + kind_text(a) + " and " + kind_text(b));
}

/// The view with the shape that adding `dims` gives it; only the same elements, repeated for each text at most.
Result<View> widened(const View& view, const Dims& dims) {
  const auto whole = broadcast_dims(view.dims, dims);
  if (!whole) return unsupported("shapes " + dims_text(view.dims) + " and " + dims_text(dims));
  if (*whole == view.dims) return view;
  const auto selection = broadcast(view.dims, *whole);
  if (!selection) return unsupported("a result of shape " + dims_text(*whole));
  WEIR_ASSIGN_OR_RETURN(Value value, selected(Value(view), *selection));
  return std::get<View>(std::move(value));
}

View same_place(const Call& call, const View& view, decltype(Meaning::kind) kind) {
  auto meaning = call.meanings().keep(Meaning{std::move(kind), view.of->dims, call.place()});
  return {std::move(meaning), view.dims, view.map, 1};
}

View function_of(const Call& call, const View& view, SampledView samples) {
  auto meaning =
      call.meanings().keep(Meaning{Pointwise{samples.x, std::move(samples.samples)}, samples.x->dims, call.place()});
  return {std::move(meaning), view.dims, view.map, 1};
}

/// Two functions of the same thing are one.
std::optional<Value> both_sampled(const Call& call, const View& a, const View& b, double (*f)(double, double)) {
  SampledView left = sampled(a);
  const SampledView right = sampled(b);
  if (left.x != right.x || a.dims != b.dims || !same_order(left.map, right.map)) return std::nullopt;
  for (std::size_t i = 0; i < left.samples.size(); ++i) left.samples[i] = f(left.samples[i], right.samples[i]);
  return Value(function_of(call, a, std::move(left)));
}

Result<Value> sum(const Call& call, std::vector<View> parts, std::vector<double> row) {
  Sum whole{{}, std::move(row)};
  for (const View& part : parts) {
    MeaningPtr meaning = part.of;
    if (part.map != nullptr || part.dims != parts.front().dims) {
      return unsupported("a sum of elements in different orders");
    }
    if (part.scale != 1) {
      WEIR_ASSIGN_OR_RETURN(meaning, scaled_linear(call, part));
    }
    const auto* inner = meaning->as<Sum>();
    if (inner == nullptr) {
      whole.terms.push_back(std::move(meaning));
      continue;
    }
    whole.terms.insert(whole.terms.end(), inner->terms.begin(), inner->terms.end());
    if (whole.row.empty())
      whole.row = inner->row;
    else
      for (std::size_t i = 0; i < inner->row.size(); ++i) whole.row[i] += inner->row[i];
  }
  return Value(call.make(std::move(whole), parts.front().dims));
}

Result<Value> plus_constant(const Call& call, const View& given, const Constant& constant) {
  WEIR_ASSIGN_OR_RETURN(const View view, widened(given, constant.dims()));
  WEIR_ASSIGN_OR_RETURN(const Constant small, constant.small());
  const auto& numbers = small.numbers();
  if (std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0; })) return Value(view);
  if (view.of->as<Scores>() != nullptr) return masked_scores(call, view, small);
  if (const auto number = small.single()) {
    return pointwise(call, Value(view), [number = *number](double x) { return x + number; });
  }
  auto row = row_of(small, view.dims);
  if (!row || view.map != nullptr || view.dims.back() != view.of->columns()) {
    return no_meaning("a sum", Value(view), Value(constant));
  }
  if (view.of->as<Linear>() != nullptr) return with_bias(call, view, *row);
  if (const auto* norm = view.of->as<LayerNorm>(); norm != nullptr && norm->beta.empty() && view.scale == 1) {
    return Value(same_place(call, view, LayerNorm{norm->x, norm->epsilon, norm->gamma, std::move(*row)}));
  }
  return sum(call, {view}, std::move(*row));
}

/// The epsilon of 1 / sqrt(variance + epsilon), or of the root itself.
std::optional<double> epsilon_of(const std::vector<double>& samples, bool is_inverse) {
  const auto square = [&](std::size_t i) {
    const double root = is_inverse ? 1 / samples[i] : samples[i];
    return root * root;
  };
  const std::vector<double>& points = sample_points();
  const double epsilon = square(0);
  if (!(epsilon >= 0 && epsilon <= 1)) return std::nullopt;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] >= 0 && !near(square(i), points[i] + epsilon, 1e-4)) return std::nullopt;
  }
  return epsilon;
}

/// Rows less their mean, divided by the root of their variance.
std::optional<Value> normalized_rows(const Call& call, const View& rows, const View& root, bool is_inverse) {
  const auto* centered = rows.of->as<Centered>();
  const SampledView function = sampled(root);
  const auto* variance = function.x->as<Variance>();
  const bool same = centered != nullptr && variance != nullptr && centered->x == variance->x && rows.is_plain();
  if (!same || root.map != nullptr) return std::nullopt;
  const auto epsilon = epsilon_of(function.samples, is_inverse);
  if (!epsilon) return std::nullopt;
  return Value(same_place(call, rows, LayerNorm{centered->x, *epsilon, {}, {}}));
}

Result<Value> times_constant(const Call& call, const View& given, const Constant& constant) {
  WEIR_ASSIGN_OR_RETURN(const Constant small, constant.small());
  const auto& numbers = small.numbers();
  if (const auto* scale = given.of->as<DynamicScale>()) return scaled_scale(call, given, *scale, small);
  WEIR_ASSIGN_OR_RETURN(const View view, widened(given, constant.dims()));
  if (std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 1; })) return Value(view);
  if (const auto number = small.single()) {
    if (view.of->as<Pointwise>() != nullptr) {
      return pointwise(call, Value(view), [number = *number](double x) { return x * number; });
    }
    View result = view;
    result.scale *= *number;
    return Value(result);
  }
  if (auto masked = masked_rows(call, view, small)) return *masked;
  auto row = row_of(small, view.dims);
  if (!row || view.map != nullptr || view.dims.back() != view.of->columns()) {
    return no_meaning("a product", Value(view), Value(constant));
  }
  if (const auto* norm = view.of->as<LayerNorm>(); norm != nullptr && norm->gamma.empty() && norm->beta.empty()) {
    for (double& number : *row) number *= view.scale;
    return Value(same_place(call, view, LayerNorm{norm->x, norm->epsilon, std::move(*row), {}}));
  }
  return with_column_scale(call, view, *row);
}

}  // namespace

Result<Value> pointwise(const Call& call, const Value& x, const std::function<double(double)>& f) {
  if (const auto* constant = std::get_if<Constant>(&x)) return Value(constant->mapped(constant->type(), f));
  const auto* view = std::get_if<View>(&x);
  if (view == nullptr) return unsupported("an input of no meaning");
  SampledView samples = sampled(*view);
  for (double& sample : samples.samples) sample = f(sample);
  return Value(function_of(call, *view, std::move(samples)));
}

std::optional<std::vector<double>> row_of(const Constant& constant, const Dims& dims) {
  if (dims.empty() || !constant.is_small() || broadcast_dims(constant.dims(), dims) != dims) return std::nullopt;
  const auto columns = static_cast<std::size_t>(dims.back());
  const auto& numbers = constant.numbers();
  if (numbers.size() == 1) return std::vector<double>(columns, numbers[0]);
  if (columns == 0 || constant.dims().back() != dims.back()) return std::nullopt;
  for (std::size_t i = columns; i < numbers.size(); ++i) {
    if (numbers[i] != numbers[i - columns]) return std::nullopt;
  }
  return std::vector<double>(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(columns));
}

Result<Value> layer_normed(const Call& call, const Value& x, double epsilon, const Constant* gamma,
                           const Constant* beta) {
  const auto* view = std::get_if<View>(&x);
  if (view == nullptr || !view->is_plain() || view->dims.empty()) return unsupported("a layer norm of " + kind_text(x));
  LayerNorm norm{view->of, epsilon, {}, {}};
  for (const auto& [given, row] : {std::pair{gamma, &norm.gamma}, std::pair{beta, &norm.beta}}) {
    if (given == nullptr) continue;
    const auto numbers = row_of(*given, view->dims);
    if (!numbers) return unsupported("a scale or bias of shape " + dims_text(given->dims()));
    *row = *numbers;
  }
  return Value(same_place(call, *view, std::move(norm)));
}

Result<Value> added(const Call& call, const Value& a, const Value& b) {
  const auto* left = std::get_if<View>(&a);
  const auto* right = std::get_if<View>(&b);
  const auto* left_constant = std::get_if<Constant>(&a);
  const auto* right_constant = std::get_if<Constant>(&b);
  if (left_constant != nullptr && right_constant != nullptr) {
    WEIR_ASSIGN_OR_RETURN(Constant made, combined(*left_constant, *right_constant, left_constant->type(),
                                                  [](double x, double y) { return x + y; }));
    return Value(std::move(made));
  }
  if (left != nullptr && right_constant != nullptr) return plus_constant(call, *left, *right_constant);
  if (left_constant != nullptr && right != nullptr) return plus_constant(call, *right, *left_constant);
  if (left == nullptr || right == nullptr) return no_meaning("a sum", a, b);
  if (auto both = both_sampled(call, *left, *right, [](double x, double y) { return x + y; })) return *both;
  WEIR_ASSIGN_OR_RETURN(const View wide_left, widened(*left, right->dims));
  WEIR_ASSIGN_OR_RETURN(const View wide_right, widened(*right, left->dims));
  return sum(call, {wide_left, wide_right}, {});
}

Result<Value> subtracted(const Call& call, const Value& a, const Value& b) {
  const auto* left = std::get_if<View>(&a);
  const auto* right = std::get_if<View>(&b);
  if (left != nullptr && right != nullptr) {
    const auto* mean = right->of->as<Mean>();
    if (mean != nullptr && mean->x == left->of && left->map == nullptr && right->map == nullptr &&
        left->scale == right->scale) {
      View rows = *left;
      rows.of = call.meanings().of<Centered>(left->of, left->of->dims, call.place());
      return Value(rows);
    }
    if (auto both = both_sampled(call, *left, *right, [](double x, double y) { return x - y; })) return *both;
    return no_meaning("a difference", a, b);
  }
  if (const auto* constant = std::get_if<Constant>(&b)) {
    return added(call, a, Value(constant->mapped(constant->type(), [](double x) { return -x; })));
  }
  View negative = *right;
  negative.scale = -negative.scale;
  return added(call, a, Value(negative));
}

Result<Value> multiplied(const Call& call, const Value& a, const Value& b) {
  const auto* left = std::get_if<View>(&a);
  const auto* right = std::get_if<View>(&b);
  const auto* left_constant = std::get_if<Constant>(&a);
  const auto* right_constant = std::get_if<Constant>(&b);
  if (left_constant != nullptr && right_constant != nullptr) {
    WEIR_ASSIGN_OR_RETURN(Constant made, combined(*left_constant, *right_constant, left_constant->type(),
                                                  [](double x, double y) { return x * y; }));
    return Value(std::move(made));
  }
  if (left != nullptr && right_constant != nullptr) return times_constant(call, *left, *right_constant);
  if (left_constant != nullptr && right != nullptr) return times_constant(call, *right, *left_constant);
  if (left == nullptr || right == nullptr) return no_meaning("a product", a, b);
  for (const auto& [x, y] : {std::pair{left, right}, std::pair{right, left}}) {
    if (auto rows = normalized_rows(call, *x, *y, true)) return *rows;
    if (y->of->as<DynamicScale>() != nullptr) {
      if (x->of->as<IntegerProduct>() != nullptr || x->of->as<DynamicScale>() != nullptr) return rescaled(call, *x, *y);
    }
  }
  if (auto both = both_sampled(call, *left, *right, [](double x, double y) { return x * y; })) return *both;
  return no_meaning("a product", a, b);
}

Result<Value> divided(const Call& call, const Value& a, const Value& b) {
  const auto* left = std::get_if<View>(&a);
  const auto* right = std::get_if<View>(&b);
  const auto* right_constant = std::get_if<Constant>(&b);
  if (const auto* left_constant = std::get_if<Constant>(&a)) {
    if (right_constant == nullptr) {
      WEIR_ASSIGN_OR_RETURN(const Value inverse, pointwise(call, b, [](double x) { return 1 / x; }));
      return multiplied(call, a, inverse);
    }
    const bool whole = !is_floating(left_constant->type());
    WEIR_ASSIGN_OR_RETURN(Constant made,
                          combined(*left_constant, *right_constant, left_constant->type(),
                                   [whole](double x, double y) { return whole ? std::trunc(x / y) : x / y; }));
    return Value(std::move(made));
  }
  if (left == nullptr) return no_meaning("a quotient", a, b);
  if (right_constant != nullptr) {
    if (auto pooled = mean_pooled(call, *left, *right_constant)) return *pooled;
    return multiplied(call, a, Value(right_constant->mapped(right_constant->type(), [](double x) { return 1 / x; })));
  }
  if (right == nullptr) return no_meaning("a quotient", a, b);
  if (auto rows = normalized_rows(call, *left, *right, false)) return *rows;
  if (auto vectors = unit_length(call, *left, *right)) return *vectors;
  if (auto both = both_sampled(call, *left, *right, [](double x, double y) { return x / y; })) return *both;
  return no_meaning("a quotient", a, b);
}

}  // namespace weir::recognize
