#include <utility>

#include "recognize/arithmetic.h"
#include "recognize/handlers.h"
#include "recognize/linear.h"
#include "recognize/quantized.h"

namespace weir::recognize {
namespace {

Result<const Constant*> optional_constant(const Call& call, std::size_t index) {
  if (!call.has(index)) return static_cast<const Constant*>(nullptr);
  return call.constant(index);
}

View with_table(const Call& call, const View& view, Embedding embedding) {
  auto meaning = call.meanings().keep(Meaning{std::move(embedding), view.of->dims, call.place()});
  return {std::move(meaning), view.dims, view.map, view.scale};
}

Outputs quantize(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  return one(*x);
}

Outputs dequantize(const Call& call) {
  if (call.integer("block_size", 0) != 0) return unsupported("weights quantized in blocks");
  return one(restored(call, 0, 1, 2, call.integer("axis", 1)));
}

Outputs dynamic_quantize(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const View* x, call.view(0));
  std::vector<Value> outputs;
  outputs.emplace_back(*x);
  outputs.emplace_back(call.make(DynamicScale{{x->of}, {1}}, {}));
  outputs.emplace_back(call.make(DynamicZeroPoint{x->of}, {}));
  return outputs;
}

/// The zero point of an activation is that of the same activation, or a number.
Status check_zero_point(const Call& call, const Value& x, std::size_t index) {
  if (!call.has(index)) return {};
  WEIR_ASSIGN_OR_RETURN(const Value* given, call.value(index));
  const auto* view = std::get_if<View>(given);
  const auto* activation = std::get_if<View>(&x);
  if (view == nullptr || activation == nullptr) return {};
  const auto* zero_point = view->of->as<DynamicZeroPoint>();
  if (zero_point != nullptr && zero_point->x == activation->of) return {};
  return unsupported("the zero point of something else than what is multiplied");
}

Result<Value> integer_operands(const Call& call, std::size_t a_zero, std::size_t b_zero) {
  WEIR_ASSIGN_OR_RETURN(const Value* a, call.value(0));
  WEIR_RETURN_IF_ERROR(check_zero_point(call, *a, a_zero));
  WEIR_ASSIGN_OR_RETURN(const Value* given, call.value(1));
  Value b = *given;
  if (std::holds_alternative<Constant>(b)) {
    WEIR_ASSIGN_OR_RETURN(b, less_zero_point(call, 1, b_zero));
  } else {
    WEIR_RETURN_IF_ERROR(check_zero_point(call, b, b_zero));
  }
  return integer_product(call, *a, b);
}

Outputs matmul_integer(const Call& call) { return one(integer_operands(call, 2, 3)); }

Result<Value> with_optional_bias(const Call& call, const Value& value, std::size_t index) {
  if (!call.has(index)) return value;
  WEIR_ASSIGN_OR_RETURN(const Value* bias, call.value(index));
  return added(call, value, *bias);
}

/// A, B, b_scale, b_zero_point, bias: A is quantized inside.
Outputs dynamic_quantize_matmul(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* a, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value b, restored(call, 1, 2, 3));
  WEIR_ASSIGN_OR_RETURN(const Value made, product(call, *a, b));
  return one(with_optional_bias(call, made, 4));
}

/// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias.
Outputs matmul_integer_to_float(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value products, integer_operands(call, 4, 5));
  WEIR_ASSIGN_OR_RETURN(const Value* a_scale, call.value(2));
  WEIR_ASSIGN_OR_RETURN(const Value* b_scale, call.value(3));
  WEIR_ASSIGN_OR_RETURN(const Value scale, multiplied(call, *a_scale, *b_scale));
  WEIR_ASSIGN_OR_RETURN(const Value made, multiplied(call, products, scale));
  return one(with_optional_bias(call, made, 6));
}

/// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
Outputs qlinear_matmul(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value a, restored(call, 0, 1, 2));
  WEIR_ASSIGN_OR_RETURN(const Value b, restored(call, 3, 4, 5));
  return one(product(call, a, b));
}

template <Result<Value> (*f)(const Call&, const Value&, const Value&)>
Outputs qlinear_two(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value a, restored(call, 0, 1, 2));
  WEIR_ASSIGN_OR_RETURN(const Value b, restored(call, 3, 4, 5));
  return one(f(call, a, b));
}

/// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C: the bias is in steps of both scales together.
Outputs qgemm(const Call& call) {
  if (call.integer("transA", 0) != 0) return unsupported("a turned first operand");
  WEIR_ASSIGN_OR_RETURN(const Value a, restored(call, 0, 1, 2));
  WEIR_ASSIGN_OR_RETURN(Value b, restored(call, 3, 4, 5, call.integer("transB", 0) != 0 ? 0 : 1));
  if (call.integer("transB", 0) != 0) {
    const auto selection = transposed(*dims_of(b), {1, 0});
    if (!selection) return unsupported("weights that are no matrix");
    WEIR_ASSIGN_OR_RETURN(b, selected(b, *selection));
  }
  WEIR_ASSIGN_OR_RETURN(const Value made, product(call, a, b));
  const double alpha = call.number("alpha", 1);
  WEIR_ASSIGN_OR_RETURN(const Value scaled, multiplied(call, made, Value(Constant::scalar(DataType::kFloat, alpha))));
  if (!call.has(6)) return one(scaled);
  WEIR_ASSIGN_OR_RETURN(const Value* a_scale, call.value(1));
  WEIR_ASSIGN_OR_RETURN(const Value* b_scale, call.value(4));
  WEIR_ASSIGN_OR_RETURN(const Value* c, call.value(6));
  WEIR_ASSIGN_OR_RETURN(const Value step, multiplied(call, *a_scale, *b_scale));
  WEIR_ASSIGN_OR_RETURN(const Value bias, multiplied(call, *c, step));
  return one(added(call, scaled, bias));
}

/// The operator itself, of the values that 8-bit ones stand for.
Outputs on_restored(const Call& call, std::string_view op, const std::vector<Value>& values) {
  std::vector<const Value*> inputs;
  inputs.reserve(values.size());
  for (const Value& value : values) inputs.push_back(&value);
  const Handler* handler = find_handler("", op);
  if (handler == nullptr) return unsupported("no such operator");
  return handler->run(Call(call, std::move(inputs)));
}

Outputs qlinear_softmax(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value x, restored(call, 0, 1, 2));
  return on_restored(call, "Softmax", {x});
}

Outputs qlinear_sigmoid(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value x, restored(call, 0, 1, 2));
  return on_restored(call, "Sigmoid", {x});
}

Outputs qlinear_reduce_mean(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value x, restored(call, 0, 1, 2));
  return on_restored(call, "ReduceMean", {x});
}

/// condition, then X and Y with scale and zero point each.
Outputs qlinear_where(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* condition, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value x, restored(call, 1, 2, 3));
  WEIR_ASSIGN_OR_RETURN(const Value y, restored(call, 4, 5, 6));
  return on_restored(call, "Where", {*condition, x, y});
}

/// y_scale, y_zero_point, then each input with its scale and zero point.
Outputs qlinear_concat(const Call& call) {
  std::vector<Value> parts;
  for (std::size_t i = 2; i + 2 < call.input_count(); i += 3) {
    WEIR_ASSIGN_OR_RETURN(Value part, restored(call, i, i + 1, i + 2));
    parts.push_back(std::move(part));
  }
  return on_restored(call, "Concat", parts);
}

constexpr Handler kHandlers[] = {
    {"QuantizeLinear", quantize},
    {"DequantizeLinear", dequantize},
    {"DynamicQuantizeLinear", dynamic_quantize},
    {"MatMulInteger", matmul_integer},
    {"DynamicQuantizeMatMul", dynamic_quantize_matmul},
    {"MatMulIntegerToFloat", matmul_integer_to_float},
    {"QLinearMatMul", qlinear_matmul},
    {"QLinearAdd", qlinear_two<added>},
    {"QLinearMul", qlinear_two<multiplied>},
    {"QGemm", qgemm},
    {"QLinearSoftmax", qlinear_softmax},
    {"QLinearSigmoid", qlinear_sigmoid},
    {"QLinearReduceMean", qlinear_reduce_mean},
    {"QLinearWhere", qlinear_where},
    {"QLinearConcat", qlinear_concat},
};

}  // namespace

Result<Value> restored(const Call& call, std::size_t index, std::size_t scale, std::size_t zero_point,
                       std::int64_t axis) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(index));
  const auto* constant = std::get_if<Constant>(value);
  const auto* view = std::get_if<View>(value);
  const auto* embedding = view != nullptr ? view->of->as<Embedding>() : nullptr;
  const bool is_quantized_table = embedding != nullptr && is_eight_bit(embedding->table.type());
  const bool is_quantized = constant != nullptr && !is_floating(constant->type());
  if (!is_quantized && !is_quantized_table) return *value;
  WEIR_ASSIGN_OR_RETURN(const Constant* scales, call.constant(scale));
  WEIR_ASSIGN_OR_RETURN(const Constant* zeros, optional_constant(call, zero_point));
  if (is_quantized) {
    WEIR_ASSIGN_OR_RETURN(Constant made, dequantized(*constant, *scales, zeros, axis));
    return Value(std::move(made));
  }
  if (!scales->single()) return unsupported("a table of several scales whose rows were taken before");
  Embedding made = *embedding;
  WEIR_ASSIGN_OR_RETURN(made.table, dequantized(embedding->table, *scales, zeros, 0));
  return Value(with_table(call, *view, std::move(made)));
}

Result<Value> less_zero_point(const Call& call, std::size_t index, std::size_t zero_point) {
  WEIR_ASSIGN_OR_RETURN(const Constant* weights, call.constant(index));
  WEIR_ASSIGN_OR_RETURN(const Constant* zeros, optional_constant(call, zero_point));
  const auto axis = static_cast<std::int64_t>(weights->dims().size()) - 1;
  WEIR_ASSIGN_OR_RETURN(Constant made, dequantized(*weights, Constant::scalar(DataType::kFloat, 1), zeros, axis));
  return Value(std::move(made));
}

std::span<const Handler> quantization_handlers() { return kHandlers; }

}  // namespace weir::recognize
