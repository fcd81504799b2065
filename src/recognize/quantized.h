// 8-bit values back as what they stand for. Weights become the numbers they were rounded to; of activations the
// rounding is dropped, as it is no part of the model. Pure functions; any thread.
#pragma once

#include "recognize/call.h"

namespace weir::recognize {

/// Input `index` with its scale and zero point, which may be missing, at the two other places.
Result<Value> restored(const Call& call, std::size_t index, std::size_t scale, std::size_t zero_point,
                       std::int64_t axis = 1);

/// 8-bit weights less their zero point, without a scale.
Result<Value> less_zero_point(const Call& call, std::size_t index, std::size_t zero_point);

}  // namespace weir::recognize
