// Attention in fp32 on F32x16, one order of additions for every ISA: a score adds over the head's columns one by one,
// an output over the keys one by one. Include it after the
// constants of row_products.h and `constexpr int kQueryRows`, the queries that are taken together.
#pragma once

#include "kernels/attention/attention_generic.h"
#include "kernels/attention/row_products.h"

namespace weir::kernels {
namespace {

/// Multiplication in fp32.
struct Fp32Products {
  using Number = float;
  static F32x16 start(const float*, std::size_t) { return broadcast(0.0f); }
  static F32x16 load(const float* p) { return kernels::load(p); }
  static F32x16 broadcast_one(const float* p) { return broadcast(*p); }
  static F32x16 add_product(F32x16 sum, F32x16 x, F32x16 factor) { return fma(x, factor, sum); }
};

/// Up to 16 x 16 keys transposed, through copies with zeros around them.
inline void transpose_part(const HeadView& view, std::size_t j, std::size_t c, float* out, std::size_t stride) {
  const std::size_t rows = view.keys - j < kLanes ? view.keys - j : kLanes;
  const std::size_t columns = view.head_size - c < kLanes ? view.head_size - c : kLanes;
  alignas(64) float part[kLanes * kLanes];
  for (std::size_t r = 0; r < kLanes; ++r) {
    store(part + r * kLanes, r < rows ? view.key.vector_first(j + r, c, static_cast<int>(columns)) : broadcast(0.0f));
  }
  if (columns == kLanes) return transpose_16x16(part, kLanes, out, stride);
  alignas(64) float transposed[kLanes * kLanes];
  transpose_16x16(part, kLanes, transposed, kLanes);
  for (std::size_t column = 0; column < columns; ++column) {
    store(out + column * stride, load(transposed + column * kLanes));
  }
}

/// out [head_size][stride], columns from the last key's end up to the next multiple of 16 zero.
inline void transpose_keys(const HeadView& view, std::size_t stride, float* out) {
  for (std::size_t j = 0; j < view.keys; j += kLanes) {
    for (std::size_t c = 0; c < view.head_size; c += kLanes) {
      const bool whole = view.keys - j >= kLanes && view.head_size - c >= kLanes;
      float* to = out + c * stride + j;
      if (whole && view.key.bf16 == nullptr) {
        transpose_16x16(view.key.fp32 + j * view.key.stride + c, view.key.stride, to, stride);
      } else {
        transpose_part(view, j, c, to, stride);
      }
    }
  }
}

/// Rows first .. first + count of `in`, times `factor`, into contiguous rows of `stride` floats, zero beyond the
/// columns.
inline void pack_rows(const InputRows& in, std::size_t first, std::size_t count, std::size_t columns, F32x16 factor,
                      float* out, std::size_t stride) {
  for (std::size_t r = 0; r < count; ++r, out += stride) {
    std::size_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) store(out + c, mul(in.vector(first + r, c), factor));
    if (c < columns) store(out + c, mul(in.vector_first(first + r, c, static_cast<int>(columns - c)), factor));
  }
}

/// From one row of keys or scores to the next: an odd number of cache lines, so that the rows share no cache sets.
inline std::size_t row_stride(std::size_t tokens) { return (tokens + kLanes - 1) / kLanes * kLanes | kLanes; }

/// Where the intermediate values of a head lie. Values are copied: heads of a wide array share few cache sets.
struct HeadScratch {
  float* keys;    ///< [head_size][row_stride]
  float* values;  ///< [tokens][head_size rounded up to 16]
  float* query;   ///< [kQueryRows][head_size rounded up to 16]
  float* scores;  ///< [kQueryRows][row_stride]
  float* sums;    ///< [kQueryRows][head_size rounded up to 16]

  // With AttentionOptions::buckets: scores by position, for the buckets that occur in the text.
  KeyRange buckets = {0, 0};
  float* key_positions = nullptr;    ///< [tokens][buckets.size()]
  float* query_positions = nullptr;  ///< [kQueryRows][buckets.size()]
};

/// Whole vectors of buckets, from that of the last token's distance to the first token on.
inline KeyRange buckets_of_text(const AttentionOptions& options, std::size_t tokens) {
  const auto least = static_cast<std::size_t>(options.buckets[options.bucket_reach - (tokens - 1)]);
  const auto most = static_cast<std::size_t>(options.buckets[options.bucket_reach + (tokens - 1)]);
  return {least / kLanes * kLanes, most / kLanes * kLanes + kLanes};
}

/// One head's table of positions, from the first bucket of the text on.
inline Factor<float> positions_of_head(const float* table, const Attention& args, const HeadView& view,
                                       const KeyRange& buckets) {
  const std::size_t stride = args.options.position_stride;
  return {table + view.head * view.head_size * stride + buckets.begin, stride};
}

/// Each key's scores against all positions.
template <int rows = kQueryRows>
inline void score_key_positions(const Attention& args, const HeadView& view, std::size_t first, std::size_t count,
                                const HeadScratch& scratch) {
  if constexpr (rows > 1) {
    if (count != rows) return score_key_positions<rows - 1>(args, view, first, count, scratch);
  }
  const std::size_t columns = (view.head_size + kLanes - 1) / kLanes * kLanes;
  const std::size_t width = scratch.buckets.size();
  pack_rows(view.key, first, rows, view.head_size, broadcast(args.scale), scratch.query, columns);
  multiply_rows<Fp32Products, rows>({scratch.query, columns}, view.head_size,
                                    positions_of_head(args.options.position_queries, args, view, scratch.buckets),
                                    width, StoreSink{scratch.key_positions + first * width, width});
}

/// Adds to `rows` rows of scores what content and position score against each other.
template <int rows>
inline void add_position_scores(const Attention& args, const HeadView& view, std::size_t first, const KeyRange& keys,
                                const HeadScratch& scratch) {
  const AttentionOptions& options = args.options;
  const std::size_t stride = row_stride(view.tokens);
  const std::size_t width = scratch.buckets.size();
  if (options.position_keys != nullptr) {
    const std::size_t columns = (view.head_size + kLanes - 1) / kLanes * kLanes;
    multiply_rows<Fp32Products, rows>({scratch.query, columns}, view.head_size,
                                      positions_of_head(options.position_keys, args, view, scratch.buckets), width,
                                      StoreSink{scratch.query_positions, width});
  }
  for (std::size_t r = 0; r < rows; ++r) {
    float* scores = scratch.scores + r * stride;
    const std::int32_t* buckets = options.buckets + options.bucket_reach + first + r;
    for (std::size_t j = keys.begin; j < keys.end; ++j) {
      const std::size_t bucket = static_cast<std::size_t>(*(buckets - j)) - scratch.buckets.begin;
      float score = scores[j - keys.begin];
      if (options.position_keys != nullptr) score += scratch.query_positions[r * width + bucket];
      if (options.position_queries != nullptr) score += scratch.key_positions[j * width + bucket];
      scores[j - keys.begin] = score;
    }
  }
}

template <int rows = kQueryRows>
inline void attend_rows(const Attention& args, const HeadView& view, std::size_t first, std::size_t count,
                        const HeadScratch& scratch) {
  if constexpr (rows > 1) {
    if (count != rows) return attend_rows<rows - 1>(args, view, first, count, scratch);
  }
  const std::size_t stride = row_stride(view.tokens);
  const KeyRange keys = keys_of_rows(args.options, first, first + rows, view.keys);
  const std::size_t padded = (keys.size() + kLanes - 1) / kLanes * kLanes;
  const std::size_t sums_stride = (view.head_size + kLanes - 1) / kLanes * kLanes;
  pack_rows(view.query, first, rows, view.head_size, broadcast(args.scale), scratch.query, sums_stride);
  multiply_rows<Fp32Products, rows>({scratch.query, sums_stride}, view.head_size, {scratch.keys + keys.begin, stride},
                                    padded, StoreSink{scratch.scores, stride});
  if (args.options.buckets != nullptr) add_position_scores<rows>(args, view, first, keys, scratch);
  float inverse[rows];
  softmax_numerators(args, view, first, rows, keys, {scratch.scores, stride}, inverse);
  multiply_rows<Fp32Products, rows>({scratch.scores, stride}, keys.size(),
                                    {scratch.values + keys.begin * sums_stride, sums_stride}, sums_stride,
                                    StoreSink{scratch.sums, sums_stride});
  for (int r = 0; r < rows; ++r) {
    float* out = view.out + (first + r) * view.out_stride;
    const F32x16 factor = broadcast(inverse[r]);
    std::size_t c = 0;
    for (; c + kLanes <= view.head_size; c += kLanes) {
      store(out + c, mul(load(scratch.sums + r * sums_stride + c), factor));
    }
    if (c < view.head_size) {
      store_first(out + c, mul(load(scratch.sums + r * sums_stride + c), factor), static_cast<int>(view.head_size - c));
    }
  }
}

inline void attention_fp32(const Attention& args, const AttentionRange& range, float* scratch) {
  for_each_head(args, range, [&](HeadView view) {
    float* left = apply_rotation(view, args.options, scratch);
    const std::size_t stride = row_stride(view.tokens);
    const std::size_t columns = (view.head_size + kLanes - 1) / kLanes * kLanes;
    HeadScratch parts;
    parts.keys = left;
    parts.values = parts.keys + view.head_size * stride;
    parts.query = parts.values + view.tokens * columns;
    parts.scores = parts.query + kQueryRows * columns;
    parts.sums = parts.scores + kQueryRows * stride;
    transpose_keys(view, stride, parts.keys);
    pack_rows(view.value, 0, view.keys, view.head_size, broadcast(1.0f), parts.values, columns);
    if (args.options.buckets != nullptr) {
      parts.buckets = buckets_of_text(args.options, view.tokens);
      parts.query_positions = parts.sums + kQueryRows * columns;
      parts.key_positions = parts.query_positions + kQueryRows * parts.buckets.size();
      if (args.options.position_queries != nullptr) {
        for_each_block<kQueryRows>(
            view.keys, [&](std::size_t i, std::size_t rows) { score_key_positions(args, view, i, rows, parts); });
      }
    }
    for_each_block<kQueryRows>(view.tokens,
                               [&](std::size_t i, std::size_t rows) { attend_rows(args, view, i, rows, parts); });
  });
}

}  // namespace
}  // namespace weir::kernels
