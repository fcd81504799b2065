// out[r][v] = sum over k of a[r][k] * b[k][v], a few rows by a few vectors of sixteen columns at once: both products of
// attention have this form, in fp32 and in integers. Include it after
//
//   constexpr int kScoreVectors;   vectors of sixteen keys (or of output columns) per row at once
//   constexpr int kAccumulators;   rows times vectors that fit in registers
//
// `Products` says how one of the numbers is multiplied and added: Number, start, load, broadcast_one, add_product. A
// sink takes the sums of a block; it has from_row and from_column as the factors do.
#pragma once

#include "kernels/attention/attention_generic.h"

namespace weir::kernels {
namespace {

/// b [depth][columns]; `start`: what each column's sum begins with, where Products knows such a thing.
template <class Number>
struct Factor {
  const Number* data;
  std::size_t stride;
  const Number* start = nullptr;
  Factor from_column(std::size_t c) const { return {data + c, stride, start == nullptr ? nullptr : start + c}; }
};

/// Stores the sums.
struct StoreSink {
  float* out;
  std::size_t stride;
  StoreSink from_column(std::size_t c) const { return {out + c, stride}; }
  StoreSink from_row(std::size_t r) const { return {out + r * stride, stride}; }
  template <int rows, int vectors>
  WEIR_INLINED void take(const F32x16 (&sum)[rows][vectors]) const {
    unroll<rows>([&]<int r>() WEIR_INLINED {
      unroll<vectors>([&]<int v>() WEIR_INLINED { store(out + r * stride + v * kLanes, sum[r][v]); });
    });
  }
};

template <class Products, int rows, int vectors, class Sink, class Number = typename Products::Number>
[[gnu::noinline]] void multiply_block(const RowsOf<Number>& a, std::size_t depth, const Factor<Number>& b,
                                      const Sink& sink) {
  decltype(Products::load(nullptr)) sum[rows][vectors];
  unroll<rows>([&]<int r>() WEIR_INLINED {
    unroll<vectors>([&]<int v>() WEIR_INLINED { sum[r][v] = Products::start(b.start, v * kLanes); });
  });
  const Number* b_row = b.data;
  for (std::size_t k = 0; k < depth; ++k, b_row += b.stride) {
    decltype(Products::load(nullptr)) factor[vectors];
    unroll<vectors>([&]<int v>() WEIR_INLINED { factor[v] = Products::load(b_row + v * kLanes); });
    unroll<rows>([&]<int r>() WEIR_INLINED {
      const auto x = Products::broadcast_one(a.data + r * a.stride + k);
      unroll<vectors>([&]<int v>() WEIR_INLINED { sum[r][v] = Products::add_product(sum[r][v], x, factor[v]); });
    });
  }
  sink.take(sum);
}

/// As many rows at once as there are accumulators for; those that remain then find b's rows in L1.
template <class Products, int rows, int vectors, class Sink, class Number>
inline void multiply_row_groups(const RowsOf<Number>& a, std::size_t depth, const Factor<Number>& b, const Sink& sink) {
  constexpr int kGroup = rows * vectors <= kAccumulators ? rows : kAccumulators / vectors;
  multiply_block<Products, kGroup, vectors>(a, depth, b, sink);
  if constexpr (kGroup < rows) {
    const RowsOf<Number> left = {a.row(kGroup), a.stride};
    multiply_row_groups<Products, rows - kGroup, vectors>(left, depth, b, sink.from_row(kGroup));
  }
}

template <class Products, int rows, int vectors, class Sink, class Number>
inline void multiply_vectors(const RowsOf<Number>& a, std::size_t depth, const Factor<Number>& b, std::size_t count,
                             const Sink& sink) {
  if constexpr (vectors > 1) {
    if (count != vectors) return multiply_vectors<Products, rows, vectors - 1>(a, depth, b, count, sink);
  }
  multiply_row_groups<Products, rows, vectors>(a, depth, b, sink);
}

/// sink [rows][columns] = a [rows][depth] * b [depth][columns], columns being a multiple of 16.
template <class Products, int rows, class Sink, class Number = typename Products::Number>
inline void multiply_rows(const RowsOf<Number>& a, std::size_t depth, const Factor<Number>& b, std::size_t columns,
                          const Sink& sink) {
  constexpr std::size_t kStep = static_cast<std::size_t>(kScoreVectors) * kLanes;
  for (std::size_t c = 0; c < columns; c += kStep) {
    const std::size_t left = columns - c < kStep ? columns - c : kStep;
    multiply_vectors<Products, rows, kScoreVectors>(a, depth, b.from_column(c), left / kLanes, sink.from_column(c));
  }
}

}  // namespace
}  // namespace weir::kernels
