// Attention in integers: queries, keys and values as bytes with a step per token and head, softmax's weights in 15
// bits.
//
//   q = step_q Q, k = step_k K, v = step_v V                |Q|, |K|, |V| <= 127
//   s[j] = scale step_q (step_k[j] <Q_i, K_j>)
//   P[j] = round(32767 e^(s[j] - max s) step_v[j] / max step_v)
//   out_i = max step_v / 32767 / sum_j e^(s[j] - max s) * sum_j P[j] V_j
//
// Sums over products are sums of integers, exact in any order: the same bits with any multiply instruction. Sums of P V
// run over 512 keys, within 32 bits, and in fp32 from one such part of a text to the next.
//
// `Form` is how one multiply instruction wants its numbers:
//
//   kMostQueries     queries that are taken together, at most 16
//   kGroups          32-bit numbers that hold 32 columns of a query or a key
//   kQueryOffset     what is added to a query's integers
//   store_columns    two vectors of sixteen columns of a query or a key, as kGroups numbers
//   fill_start       what the sums of each of the text's keys begin with
//   kKeysTogether    keys whose values, and whose weights, share 32-bit numbers: j, j + 16 and so on
//   store_values     sixteen columns of those keys as sixteen numbers
//   store_weights    64 weights as 32 numbers
//   multiply_scores  <Q, K_j> of some queries and keys, given to put_scores
//   multiply_values  sum_j P[j] V_j of some queries over some keys, given to a ValueSink
//
// Of the vectors that are stored, the low 16 bits of each lane hold the integer.
#pragma once

#include "kernels/attention/attention_generic.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kColumnsTogether = 2 * kLanes;
constexpr std::size_t kWeightsTogether = 4 * kLanes;
constexpr std::size_t kKeysOfASum = 512;  // 512 * 32767 * 127 < 2^31
constexpr float kLargestWeight = 32767.0f;
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: added, it rounds to an integer and leaves it in the low bits
constexpr float kLog2E = 1.44269504f;

inline std::size_t up_to_multiple(std::size_t n, std::size_t of) { return (n + of - 1) / of * of; }

/// Where the intermediate values of a head lie.
struct Int8Head {
  std::size_t stride = 0;     ///< of keys and scores, an odd number of cache lines
  std::size_t groups = 0;     ///< numbers that hold a query or a key
  std::size_t columns = 0;    ///< head_size rounded up to 32
  std::int32_t* queries;      ///< [tokens + 16][groups]
  float* query_units;         ///< [tokens + 16], what turns step_k <Q, K> into an exponent of two
  std::int32_t* keys;         ///< [groups][stride]
  std::int32_t* key_start;    ///< [stride], what their sums begin with
  float* key_steps;           ///< [stride]
  std::int32_t* values;       ///< [a row for each kKeysTogether / 16 keys][columns]
  float* value_steps;         ///< [stride], scaled so that weights come out as 15-bit integers
  float value_factor = 0.0f;  ///< what takes sums of weights and values back
  float* scores;              ///< [16][stride]
  float* largest;             ///< [16][16], each row's largest scores by lanes
  std::int32_t* weights;      ///< [16][weight_stride]
  std::size_t weight_stride = 0;
  float* sums;  ///< [16][columns], of weights and values
};

template <class Form>
inline Int8Head divide_int8_scratch(const HeadView& view, float* scratch) {
  const auto take = [&](std::size_t numbers) {
    float* const taken = scratch;
    scratch += numbers;
    return taken;
  };
  const auto take_integers = [&](std::size_t numbers) { return reinterpret_cast<std::int32_t*>(take(numbers)); };
  const std::size_t padded = up_to_multiple(view.tokens, kWeightsTogether);
  Int8Head head;
  head.stride = padded | kLanes;
  head.columns = up_to_multiple(view.head_size, kColumnsTogether);
  head.groups = head.columns / kColumnsTogether * Form::kGroups;
  head.weight_stride = (padded / 2) | kLanes;
  head.queries = take_integers((view.tokens + kLanes) * head.groups);
  head.query_units = take(view.tokens + kLanes);
  head.keys = take_integers(head.groups * head.stride);
  head.key_start = take_integers(head.stride);
  head.key_steps = take(head.stride);
  head.values = take_integers(padded / Form::kKeysTogether * kLanes * head.columns);
  head.value_steps = take(head.stride);
  head.scores = take(kLanes * (head.stride > head.groups ? head.stride : head.groups));
  head.largest = take(kLanes * kLanes);
  head.weights = take_integers(kLanes * head.weight_stride);
  head.sums = take(kLanes * head.columns);
  return head;
}

/// Two vectors that hold 32 columns, in an order that is that of the source.
struct Columns {
  F32x16 first, second;
};

/// Rows of a head in bf16 whose size is a multiple of 32, as most models have them.
struct WholeRows {
  const std::uint16_t* data;
  std::size_t stride;
  I32x16 pairs(std::size_t i, std::size_t c) const { return load_pairs(data + i * stride + c); }
  F32x16 vector(std::size_t i, std::size_t c) const { return from_bf16(load_u16(data + i * stride + c)); }
  Columns columns(std::size_t i, std::size_t c) const {
    const I32x16 both = pairs(i, c);
    return {from_bf16(both), from_bits(bit_and(both, broadcast_i32(static_cast<std::int32_t>(0xffff0000))))};
  }
  /// The largest magnitude of each of rows first .. first + count, up to sixteen; infinity and NaN are above all
  /// numbers.
  F32x16 largest(std::size_t first, std::size_t count, std::size_t columns) const {
    I32x16 magnitude[kLanes];
    for (std::size_t r = count; r < kLanes; ++r) magnitude[r] = broadcast_i32(0);
    for (std::size_t r = 0; r < count; ++r) {
      const I32x16 without_sign = broadcast_i32(0x7fff7fff);
      magnitude[r] = bit_and(pairs(first + r, 0), without_sign);
      for (std::size_t c = kColumnsTogether; c < columns; c += kColumnsTogether) {
        magnitude[r] = max_halves(magnitude[r], bit_and(pairs(first + r, c), without_sign));
      }
    }
    const I32x16 halves = max_halves_of_each(magnitude);
    return from_bf16(max(bit_and(halves, broadcast_i32(0xffff)), shift_right<16>(halves)));
  }
};

/// Any rows, with zeros behind the head.
struct AnyRows {
  InputRows rows;
  std::size_t head_size;
  F32x16 vector(std::size_t i, std::size_t c) const {
    if (c + kLanes <= head_size) return rows.vector(i, c);
    return c < head_size ? rows.vector_first(i, c, static_cast<int>(head_size - c)) : broadcast(0.0f);
  }
  Columns columns(std::size_t i, std::size_t c) const { return {vector(i, c), vector(i, c + kLanes)}; }
  F32x16 largest(std::size_t first, std::size_t count, std::size_t columns) const {
    I32x16 magnitude[kLanes];
    for (std::size_t r = 0; r < kLanes; ++r) {
      magnitude[r] = broadcast_i32(0);
      for (std::size_t c = 0; r < count && c < columns; c += kLanes) {
        magnitude[r] = max(magnitude[r], bits(absolute(vector(first + r, c))));
      }
    }
    return from_bits(reduce_max_of_each(magnitude));
  }
};

template <class Use>
inline void with_rows(const InputRows& rows, std::size_t head_size, Use use) {
  if (rows.bf16 != nullptr && head_size % kColumnsTogether == 0) return use(WholeRows{rows.bf16, rows.stride});
  use(AnyRows{rows, head_size});
}

/// Rows first .. first + count, up to sixteen: their steps, and in `per_unit` what makes integers of their numbers. No
/// case needs care: of a row of zeros the step is 0, NaN and infinity make their row's step NaN or infinite, and what
/// is computed with it NaN.
template <class SourceRows>
inline F32x16 steps_of_rows(const SourceRows& rows, std::size_t first, std::size_t count, std::size_t columns,
                            float sign, float* per_unit) {
  const F32x16 largest = rows.largest(first, count, columns);
  store(per_unit, div(broadcast(127.0f * sign), largest));
  return div(largest, broadcast(127.0f));
}

/// Rounded, in the low bits.
inline I32x16 integers_of(F32x16 x, F32x16 per_unit, float offset) {
  return bits(fma(x, per_unit, broadcast(kRounder + offset)));
}

/// Up to sixteen rows into out [16][groups]; returns their steps.
template <class Form, class SourceRows>
inline F32x16 quantize_rows(const SourceRows& rows, std::size_t first, std::size_t count, const Int8Head& head,
                            float sign, float offset, std::int32_t* out) {
  alignas(64) float per_unit[kLanes];
  const F32x16 steps = steps_of_rows(rows, first, count, head.columns, sign, per_unit);
  for (std::size_t r = 0; r < count; ++r) {
    const F32x16 factor = broadcast(per_unit[r]);
    for (std::size_t c = 0; c < head.columns; c += kColumnsTogether, out += Form::kGroups) {
      const Columns columns = rows.columns(first + r, c);
      Form::store_columns(out, integers_of(columns.first, factor, offset), integers_of(columns.second, factor, offset));
    }
  }
  return steps;
}

template <class Form>
inline void quantize_queries(const HeadView& view, float scale, const Int8Head& head) {
  // A unit of zero would make NaN of the minus infinity that hides a key.
  constexpr float kLeastUnit = 1e-30f;
  const F32x16 factor = broadcast(std::fabs(scale) * kLog2E);
  with_rows(view.query, view.head_size, [&](const auto& rows) {
    for (std::size_t i = 0; i < view.tokens; i += kLanes) {
      const std::size_t count = view.tokens - i < kLanes ? view.tokens - i : kLanes;
      const F32x16 steps = quantize_rows<Form>(rows, i, count, head, scale < 0.0f ? -1.0f : 1.0f, Form::kQueryOffset,
                                               head.queries + i * head.groups);
      store(head.query_units + i, max(broadcast(kLeastUnit), mul(steps, factor)));  // in this order NaN passes
    }
  });
}

/// Makes minus infinity the score of what lies behind the last key, up to the next 64: -2^30 * 1e30.
inline void hide_padding(std::size_t keys, const Int8Head& head) {
  constexpr std::int32_t kFarBelow = -(1 << 30);
  const std::size_t padded = up_to_multiple(keys, kWeightsTogether);
  for (std::size_t j = keys; j < padded; ++j) {
    head.key_start[j] = kFarBelow;
    head.key_steps[j] = 1e30f;
  }
}

template <class Form>
inline void quantize_keys(const HeadView& view, const Int8Head& head) {
  constexpr std::size_t kGroupsTogether = 8;
  std::int32_t* const rows_of_keys = reinterpret_cast<std::int32_t*>(head.scores);  // not needed yet
  with_rows(view.key, view.head_size, [&](const auto& rows) {
    for (std::size_t j = 0; j < view.keys; j += kLanes) {
      const std::size_t count = view.keys - j < kLanes ? view.keys - j : kLanes;
      store(head.key_steps + j, quantize_rows<Form>(rows, j, count, head, 1.0f, 0.0f, rows_of_keys));
      for (std::size_t g = 0; g < head.groups; g += kGroupsTogether) {
        transpose_16x8(reinterpret_cast<const float*>(rows_of_keys) + g, head.groups,
                       reinterpret_cast<float*>(head.keys) + g * head.stride + j, head.stride);
      }
    }
  });
  Form::fill_start(head, up_to_multiple(view.keys, kLanes));
  hide_padding(view.keys, head);
}

/// Makes the steps of values what weights are multiplied with, and value_factor what undoes it.
inline void scale_value_steps(std::size_t padded, Int8Head& head) {
  I32x16 greatest = broadcast_i32(0);
  for (std::size_t j = 0; j < padded; j += kLanes) greatest = max(greatest, bits(load(head.value_steps + j)));
  const std::int32_t greatest_bits = reduce_max(greatest);
  float step = 0.0f;
  __builtin_memcpy(&step, &greatest_bits, sizeof step);
  head.value_factor = step / kLargestWeight;
  const F32x16 scale = broadcast(step == 0.0f ? 0.0f : kLargestWeight / step);
  for (std::size_t j = 0; j < padded; j += kLanes) {
    store(head.value_steps + j, mul(load(head.value_steps + j), scale));
  }
}

template <class Form>
inline void quantize_values(const HeadView& view, Int8Head& head) {
  constexpr int kParts = Form::kKeysTogether / kLanes;
  std::int32_t* out = head.values;
  const auto quantize_block = [&](const auto& rows, std::size_t block) {
    alignas(64) float per_unit[kParts][kLanes];
    std::size_t count[kParts];
    for (int part = 0; part < kParts; ++part) {
      const std::size_t first = block + part * kLanes;
      count[part] = first >= view.keys ? 0 : view.keys - first < kLanes ? view.keys - first : kLanes;
      const F32x16 steps = steps_of_rows(rows, first, count[part], head.columns, 1.0f, per_unit[part]);
      store(head.value_steps + first, steps);
    }
    for (std::size_t r = 0; r < kLanes; ++r) {
      for (std::size_t c = 0; c < head.columns; c += kLanes, out += kLanes) {
        I32x16 integers[kParts];
        unroll<kParts>([&]<int part>() WEIR_INLINED {
          integers[part] = broadcast_i32(0);
          if (r >= count[part]) return;
          integers[part] = integers_of(rows.vector(block + part * kLanes + r, c), broadcast(per_unit[part][r]), 0.0f);
        });
        Form::store_values(out, integers);
      }
    }
  };
  const std::size_t padded = up_to_multiple(view.keys, Form::kKeysTogether);
  with_rows(view.value, view.head_size, [&](const auto& rows) {
    for (std::size_t block = 0; block < padded; block += Form::kKeysTogether) quantize_block(rows, block);
  });
  scale_value_steps(padded, head);
}

/// Scores of one query from 16 * count sums; `is_first`: of the first keys.
template <int count>
WEIR_INLINED inline void put_scores(const I32x16 (&sums)[count], const float* key_steps, bool is_first, float* scores,
                                    float* largest) {
  F32x16 score[count];
  unroll<count>([&]<int v>() WEIR_INLINED {
    score[v] = mul(to_f32(sums[v]), load(key_steps + v * kLanes));
    store(scores + v * kLanes, score[v]);
  });
  F32x16 greatest = score[0];
  unroll<count>([&]<int v>() WEIR_INLINED { greatest = max(score[v], greatest); });
  store(largest, is_first ? greatest : max(load(largest), greatest));
}

/// What a family adds to the scores of row i, which become numbers as softmax knows them.
inline void apply_options_to_scores(const Attention& args, const HeadView& view, std::size_t i, const KeyRange& keys,
                                    float query_unit, float* scores, float* largest) {
  const F32x16 factor = broadcast(query_unit / kLog2E);
  for (std::size_t j = 0; j < keys.size(); j += kLanes) store(scores + j, mul(load(scores + j), factor));
  apply_options(args, view, i, keys, scores);
  F32x16 greatest = broadcast(-std::numeric_limits<float>::infinity());
  for (std::size_t j = 0; j < keys.size(); j += kLanes) greatest = max(load(scores + j), greatest);
  store(largest, greatest);
}

/// 2^x for x <= 0 with an error of 7.5e-5 of itself, 2^-100 below; NaN stays NaN. Weights are rounded to 3e-5.
template <std::size_t count>
WEIR_INLINED inline void power_of_two_of_negative(F32x16 (&x)[count]) {
  constexpr int kCount = static_cast<int>(count);
  const F32x16 rounder = broadcast(kRounder);
  F32x16 shifted[count];
  F32x16 p[count];
  unroll<kCount>([&]<int i>() WEIR_INLINED { x[i] = max(broadcast(-100.0f), x[i]); });  // in this order NaN passes
  unroll<kCount>([&]<int i>() WEIR_INLINED { shifted[i] = add(x[i], rounder); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { x[i] = sub(x[i], sub(shifted[i], rounder)); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = fma(x[i], broadcast(0.0551716797f), broadcast(0.242611155f)); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = fma(x[i], p[i], broadcast(0.693260968f)); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { p[i] = fma(x[i], p[i], broadcast(0.999928057f)); });
  unroll<kCount>([&]<int i>() WEIR_INLINED { x[i] = from_bits(add(bits(p[i]), shift_left<23>(bits(shifted[i])))); });
}

/// What turns a score into an exponent of two: unit * score - peak.
struct Exponent {
  float unit;
  float peak;
};

/// Weights of 16 * count keys; `sum` gets what they are made of.
template <int count>
WEIR_INLINED inline void weigh_vectors(const float* scores, const Exponent& exponent, const float* value_steps,
                                       F32x16& sum, I32x16* weights) {
  const F32x16 unit = broadcast(exponent.unit);
  const F32x16 peak = broadcast(-exponent.peak);
  F32x16 power[count];
  unroll<count>([&]<int v>() WEIR_INLINED { power[v] = fma(load(scores + v * kLanes), unit, peak); });
  power_of_two_of_negative(power);
  unroll<count>([&]<int v>() WEIR_INLINED {
    sum = add(sum, power[v]);
    weights[v] = integers_of(power[v], load(value_steps + v * kLanes), 0.0f);
  });
}

/// A row of `vectors` vectors of scores as weights; returns the sum of what they are made of, by lanes.
template <class Form>
WEIR_INLINED inline F32x16 weigh_row(const float* scores, std::size_t vectors, const Exponent& exponent,
                                     const float* value_steps, std::int32_t* weights) {
  F32x16 sum = broadcast(0.0f);
  for (; vectors >= 4; vectors -= 4) {
    I32x16 four[4];
    weigh_vectors<4>(scores, exponent, value_steps, sum, four);
    Form::store_weights(weights, four);
    scores += kWeightsTogether;
    value_steps += kWeightsTogether;
    weights += kWeightsTogether / 2;
  }
  if (vectors == 0) return sum;
  I32x16 four[4] = {broadcast_i32(0), broadcast_i32(0), broadcast_i32(0), broadcast_i32(0)};
  if (vectors == 1) weigh_vectors<1>(scores, exponent, value_steps, sum, four);
  if (vectors == 2) weigh_vectors<2>(scores, exponent, value_steps, sum, four);
  if (vectors == 3) weigh_vectors<3>(scores, exponent, value_steps, sum, four);
  Form::store_weights(weights, four);
  return sum;
}

inline F32x16 reduce_largest(const float* largest) {
  F32x16 rows[kLanes];
  unroll<kLanes>([&]<int r>() WEIR_INLINED { rows[r] = load(largest + r * kLanes); });
  return reduce_max_of_each(rows);
}

/// Weights of rows first .. first + count from their scores; returns what sums of weights and values are multiplied
/// with.
template <class Form>
inline F32x16 weigh_rows(const Attention& args, const HeadView& view, std::size_t first, std::size_t count,
                         const KeyRange& keys, const Int8Head& head) {
  const bool plain = !has_bias(args.options) && args.options.window == 0;
  const std::size_t vectors = (keys.size() + kLanes - 1) / kLanes;
  if (!plain) {
    // Up to a whole vector: keys behind the range, which only a window has, are hidden as those within.
    const KeyRange whole = {keys.begin, keys.begin + vectors * kLanes};
    for (std::size_t r = 0; r < count; ++r) {
      apply_options_to_scores(args, view, first + r, whole, head.query_units[first + r], head.scores + r * head.stride,
                              head.largest + r * kLanes);
    }
  }
  alignas(64) float units[kLanes];
  alignas(64) float peaks[kLanes];
  const F32x16 unit = plain ? load(head.query_units + first) : broadcast(kLog2E);
  store(units, unit);
  store(peaks, mul(unit, reduce_largest(head.largest)));
  const float* const value_steps = head.value_steps + keys.begin;
  F32x16 sums[kLanes];
  for (std::size_t r = 0; r < count; ++r) {
    sums[r] = weigh_row<Form>(head.scores + r * head.stride, vectors, {units[r], peaks[r]}, value_steps,
                              head.weights + r * head.weight_stride);
  }
  for (std::size_t r = count; r < kLanes; ++r) sums[r] = sums[0];
  return div(broadcast(head.value_factor), reduce_add_of_each(sums));
}

/// Takes the weighted sums of one part of a text's keys: straight to the results, or to what other parts are added to.
struct ValueSink {
  float* out;
  std::size_t stride;
  const float* factors;  ///< null: sums are added up as they are
  bool is_first;
  ValueSink from_column(std::size_t c) const { return {out + c, stride, factors, is_first}; }
  ValueSink from_row(std::size_t r) const {
    return {out + r * stride, stride, factors == nullptr ? nullptr : factors + r, is_first};
  }
  WEIR_INLINED void put(std::size_t r, std::size_t c, I32x16 integers) const {
    float* const at = out + r * stride + c;
    const F32x16 sum = to_f32(integers);
    if (factors != nullptr) {
      store(at, mul(sum, broadcast(factors[r])));
    } else {
      store(at, is_first ? sum : add(load(at), sum));
    }
  }
};

/// The weighted sums of `keys` in parts, each in integers.
template <class Form>
inline void sum_values(std::size_t count, const KeyRange& keys, const Int8Head& head) {
  for (std::size_t begin = keys.begin; begin < keys.end;) {
    const std::size_t boundary = begin / kKeysOfASum * kKeysOfASum + kKeysOfASum;
    const std::size_t end = boundary < keys.end ? boundary : keys.end;
    Form::multiply_values(head, count, head.weights + (begin - keys.begin) / 2, {begin, end},
                          ValueSink{head.sums, head.columns, nullptr, begin == keys.begin});
    begin = end;
  }
}

template <class Form>
inline void attend_block(const Attention& args, const HeadView& view, std::size_t first, std::size_t count,
                         const Int8Head& head) {
  KeyRange keys = keys_of_rows(args.options, first, first + count, view.keys);
  keys.begin = keys.begin / kWeightsTogether * kWeightsTogether;
  Form::multiply_scores(head, first, count, keys);
  alignas(64) float factors[kLanes];
  store(factors, weigh_rows<Form>(args, view, first, count, keys, head));
  float* const out = view.out + first * view.out_stride;
  const bool is_one_part = keys.begin / kKeysOfASum == (keys.end - 1) / kKeysOfASum;
  if (is_one_part && head.columns == view.head_size) {
    return Form::multiply_values(head, count, head.weights, keys, ValueSink{out, view.out_stride, factors, true});
  }
  sum_values<Form>(count, keys, head);
  for (std::size_t r = 0; r < count; ++r) {
    const F32x16 factor = broadcast(factors[r]);
    for_each_vector(view.head_size, [&](std::size_t c, int lanes) WEIR_INLINED {
      store_lanes(out + r * view.out_stride + c, mul(load(head.sums + r * head.columns + c), factor), lanes);
    });
  }
}

/// One text and head.
template <class Form>
inline void attend_head(const Attention& args, const HeadView& view, float* scratch) {
  Int8Head head = divide_int8_scratch<Form>(view, scratch);
  quantize_queries<Form>(view, args.scale, head);
  quantize_keys<Form>(view, head);
  quantize_values<Form>(view, head);
  for_each_block<Form::kMostQueries>(
      view.tokens, [&](std::size_t first, std::size_t count) { attend_block<Form>(args, view, first, count, head); });
}

template <class Form>
inline void attention_int8(const Attention& args, const AttentionRange& range, float* scratch) {
  for_each_head(args, range, [&](HeadView view) {
    float* const left = apply_rotation(view, args.options, scratch);
    attend_head<Form>(args, view, left);
  });
}

}  // namespace
}  // namespace weir::kernels
