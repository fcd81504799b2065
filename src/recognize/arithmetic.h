// Sums and products of values whose meanings are known. Pure functions; any thread; errors as Call's.
#pragma once

#include <functional>
#include <optional>

#include "recognize/call.h"

namespace weir::recognize {

Result<Value> added(const Call& call, const Value& a, const Value& b);
Result<Value> subtracted(const Call& call, const Value& a, const Value& b);
Result<Value> multiplied(const Call& call, const Value& a, const Value& b);
Result<Value> divided(const Call& call, const Value& a, const Value& b);

/// A function of each element.
Result<Value> pointwise(const Call& call, const Value& x, const std::function<double(double)>& f);

/// The numbers of a constant that is the same for every row of a tensor of these dims; nothing when it is not.
std::optional<std::vector<double>> row_of(const Constant& constant, const Dims& dims);

/// A layer norm's three steps after the variance, as one.
Result<Value> layer_normed(const Call& call, const Value& x, double epsilon, const Constant* gamma,
                           const Constant* beta);

}  // namespace weir::recognize
