#include <utility>

#include "recognize/arithmetic.h"
#include "recognize/handlers.h"
#include "recognize/linear.h"

namespace weir::recognize {
namespace {

/// The last two axes exchanged.
Result<Value> turned(const Value& value) {
  const Dims* dims = dims_of(value);
  if (dims == nullptr || dims->size() < 2) return unsupported("a matrix of one axis");
  IndexMap permutation;
  for (std::size_t axis = 0; axis < dims->size(); ++axis) permutation.push_back(static_cast<std::int64_t>(axis));
  std::swap(permutation[dims->size() - 1], permutation[dims->size() - 2]);
  const auto selection = transposed(*dims, permutation);
  if (!selection) return unsupported("a matrix that cannot be turned");
  return selected(value, *selection);
}

Result<Value> operand(const Call& call, std::size_t index, std::string_view turn) {
  WEIR_ASSIGN_OR_RETURN(const Value* value, call.value(index));
  if (call.integer(turn, 0) == 0) return *value;
  return turned(*value);
}

Result<Value> times(const Call& call, const Value& value, double number) {
  if (number == 1) return value;
  return multiplied(call, value, Value(Constant::scalar(DataType::kFloat, number)));
}

Outputs matmul(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value a, operand(call, 0, "transA"));
  WEIR_ASSIGN_OR_RETURN(const Value b, operand(call, 1, "transB"));
  if (call.integer("transBatchA", 0) != 0 || call.integer("transBatchB", 0) != 0) return unsupported("turned batches");
  WEIR_ASSIGN_OR_RETURN(const Value made, product(call, a, b));
  return one(times(call, made, call.number("alpha", 1)));
}

Outputs gemm(const Call& call) {
  if (call.attribute("activation") != nullptr) return unsupported("a fused activation");
  WEIR_ASSIGN_OR_RETURN(const Value a, operand(call, 0, "transA"));
  WEIR_ASSIGN_OR_RETURN(const Value b, operand(call, 1, "transB"));
  WEIR_ASSIGN_OR_RETURN(const Value made, product(call, a, b));
  WEIR_ASSIGN_OR_RETURN(const Value scaled, times(call, made, call.number("alpha", 1)));
  if (!call.has(2)) return one(scaled);
  WEIR_ASSIGN_OR_RETURN(const Value* c, call.value(2));
  WEIR_ASSIGN_OR_RETURN(const Value bias, times(call, *c, call.number("beta", 1)));
  return one(added(call, scaled, bias));
}

constexpr Handler kHandlers[] = {
    {"MatMul", matmul},
    {"FusedMatMul", matmul},
    {"Gemm", gemm},
};

}  // namespace

std::span<const Handler> product_handlers() { return kHandlers; }

}  // namespace weir::recognize
