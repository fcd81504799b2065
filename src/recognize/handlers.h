// What each operator makes of its inputs' values. A table per group of operators; all take any domain that has them.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string_view>

#include "recognize/call.h"

namespace weir::recognize {

struct Handler {
  std::string_view op;
  Outputs (*run)(const Call&);
};

/// Elements moved, not changed; embeddings are looked up among these (Gather).
std::span<const Handler> shape_handlers();
/// Numbers made of shapes and numbers.
std::span<const Handler> index_handlers();
/// Functions of each element or of two.
std::span<const Handler> arithmetic_handlers();
/// Comparisons, logic, Where.
std::span<const Handler> logic_handlers();
/// Sums, means, norms, softmax.
std::span<const Handler> reduction_handlers();
/// Products with weights and in attention.
std::span<const Handler> product_handlers();
/// 8-bit numbers and their scales.
std::span<const Handler> quantization_handlers();
/// ONNX Runtime's operators that hold a piece of an encoder.
std::span<const Handler> fused_handlers();

/// Null: an operator that nothing is known of.
const Handler* find_handler(std::string_view domain, std::string_view op);

}  // namespace weir::recognize
