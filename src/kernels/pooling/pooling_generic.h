// Pooling on F32x16; see pooling.h.
#pragma once

#include <cmath>

#include "kernels/pooling/pooling.h"
#include "kernels/simd/f32x16.h"
#include "kernels/simd/row.h"

namespace weir::kernels {
namespace {

/// The larger; NaN where `a` is not finite or `b` is NaN, so that a NaN seen once stays.
inline F32x16 max_or_nan(F32x16 a, F32x16 b) { return add(max(a, b), sub(a, a)); }

struct TokenRows {
  const float* first;
  std::size_t stride;
  std::size_t count;
};

template <class Combine>
inline void fold_rows(const TokenRows& rows, std::size_t columns, float* out, Combine combine) {
  for_each_vector(columns, [&](std::size_t c, int lanes) WEIR_INLINED {
    F32x16 result = load_lanes(rows.first + c, lanes);
    for (std::size_t i = 1; i < rows.count; ++i) {
      result = combine(result, load_lanes(rows.first + i * rows.stride + c, lanes));
    }
    store_lanes(out + c, result, lanes);
  });
}

inline void scale_row(float* row, std::size_t columns, float factor) {
  for_each_vector(columns, [&](std::size_t c, int lanes) WEIR_INLINED {
    store_lanes(row + c, mul(load_lanes(row + c, lanes), broadcast(factor)), lanes);
  });
}

inline void pool_rows(const TokenRows& rows, PoolingKind kind, std::size_t columns, float* out) {
  switch (kind) {
    case PoolingKind::kMean:
      fold_rows(rows, columns, out, [](F32x16 a, F32x16 b) WEIR_INLINED { return add(a, b); });
      return scale_row(out, columns, 1.0f / static_cast<float>(rows.count));
    case PoolingKind::kMax:
      return fold_rows(rows, columns, out, [](F32x16 a, F32x16 b) WEIR_INLINED { return max_or_nan(a, b); });
    case PoolingKind::kClass:
      return fold_rows({rows.first, rows.stride, 1}, columns, out, [](F32x16 a, F32x16) { return a; });
    case PoolingKind::kLast:
      return fold_rows({rows.first + (rows.count - 1) * rows.stride, rows.stride, 1}, columns, out,
                       [](F32x16 a, F32x16) { return a; });
  }
}

inline void normalize_length(float* row, std::size_t columns) {
  const float square = RowSum().over(columns, [&](F32x16 sum, std::size_t c, int lanes) WEIR_INLINED {
    const F32x16 x = load_lanes(row + c, lanes);
    return fma(x, x, sum);
  });
  if (square != 0.0f) scale_row(row, columns, 1.0f / std::sqrt(square));
}

inline void pooling_generic(const Pooling& args) {
  for (std::size_t text = args.first_text; text < args.last_text; ++text) {
    const std::size_t begin = args.offsets[text];
    const std::size_t count = args.offsets[text + 1] - begin;
    float* out = args.out + text * args.out_stride;
    if (count == 0) {
      for (std::size_t c = 0; c < args.columns; ++c) out[c] = 0.0f;
      continue;
    }
    pool_rows({args.in + begin * args.in_stride, args.in_stride, count}, args.kind, args.columns, out);
    if (args.normalize) normalize_length(out, args.columns);
  }
}

}  // namespace
}  // namespace weir::kernels
