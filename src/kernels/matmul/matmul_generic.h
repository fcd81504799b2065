// A linear layer around a micro-kernel; see matmul.h. Include it after these definitions of the family and the ISA at
// hand:
//
//   using MatmulArgs;                               the family's arguments
//   using MatmulSum;                                what a micro-kernel sums in
//   constexpr bool kGeluIsCoarse;
//   const std::int32_t* correction_of(args, channel);   null where the family has none
//   load_sums(const MatmulSum*)                     sixteen sums as a vector
//   ChannelNumbers channel_numbers(args, channel);  what sixteen channels' results need of the weights
//   F32x16 linear_value(args, sums, row, const ChannelNumbers&);   sixteen finished products with their bias
//   constexpr std::size_t kTileRows, kTilePanels;   what a micro-kernel computes at once
//   constexpr bool kTilesAreConfigured;             whether configure_tiles(rows) must be told the rows of a tile
//   void configure_tiles(std::size_t rows); void release_tiles();
//   void tile_products(const MatmulTile<MatmulArgs>&, MatmulSum* sums);    writes sums[tile.rows][kTilePanels * 16]
//   constexpr bool kSumsInRegisters;                whether there is the following, too
//   template <int rows, int panels, class End> void multiply_tile(tile, End end);
//                                                   end(sums_of): sums_of.operator()<r, p>() are sixteen sums as a
//                                                   vector
#pragma once

#include "kernels/bf16/bf16_rows_generic.h"
#include "kernels/layer_norm/layer_norm_generic.h"
#include "kernels/matmul/blocking.h"
#include "kernels/matmul/dispatch_tile.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/tile.h"
#include "kernels/quantize/quantize_generic.h"
#include "kernels/simd/activation_math.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

template <Activation activation, std::size_t count>
WEIR_INLINED inline void activate(F32x16 (&y)[count]) {
  constexpr int kCount = static_cast<int>(count);
  if constexpr (activation == Activation::kGeluErf && kGeluIsCoarse) gelu_erf_coarse(y);
  if constexpr (activation == Activation::kGeluErf && !kGeluIsCoarse) {
    unroll<kCount>([&]<int i>() WEIR_INLINED { y[i] = gelu_erf(y[i]); });
  }
  if constexpr (activation == Activation::kGeluTanh) unroll<kCount>([&]<int i>() { y[i] = gelu_tanh(y[i]); });
  if constexpr (activation == Activation::kTanh) unroll<kCount>([&]<int i>() { y[i] = hyperbolic_tangent(y[i]); });
  if constexpr (activation == Activation::kSilu) unroll<kCount>([&]<int i>() { y[i] = silu(y[i]); });
  if constexpr (activation == Activation::kRelu) {  // in this order a NaN stays NaN
    unroll<kCount>([&]<int i>() WEIR_INLINED { y[i] = max(broadcast(0.0f), y[i]); });
  }
}

WEIR_INLINED inline LaneBounds load_bounds(const std::int32_t* stored) {
  return {load_i32(stored), load_i32(stored + kLanes)};
}

WEIR_INLINED inline void store_bounds(std::int32_t* stored, const LaneBounds& bounds) {
  store_i32(stored, bounds.greatest);
  store_i32(stored + kLanes, bounds.least);
}

/// Where the values of a tile go, and what has been seen of their bounds.
struct TileTarget {
  float* values = nullptr;
  std::uint16_t* halves = nullptr;  ///< instead of `values`
  std::size_t stride = 0;
  std::int32_t* bounds = nullptr;  ///< [rows][2][16], see store_bounds; null: not wanted
  std::size_t channels = 0;        ///< that exist, of the tile's panels * 16
};

/// Vectors whose activation is computed side by side: enough to hide the latency of its chain of operations.
constexpr std::size_t kFinishedVectors = 4;

/// The vectors of some rows of a tile as bf16, from row `first` on.
template <std::size_t panels, std::size_t vectors>
WEIR_INLINED inline void store_halves(const F32x16 (&y)[vectors], const TileTarget& target, std::size_t first,
                                      int lanes) {
  unroll<static_cast<int>(vectors)>([&]<int v>() WEIR_INLINED {
    std::uint16_t* out = target.halves + (first + v / panels) * target.stride + v % panels * kLanes;
    if (v % panels + 1 < panels || lanes == kLanes) {
      store_u16(out, to_bf16(y[v]));
    } else {
      store_u16_first(out, to_bf16(y[v]), lanes);
    }
  });
}

/// Bias and activation of `rows` rows of a tile's sums from row `first` on. `lanes` says how many
/// channels its last panel has.
template <Activation activation, bool narrow, std::size_t panels, std::size_t rows>
WEIR_INLINED inline void finish_rows_of_tile(const MatmulArgs& args, const MatmulTile<MatmulArgs>& tile,
                                             const MatmulSum* sums, const TileTarget& target, std::size_t first,
                                             int lanes) {
  constexpr int kVectors = static_cast<int>(rows * panels);
  F32x16 y[kVectors];
  unroll<kVectors>([&]<int v>() WEIR_INLINED {
    constexpr std::size_t kPanel = v % panels;
    const std::size_t row = first + v / panels;
    const std::size_t channel = tile.first_channel + kPanel * kLanes;
    y[v] = linear_value(args, load_sums(sums + (row * kTilePanels + kPanel) * kLanes), tile.first_row + row,
                        channel_numbers(args, channel));
  });
  activate<activation>(y);
  if constexpr (narrow) return store_halves<panels>(y, target, first, lanes);
  unroll<kVectors>([&]<int v>() WEIR_INLINED {
    float* out = target.values + (first + v / panels) * target.stride + v % panels * kLanes;
    if (v % panels + 1 < panels || lanes == kLanes) {
      store(out, y[v]);
    } else {
      store_first(out, y[v], lanes);
      y[v] = keep_first(y[v], lanes);
    }
  });
  if (target.bounds == nullptr) return;
  unroll<static_cast<int>(rows)>([&]<int r>() WEIR_INLINED {
    std::int32_t* stored = target.bounds + (first + r) * 2 * kLanes;
    LaneBounds bounds = load_bounds(stored);
    unroll<static_cast<int>(panels)>([&]<int p>()
                                         WEIR_INLINED { include(bounds, y[r * static_cast<int>(panels) + p]); });
    store_bounds(stored, bounds);
  });
}

template <Activation activation, bool narrow, std::size_t panels = kTilePanels>
inline void finish_tile(const MatmulArgs& args, const MatmulTile<MatmulArgs>& tile, const MatmulSum* sums,
                        const TileTarget& target) {
  if constexpr (panels > 1) {
    if (tile.panels != panels) return finish_tile<activation, narrow, panels - 1>(args, tile, sums, target);
  }
  const int partial = static_cast<int>(target.channels % kLanes);
  const int lanes = partial == 0 ? kLanes : partial;
  constexpr std::size_t kRows = kFinishedVectors / panels;
  std::size_t r = 0;
  for (; r + kRows <= tile.rows; r += kRows) {
    finish_rows_of_tile<activation, narrow, panels, kRows>(args, tile, sums, target, r, lanes);
  }
  for (; r < tile.rows; ++r) finish_rows_of_tile<activation, narrow, panels, 1>(args, tile, sums, target, r, lanes);
}

/// A tile of whole panels whose products need nothing but their bias, finished in the registers that they were summed
/// in. Sums that pass through memory cost three times as much where a store of 64 bytes takes two cycles.
template <bool narrow, int rows>
[[gnu::noinline]] void linear_tile_sized(const MatmulArgs& args, const MatmulTile<MatmulArgs>& tile,
                                         const TileTarget& target) {
  multiply_tile<rows, static_cast<int>(kTilePanels)>(tile, [&](auto sums_of) WEIR_INLINED {
    unroll<static_cast<int>(kTilePanels)>([&]<int p>() WEIR_INLINED {
      const ChannelNumbers channels = channel_numbers(args, tile.first_channel + p * kLanes);
      unroll<rows>([&]<int r>() WEIR_INLINED {
        const F32x16 y = linear_value(args, sums_of.template operator()<r, p>(), tile.first_row + r, channels);
        const std::size_t at = r * target.stride + p * kLanes;
        if constexpr (narrow) {
          store_u16(target.halves + at, to_bf16(y));
        } else {
          store(target.values + at, y);
        }
      });
    });
  });
}

template <bool narrow>
inline void linear_tile(const MatmulArgs& args, const MatmulTile<MatmulArgs>& tile, const TileTarget& target) {
  dispatch_rows<static_cast<int>(kTileRows)>(tile,
                                             [&]<int rows>() { linear_tile_sized<narrow, rows>(args, tile, target); });
}

inline MatmulTile<MatmulArgs> tile_at(const MatmulArgs& args, std::size_t row, IndexRange rows, std::size_t panel,
                                      std::size_t last_panel) {
  const auto& weights = args.weights;
  MatmulTile<MatmulArgs> tile;
  tile.activations = args.activations + row * args.activation_stride;
  tile.activation_stride = args.activation_stride;
  tile.first_row = row;
  tile.rows = rows.end - row < kTileRows ? rows.end - row : kTileRows;
  tile.weights = weights.values + panel * weights.panel_size();
  tile.panel_size = weights.panel_size();
  tile.panels = last_panel - panel < kTilePanels ? last_panel - panel : kTilePanels;
  tile.first_channel = panel * kPanelChannels;
  tile.padded_inputs = weights.padded_inputs();
  tile.correction = correction_of(args, tile.first_channel);
  // The tiles that share these panels fetch the next panels together. Past the last one lies another layer's weights or
  // nothing; prefetching what does not exist does nothing.
  constexpr std::size_t kLineBytes = 64;
  const std::size_t lines = kTilePanels * tile.panel_size * sizeof(*tile.weights) / kLineBytes;
  const std::size_t tiles = (rows.end - rows.begin + kTileRows - 1) / kTileRows;
  const std::size_t index = (row - rows.begin) / kTileRows;
  const std::size_t first = lines * index / tiles;
  tile.prefetch = reinterpret_cast<const char*>(tile.weights + kTilePanels * tile.panel_size) + first * kLineBytes;
  tile.prefetch_lines = lines * (index + 1) / tiles - first;
  return tile;
}

/// Where the products of some rows go; the first row comes first.
struct ProductRows {
  UnfinishedRows fp32;
  std::uint16_t* halves = nullptr;  ///< instead of fp32, as far apart
  std::int32_t* bounds = nullptr;   ///< [rows][2][16], see store_bounds; null: not wanted

  ProductRows from(std::size_t row) const {
    const std::size_t offset = row * fp32.stride;
    if (halves != nullptr) return {{nullptr, fp32.stride}, halves + offset, nullptr};
    return {{fp32.values + offset, fp32.stride}, nullptr, bounds == nullptr ? nullptr : bounds + row * 2 * kLanes};
  }
  TileTarget tile(std::size_t row, std::size_t channel, std::size_t channels) const {
    const ProductRows rows = from(row);
    if (halves != nullptr) return {nullptr, rows.halves + channel, fp32.stride, nullptr, channels};
    return {rows.fp32.values + channel, nullptr, fp32.stride, rows.bounds, channels};
  }
};

/// All tiles of some rows and panels, for rows that all tiles (but perhaps the last) fill.
template <Activation activation, bool narrow>
inline void products_of(const MatmulArgs& args, IndexRange rows, IndexRange panels, const ProductRows& out) {
  alignas(64) MatmulSum sums[kTileRows * kTilePanels * kLanes];
  for (std::size_t panel = panels.begin; panel < panels.end; panel += kTilePanels) {
    for (std::size_t row = rows.begin; row < rows.end; row += kTileRows) {
      const MatmulTile<MatmulArgs> tile = tile_at(args, row, rows, panel, panels.end);
      const std::size_t left = args.weights.channels - tile.first_channel;
      const std::size_t channels = left < tile.panels * kLanes ? left : tile.panels * kLanes;
      const TileTarget target = out.tile(row - rows.begin, tile.first_channel, channels);
      if constexpr (activation == Activation::kNone && kSumsInRegisters) {
        if (channels == kTilePanels * kLanes && target.bounds == nullptr) {
          linear_tile<narrow>(args, tile, target);
          continue;
        }
      }
      tile_products(tile, sums);
      finish_tile<activation, narrow>(args, tile, sums, target);
    }
  }
}

template <Activation activation, bool narrow>
inline void products_configured(const MatmulArgs& args, IndexRange rows, IndexRange panels, const ProductRows& out) {
  if constexpr (!kTilesAreConfigured) {
    return products_of<activation, narrow>(args, rows, panels, out);
  }
  const std::size_t count = rows.end - rows.begin;
  const std::size_t whole = count / kTileRows * kTileRows;
  if (whole != 0) {
    configure_tiles(kTileRows);
    products_of<activation, narrow>(args, {rows.begin, rows.begin + whole}, panels, out);
  }
  if (whole != count) {
    configure_tiles(count - whole);
    products_of<activation, narrow>(args, {rows.begin + whole, rows.end}, panels, out.from(whole));
  }
  release_tiles();
}

template <Activation activation>
inline void products_activated(const MatmulArgs& args, IndexRange rows, IndexRange panels, const ProductRows& out) {
  if (out.halves != nullptr) return products_configured<activation, true>(args, rows, panels, out);
  products_configured<activation, false>(args, rows, panels, out);
}

inline void products_tracked(const MatmulArgs& args, IndexRange rows, IndexRange panels, const ProductRows& out) {
  switch (args.gated ? Activation::kNone : args.activation) {
    case Activation::kNone:
      return products_activated<Activation::kNone>(args, rows, panels, out);
    case Activation::kGeluErf:
      return products_activated<Activation::kGeluErf>(args, rows, panels, out);
    case Activation::kGeluTanh:
      return products_activated<Activation::kGeluTanh>(args, rows, panels, out);
    case Activation::kSilu:
      return products_activated<Activation::kSilu>(args, rows, panels, out);
    case Activation::kRelu:
      return products_activated<Activation::kRelu>(args, rows, panels, out);
    case Activation::kTanh:
      return products_activated<Activation::kTanh>(args, rows, panels, out);
  }
}

/// out = activation(in[0 .. columns)) * in[columns .. 2 * columns); returns the bounds of the result.
template <Activation activation>
inline RowBounds gate_row(const float* in, float* out, std::size_t columns) {
  constexpr int kTogether = 4;
  constexpr std::size_t kStep = std::size_t{kTogether} * kLanes;
  const float* passed = in + columns;
  LaneBounds bounds = zero_bounds();
  std::size_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    F32x16 y[kTogether];
    unroll<kTogether>([&]<int v>() WEIR_INLINED { y[v] = load(in + c + v * kLanes); });
    activate<activation>(y);
    unroll<kTogether>([&]<int v>() WEIR_INLINED {
      y[v] = mul(y[v], load(passed + c + v * kLanes));
      include(bounds, y[v]);
      store(out + c + v * kLanes, y[v]);
    });
  }
  for_each_vector(columns - c, [&](std::size_t i, int lanes) WEIR_INLINED {
    F32x16 y[1] = {load_lanes(in + c + i, lanes)};
    activate<activation>(y);
    y[0] = mul(y[0], load_lanes(passed + c + i, lanes));
    include(bounds, y[0]);
    store_lanes(out + c + i, y[0], lanes);
  });
  return reduce(bounds);
}

inline RowBounds gate_row(Activation activation, const NormalizedRow& row, std::size_t columns) {
  switch (activation) {
    case Activation::kNone:
      return gate_row<Activation::kNone>(row.in, row.out, columns);
    case Activation::kGeluErf:
      return gate_row<Activation::kGeluErf>(row.in, row.out, columns);
    case Activation::kGeluTanh:
      return gate_row<Activation::kGeluTanh>(row.in, row.out, columns);
    case Activation::kSilu:
      return gate_row<Activation::kSilu>(row.in, row.out, columns);
    case Activation::kRelu:
      return gate_row<Activation::kRelu>(row.in, row.out, columns);
    case Activation::kTanh:
      return gate_row<Activation::kTanh>(row.in, row.out, columns);
  }
  return {};
}

/// Results per row.
inline std::size_t result_columns(const MatmulArgs& args) {
  return args.gated ? args.weights.channels / 2 : args.weights.channels;
}

/// out = in + residual; returns the bounds of the result.
inline RowBounds add_residual_row(const NormalizedRow& row, std::size_t columns) {
  LaneBounds bounds = zero_bounds();
  for_each_vector(columns, [&](std::size_t c, int lanes) WEIR_INLINED {
    const F32x16 y = add(load_lanes(row.in + c, lanes), load_lanes(row.residual + c, lanes));
    include(bounds, y);
    store_lanes(row.out + c, y, lanes);
  });
  return reduce(bounds);
}

/// Gate, residual and layer norm of up to kRowsTogether rows, and their bounds where they are quantized next. `seen`
/// are the bounds that the products left, or null.
inline void finish_values(const MatmulArgs& args, const NormalizedRow* rows, std::size_t count,
                          const std::int32_t* seen, RowBounds* bounds) {
  const std::size_t columns = result_columns(args);
  if (args.layer_norm != nullptr) return normalize_rows(rows, count, *args.layer_norm, columns, bounds);
  for (std::size_t r = 0; r < count; ++r) {
    if (args.gated) {
      bounds[r] = gate_row(args.activation, rows[r], columns);
    } else if (args.residual != nullptr) {
      bounds[r] = add_residual_row(rows[r], columns);
    } else if (args.quantized != nullptr) {
      bounds[r] = seen != nullptr ? reduce(load_bounds(seen + r * 2 * kLanes)) : row_bounds(rows[r].out, columns);
    }
  }
}

/// Gate, residual, layer norm and narrow results of rows; `seen` are the bounds that the products left, or null.
inline void finish_tracked(const MatmulArgs& args, IndexRange range, UnfinishedRows in, const std::int32_t* seen) {
  const std::size_t columns = result_columns(args);
  const bool in_place = args.out == nullptr || products_are_the_result(args);
  for (std::size_t first = range.begin; first < range.end; first += kRowsTogether) {
    const std::size_t count = range.end - first < kRowsTogether ? range.end - first : kRowsTogether;
    const std::size_t offset = first - range.begin;
    NormalizedRow rows[kRowsTogether];
    for (std::size_t r = 0; r < count; ++r) {
      float* y = in.values + (offset + r) * in.stride;
      rows[r].in = y;
      if (args.residual != nullptr) rows[r].residual = args.residual + (first + r) * args.residual_stride;
      rows[r].out = in_place ? y : args.out + (first + r) * args.out_stride;
    }
    RowBounds bounds[kRowsTogether];
    finish_values(args, rows, count, seen == nullptr ? nullptr : seen + offset * 2 * kLanes, bounds);
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t row = first + r;
      if (args.out_bf16 != nullptr) bf16_row(rows[r].out, columns, args.out_bf16 + row * args.out_bf16_stride);
      if (args.quantized == nullptr) continue;
      args.quantized_scale[row] =
          quantize_row(rows[r].out, columns, bounds[r], args.quantized + row * args.quantized_stride);
    }
  }
}

/// Products whose bf16 rows are the result, rows `rows.begin` ... of args.out_bf16.
inline void run_bf16(const MatmulArgs& args, IndexRange block, IndexRange panels) {
  std::uint16_t* first = args.out_bf16 + block.begin * args.out_bf16_stride;
  products_tracked(args, block, panels, {{nullptr, args.out_bf16_stride}, first, nullptr});
  for (std::size_t r = 0; r < block.end - block.begin; ++r) {
    pad_bf16_row(first + r * args.out_bf16_stride, args.weights.channels);
  }
}

/// Rows of a block; `is_finished_at_once`: nothing is left to do to its products.
inline std::size_t block_rows(const MatmulArgs& args, bool is_finished_at_once) {
  const std::size_t weights_bytes = args.weights.panels() * args.weights.panel_size() * sizeof(*args.weights.values);
  if (weights_bytes <= kCachedWeightsBytes) return kBlockRows;
  if constexpr (!kTilesAreConfigured) return kLargeBlockRows;
  return is_finished_at_once ? kLargeAmxFinishedRows : kLargeAmxBlockRows;
}

inline void run_generic(const MatmulArgs& args, IndexRange rows, float* scratch) {
  const IndexRange panels = {0, args.weights.panels()};
  const bool direct = products_are_the_result(args);
  const bool narrow = bf16_products_are_the_result(args);
  const bool plain = direct && args.out_bf16 == nullptr && args.quantized == nullptr;
  const std::size_t step = block_rows(args, narrow || plain);
  const bool track = args.quantized != nullptr && !args.gated && args.residual == nullptr && args.layer_norm == nullptr;
  std::int32_t* bounds = track ? reinterpret_cast<std::int32_t*>(scratch) : nullptr;
  float* block_values = scratch + kMostScratchRows * 2 * kLanes;
  for (std::size_t row = rows.begin; row < rows.end; row += step) {
    const IndexRange block = {row, rows.end - row < step ? rows.end : row + step};
    if (narrow) {
      run_bf16(args, block, panels);
      continue;
    }
    const UnfinishedRows unfinished = direct ? UnfinishedRows{args.out + row * args.out_stride, args.out_stride}
                                             : UnfinishedRows{block_values, args.weights.padded_channels()};
    if (track) {
      for (std::size_t r = 0; r < block.end - block.begin; ++r) store_bounds(bounds + r * 2 * kLanes, zero_bounds());
    }
    products_tracked(args, block, panels, {unfinished, nullptr, bounds});
    finish_tracked(args, block, unfinished, bounds);
  }
}

}  // namespace
}  // namespace weir::kernels

/// Defines the three functions that the family's select.cc names for a variant.
#define WEIR_MATMUL_VARIANT(family, name)                                                                         \
  namespace weir::kernels {                                                                                       \
  void family##_run_##name(const MatmulArgs&, IndexRange, float*);                                                \
  void family##_products_##name(const MatmulArgs&, IndexRange, IndexRange, UnfinishedRows);                       \
  void family##_finish_##name(const MatmulArgs&, IndexRange, UnfinishedRows);                                     \
  void family##_run_##name(const MatmulArgs& args, IndexRange rows, float* scratch) {                             \
    run_generic(args, rows, scratch);                                                                             \
  }                                                                                                               \
  void family##_products_##name(const MatmulArgs& args, IndexRange rows, IndexRange panels, UnfinishedRows out) { \
    products_tracked(args, rows, panels, {out, nullptr, nullptr});                                                \
  }                                                                                                               \
  void family##_finish_##name(const MatmulArgs& args, IndexRange rows, UnfinishedRows in) {                       \
    finish_tracked(args, rows, in, nullptr);                                                                      \
  }                                                                                                               \
  } /* namespace weir::kernels */
