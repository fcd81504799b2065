// Integers for instructions that multiply pairs of 16-bit numbers, and for those of VNNI, which also multiply groups of
// four bytes, the first operand's without sign. Both take their products from row_products.h; include it after that
// header's constants and `constexpr int kQueryRows`, the queries that are taken together, at most 16.
#pragma once

#include "kernels/attention/attention_int8.h"
#include "kernels/attention/int8_bytes.h"
#include "kernels/attention/row_products.h"

namespace weir::kernels {
namespace {

/// One step of a sum of integers; `Multiply` is the instruction, a function of sum, x and factor.
template <auto Multiply>
struct IntegerProducts {
  using Number = std::int32_t;
  static I32x16 load(const std::int32_t* p) { return load_i32(p); }
  static I32x16 broadcast_one(const std::int32_t* p) { return broadcast_i32(*p); }
  static I32x16 add_product(I32x16 sum, I32x16 x, I32x16 factor) { return Multiply(sum, x, factor); }
};

/// Of queries and keys: sums begin with what the key has.
template <auto Multiply>
struct ScoreProducts : IntegerProducts<Multiply> {
  static I32x16 start(const std::int32_t* start, std::size_t at) { return load_i32(start + at); }
};

/// Of weights and values.
template <auto Multiply>
struct ValueProducts : IntegerProducts<Multiply> {
  static I32x16 start(const std::int32_t*, std::size_t) { return broadcast_i32(0); }
};

/// Takes <Q, K>.
struct ScoreSink {
  float* scores;
  std::size_t stride;
  const float* key_steps;
  float* largest;
  bool is_first = true;
  ScoreSink from_column(std::size_t c) const { return {scores + c, stride, key_steps + c, largest, c == 0}; }
  ScoreSink from_row(std::size_t r) const {
    return {scores + r * stride, stride, key_steps, largest + r * kLanes, is_first};
  }
  template <int rows, int vectors>
  WEIR_INLINED void take(const I32x16 (&sum)[rows][vectors]) const {
    unroll<rows>([&]<int r>() WEIR_INLINED {
      put_scores<vectors>(sum[r], key_steps, is_first, scores + r * stride, largest + r * kLanes);
    });
  }
};

/// A ValueSink of blocks.
struct ValueBlockSink {
  ValueSink sink;
  ValueBlockSink from_column(std::size_t c) const { return {sink.from_column(c)}; }
  ValueBlockSink from_row(std::size_t r) const { return {sink.from_row(r)}; }
  template <int rows, int vectors>
  WEIR_INLINED void take(const I32x16 (&sum)[rows][vectors]) const {
    unroll<rows>([&]<int r>() WEIR_INLINED {
      unroll<vectors>([&]<int v>() WEIR_INLINED { sink.put(r, v * kLanes, sum[r][v]); });
    });
  }
};

/// Calls compute.operator()<count>() for the `count` of 1 .. most that is known at run time only.
template <int most, class Compute>
inline void with_count(std::size_t count, Compute compute) {
  if constexpr (most > 1) {
    if (count != most) return with_count<most - 1>(count, compute);
  }
  compute.template operator()<most>();
}

/// What both forms share: values and weights in pairs.
template <class OfScores, class OfValues>
struct ValuesInPairs {
  static constexpr int kMostQueries = kQueryRows;
  static constexpr std::size_t kKeysTogether = 2 * kLanes;

  static void store_values(std::int32_t* out, const I32x16 (&integers)[2]) {
    store_i32(out, join_halves(integers[0], integers[1]));
  }
  static void store_weights(std::int32_t* out, const I32x16 (&four)[4]) {
    store_i32(out, join_halves(four[0], four[1]));
    store_i32(out + kLanes, join_halves(four[2], four[3]));
  }
  static void multiply_scores(const Int8Head& head, std::size_t first, std::size_t count, const KeyRange& keys) {
    const ScoreSink sink = {head.scores, head.stride, head.key_steps + keys.begin, head.largest};
    with_count<kQueryRows>(count, [&]<int rows>() {
      multiply_rows<OfScores, rows>({head.queries + first * head.groups, head.groups}, head.groups,
                                    {head.keys + keys.begin, head.stride, head.key_start + keys.begin},
                                    up_to_multiple(keys.size(), kLanes), sink);
    });
  }
  static void multiply_values(const Int8Head& head, std::size_t count, const std::int32_t* weights,
                              const KeyRange& keys, const ValueSink& sink) {
    const std::size_t left = keys.size() % kKeysTogether;
    const std::size_t pairs = keys.size() / kKeysTogether * kLanes + (left < kLanes ? left : kLanes);
    with_count<kQueryRows>(count, [&]<int rows>() {
      multiply_rows<OfValues, rows>({weights, head.weight_stride}, pairs,
                                    {head.values + keys.begin / 2 * head.columns, head.columns}, head.columns,
                                    ValueBlockSink{sink});
    });
  }
};

/// All in pairs.
struct PairForm : ValuesInPairs<ScoreProducts<add_products_of_halves>, ValueProducts<add_products_of_halves>> {
  static constexpr std::size_t kGroups = 16;
  static constexpr float kQueryOffset = 0.0f;
  static void store_columns(std::int32_t* out, I32x16 low, I32x16 high) { store_i32(out, join_halves(low, high)); }
  static void fill_start(const Int8Head& head, std::size_t padded) {
    for (std::size_t j = 0; j < padded; j += kLanes) store_i32(head.key_start + j, broadcast_i32(0));
  }
};

/// Queries and keys in bytes, the query's offset to have no sign. `Vnni` has the two instructions dot_bytes and
/// dot_pairs.
template <class Vnni>
struct VnniForm : ValuesInPairs<ScoreProducts<Vnni::dot_bytes>, ValueProducts<Vnni::dot_pairs>> {
  static constexpr std::size_t kGroups = 8;
  static constexpr float kQueryOffset = 128.0f;
  static void store_columns(std::int32_t* out, I32x16 low, I32x16 high) { store_bytes(out, low, high); }
  /// -128 times the sum of a key's columns: what the offset adds to its products.
  static void fill_start(const Int8Head& head, std::size_t padded) {
    const I32x16 offsets = broadcast_i32(static_cast<std::int32_t>(0x80808080));
    for (std::size_t j = 0; j < padded; j += kLanes) {
      I32x16 sum = broadcast_i32(0);
      const std::int32_t* key = head.keys + j;
      for (std::size_t g = 0; g < head.groups; ++g, key += head.stride) {
        sum = Vnni::dot_bytes(sum, offsets, load_i32(key));
      }
      store_i32(head.key_start + j, sub(broadcast_i32(0), sum));
    }
  }
};

}  // namespace
}  // namespace weir::kernels
