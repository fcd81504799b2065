#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "recognize/arithmetic.h"
#include "recognize/handlers.h"

namespace weir::recognize {
namespace {

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double relu(double x) { return std::max(x, 0.0); }
double negative(double x) { return -x; }
double reciprocal(double x) { return 1 / x; }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double softplus(double x) { return std::log1p(std::exp(x)); }
double square_root(double x) { return std::sqrt(x); }
double error_function(double x) { return std::erf(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }
double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double absolute(double x) { return std::abs(x); }
double floor_of(double x) { return std::floor(x); }
double ceiling_of(double x) { return std::ceil(x); }
double rounded(double x) { return std::nearbyint(x); }

template <double (*f)(double)>
Outputs each(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  return one(pointwise(call, *x, f));
}

template <Result<Value> (*f)(const Call&, const Value&, const Value&)>
Outputs two(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* a, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value* b, call.value(1));
  return one(f(call, *a, *b));
}

/// A function of two of which one is a single number, or both constants.
Result<Value> of_number(const Call& call, const Value& a, const Value& b, double (*f)(double, double)) {
  const auto* left = std::get_if<Constant>(&a);
  const auto* right = std::get_if<Constant>(&b);
  if (left != nullptr && right != nullptr) {
    WEIR_ASSIGN_OR_RETURN(Constant made, combined(*left, *right, left->type(), f));
    return Value(std::move(made));
  }
  if (right != nullptr && right->single()) {
    return pointwise(call, a, [f, number = *right->single()](double x) { return f(x, number); });
  }
  if (left != nullptr && left->single()) {
    return pointwise(call, b, [f, number = *left->single()](double x) { return f(number, x); });
  }
  return unsupported("a function of " + kind_text(a) + " and " + kind_text(b));
}

double power(double x, double y) { return std::pow(x, y); }
double larger(double x, double y) { return std::max(x, y); }
double smaller(double x, double y) { return std::min(x, y); }
double remainder_of_floor(double x, double y) { return y == 0 ? 0 : x - y * std::floor(x / y); }
double remainder_of_trunc(double x, double y) { return std::fmod(x, y); }

template <double (*f)(double, double)>
Outputs folded(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* first, call.value(0));
  Value result = *first;
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const Value* next, call.value(i));
    WEIR_ASSIGN_OR_RETURN(result, of_number(call, result, *next, f));
  }
  return one(std::move(result));
}

Outputs modulo(const Call& call) {
  return call.integer("fmod", 0) != 0 ? folded<remainder_of_trunc>(call) : folded<remainder_of_floor>(call);
}

Result<double> bound(const Call& call, std::string_view attribute, std::size_t index, double otherwise) {
  if (!call.has(index)) return call.number(attribute, otherwise);
  WEIR_ASSIGN_OR_RETURN(const Constant* given, call.constant(index));
  if (!given->single()) return unsupported("a bound that is no single number");
  return *given->single();
}

Outputs clip(const Call& call) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const double low, bound(call, "min", 1, -kInfinity));
  WEIR_ASSIGN_OR_RETURN(const double high, bound(call, "max", 2, kInfinity));
  return one(pointwise(call, *x, [low, high](double v) { return std::min(std::max(v, low), high); }));
}

/// The bias, where there is one, added to the first input.
Result<Value> biased(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  if (!call.has(1)) return *x;
  WEIR_ASSIGN_OR_RETURN(const Value* bias, call.value(1));
  return added(call, *x, *bias);
}

Outputs gelu_node(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value x, biased(call));
  return one(pointwise(call, x, call.text("approximate", "none") == "tanh" ? gelu_tanh : gelu));
}

Outputs fast_gelu(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value x, biased(call));
  return one(pointwise(call, x, gelu_tanh));
}

Outputs quick_gelu(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  const double alpha = call.number("alpha", 1.702);
  return one(pointwise(call, *x, [alpha](double v) { return v * sigmoid(alpha * v); }));
}

constexpr Handler kHandlers[] = {
    {"Add", two<added>},
    {"Sub", two<subtracted>},
    {"Mul", two<multiplied>},
    {"Div", two<divided>},
    {"Pow", folded<power>},
    {"Max", folded<larger>},
    {"Min", folded<smaller>},
    {"Mod", modulo},
    {"Sqrt", each<square_root>},
    {"Erf", each<error_function>},
    {"Tanh", each<hyperbolic_tangent>},
    {"Sigmoid", each<sigmoid>},
    {"Relu", each<relu>},
    {"Exp", each<exponential>},
    {"Log", each<logarithm>},
    {"Neg", each<negative>},
    {"Abs", each<absolute>},
    {"Reciprocal", each<reciprocal>},
    {"Floor", each<floor_of>},
    {"Ceil", each<ceiling_of>},
    {"Round", each<rounded>},
    {"Sign", each<sign>},
    {"Softplus", each<softplus>},
    {"Clip", clip},
    {"Gelu", gelu_node},
    {"BiasGelu", gelu_node},
    {"FastGelu", fast_gelu},
    {"QuickGelu", quick_gelu},
};

}  // namespace

std::span<const Handler> arithmetic_handlers() { return kHandlers; }

}  // namespace weir::recognize
