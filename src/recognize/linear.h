// Products with weights. Pure functions; any thread; errors as Call's.
#pragma once

#include <vector>

#include "recognize/call.h"

namespace weir::recognize {

/// a · b of two values: a linear layer, attention scores or attention's result.
Result<Value> product(const Call& call, const Value& a, const Value& b);
/// Of 8-bit numbers, their zero points taken off: a product once its scales are multiplied with it.
Result<Value> integer_product(const Call& call, const Value& a, const Value& b);

/// A linear layer's view multiplied by a number, as a linear layer. kUnsupported: of anything else.
Result<MeaningPtr> scaled_linear(const Call& call, const View& view);
Result<Value> with_bias(const Call& call, const View& view, const std::vector<double>& bias);
/// Each column of a linear layer, or of a product that becomes one, multiplied by its number.
Result<Value> with_column_scale(const Call& call, const View& view, const std::vector<double>& scale);

/// A dynamic scale times constants.
Result<Value> scaled_scale(const Call& call, const View& view, const DynamicScale& scale, const Constant& constant);
/// An integer product or another dynamic scale, times a dynamic scale.
Result<Value> rescaled(const Call& call, const View& view, const View& scale);

}  // namespace weir::recognize
