// matmul_q8 around a micro-kernel; see matmul_q8.h. Include it after these definitions of the ISA at hand:
//
//   constexpr std::size_t kTileRows, kTilePanels;   what a micro-kernel computes at once
//   constexpr bool kTilesAreConfigured;             whether configure_tiles(rows) must be told the rows of a tile
//   void configure_tiles(std::size_t rows); void release_tiles();
//   void tile_products(const Tile&, std::int32_t* sums);    writes sums[tile.rows][kTilePanels * 16]
#pragma once

#include "kernels/layer_norm/layer_norm_generic.h"
#include "kernels/matmul_q8/blocking.h"
#include "kernels/matmul_q8/matmul_q8.h"
#include "kernels/matmul_q8/tile.h"
#include "kernels/quantize/quantize_generic.h"
#include "kernels/simd/activation_math.h"
#include "kernels/simd/unroll.h"

namespace weir::kernels {
namespace {

template <Activation activation, std::size_t count>
WEIR_INLINED inline void activate(F32x16 (&y)[count]) {
  constexpr int kCount = static_cast<int>(count);
  if constexpr (activation == Activation::kGeluErf) gelu_erf_coarse(y);
  if constexpr (activation == Activation::kGeluTanh) unroll<kCount>([&]<int i>() { y[i] = gelu_tanh(y[i]); });
  if constexpr (activation == Activation::kSilu) unroll<kCount>([&]<int i>() { y[i] = silu(y[i]); });
  if constexpr (activation == Activation::kRelu) {  // in this order a NaN stays NaN
    unroll<kCount>([&]<int i>() WEIR_INLINED { y[i] = max(broadcast(0.0f), y[i]); });
  }
}

/// Where the values of a tile go, and what has been seen of their magnitudes.
struct TileTarget {
  float* values = nullptr;
  std::size_t stride = 0;
  std::int32_t* peaks = nullptr;  ///< [rows][16] bits of the largest magnitudes so far; null: not wanted
  std::size_t channels = 0;       ///< that exist, of the tile's panels * 16
};

/// Vectors whose activation is computed side by side: enough to hide the latency of its chain of operations.
constexpr std::size_t kFinishedVectors = 4;

/// Dequantization, bias and activation of `rows` rows of a tile's sums from row `first` on. `lanes` says how many
/// channels its last panel has.
template <Activation activation, std::size_t panels, std::size_t rows>
WEIR_INLINED inline void finish_rows_of_tile(const MatmulQ8& args, const Tile& tile, const std::int32_t* sums,
                                             const TileTarget& target, std::size_t first, int lanes) {
  constexpr int kVectors = static_cast<int>(rows * panels);
  F32x16 y[kVectors];
  unroll<kVectors>([&]<int v>() WEIR_INLINED {
    constexpr std::size_t kPanel = v % panels;
    const std::size_t row = first + v / panels;
    const std::size_t channel = tile.first_channel + kPanel * kLanes;
    const F32x16 dot = to_f32(load_i32(sums + (row * kTilePanels + kPanel) * kLanes));
    y[v] = fma(mul(dot, load(args.weights.scale + channel)), broadcast(args.activation_scale[tile.first_row + row]),
               load(args.weights.bias + channel));
  });
  activate<activation>(y);
  unroll<kVectors>([&]<int v>() WEIR_INLINED {
    float* out = target.values + (first + v / panels) * target.stride + v % panels * kLanes;
    if (v % panels + 1 < panels || lanes == kLanes) {
      store(out, y[v]);
    } else {
      store_first(out, y[v], lanes);
      y[v] = keep_first(y[v], lanes);
    }
  });
  if (target.peaks == nullptr) return;
  unroll<static_cast<int>(rows)>([&]<int r>() WEIR_INLINED {
    std::int32_t* row_peaks = target.peaks + (first + r) * kLanes;
    I32x16 peak = load_i32(row_peaks);
    unroll<static_cast<int>(panels)>(
        [&]<int p>() WEIR_INLINED { peak = max(peak, magnitude_bits(y[r * static_cast<int>(panels) + p])); });
    store_i32(row_peaks, peak);
  });
}

template <Activation activation, std::size_t panels = kTilePanels>
inline void finish_tile(const MatmulQ8& args, const Tile& tile, const std::int32_t* sums, const TileTarget& target) {
  if constexpr (panels > 1) {
    if (tile.panels != panels) return finish_tile<activation, panels - 1>(args, tile, sums, target);
  }
  const int partial = static_cast<int>(target.channels % kLanes);
  const int lanes = partial == 0 ? kLanes : partial;
  constexpr std::size_t kRows = kFinishedVectors / panels;
  std::size_t r = 0;
  for (; r + kRows <= tile.rows; r += kRows) {
    finish_rows_of_tile<activation, panels, kRows>(args, tile, sums, target, r, lanes);
  }
  for (; r < tile.rows; ++r) finish_rows_of_tile<activation, panels, 1>(args, tile, sums, target, r, lanes);
}

inline Tile tile_at(const MatmulQ8& args, std::size_t row, std::size_t last_row, std::size_t panel,
                    std::size_t last_panel) {
  const PackedWeightsQ8& weights = args.weights;
  Tile tile;
  tile.activations = args.activations + row * args.activation_stride;
  tile.activation_stride = args.activation_stride;
  tile.first_row = row;
  tile.rows = last_row - row < kTileRows ? last_row - row : kTileRows;
  tile.weights = weights.values + panel * weights.panel_bytes();
  tile.panel_bytes = weights.panel_bytes();
  tile.panels = last_panel - panel < kTilePanels ? last_panel - panel : kTilePanels;
  tile.first_channel = panel * kPanelChannels;
  tile.correction = weights.correction + tile.first_channel;
  tile.padded_inputs = weights.padded_inputs();
  return tile;
}

/// All tiles of some rows and panels, for rows that all tiles (but perhaps the last) fill.
template <Activation activation>
inline void products_of(const MatmulQ8& args, IndexRange rows, IndexRange panels, UnfinishedRows out,
                        std::int32_t* peaks) {
  alignas(64) std::int32_t sums[kTileRows * kTilePanels * kLanes];
  for (std::size_t panel = panels.begin; panel < panels.end; panel += kTilePanels) {
    for (std::size_t row = rows.begin; row < rows.end; row += kTileRows) {
      const Tile tile = tile_at(args, row, rows.end, panel, panels.end);
      tile_products(tile, sums);
      const std::size_t left = args.weights.channels - tile.first_channel;
      const std::size_t offset = row - rows.begin;
      finish_tile<activation>(args, tile, sums,
                              {out.values + offset * out.stride + tile.first_channel, out.stride,
                               peaks == nullptr ? nullptr : peaks + offset * kLanes,
                               left < tile.panels * kLanes ? left : tile.panels * kLanes});
    }
  }
}

template <Activation activation>
inline void products_activated(const MatmulQ8& args, IndexRange rows, IndexRange panels, UnfinishedRows out,
                               std::int32_t* peaks) {
  if constexpr (!kTilesAreConfigured) {
    return products_of<activation>(args, rows, panels, out, peaks);
  }
  const std::size_t count = rows.end - rows.begin;
  const std::size_t whole = count / kTileRows * kTileRows;
  if (whole != 0) {
    configure_tiles(kTileRows);
    products_of<activation>(args, {rows.begin, rows.begin + whole}, panels, out, peaks);
  }
  if (whole != count) {
    configure_tiles(count - whole);
    products_of<activation>(args, {rows.begin + whole, rows.end}, panels, {out.values + whole * out.stride, out.stride},
                            peaks == nullptr ? nullptr : peaks + whole * kLanes);
  }
  release_tiles();
}

inline void products_tracked(const MatmulQ8& args, IndexRange rows, IndexRange panels, UnfinishedRows out,
                             std::int32_t* peaks) {
  switch (args.activation) {
    case Activation::kNone:
      return products_activated<Activation::kNone>(args, rows, panels, out, peaks);
    case Activation::kGeluErf:
      return products_activated<Activation::kGeluErf>(args, rows, panels, out, peaks);
    case Activation::kGeluTanh:
      return products_activated<Activation::kGeluTanh>(args, rows, panels, out, peaks);
    case Activation::kSilu:
      return products_activated<Activation::kSilu>(args, rows, panels, out, peaks);
    case Activation::kRelu:
      return products_activated<Activation::kRelu>(args, rows, panels, out, peaks);
  }
}

/// out = in + residual; returns the bits of the largest magnitude in sixteen lanes.
inline I32x16 add_residual_row(const float* in, const float* residual, float* out, std::size_t columns) {
  I32x16 peak = broadcast_i32(0);
  for_each_vector(columns, [&](std::size_t c, int lanes) {
    const F32x16 y = add(load_lanes(in + c, lanes), load_lanes(residual + c, lanes));
    peak = max(peak, magnitude_bits(y));
    store_lanes(out + c, y, lanes);
  });
  return peak;
}

/// Residual, layer norm and quantization of rows; `peaks` are those that the products left, or null.
inline void finish_tracked(const MatmulQ8& args, IndexRange rows, UnfinishedRows in, const std::int32_t* peaks) {
  const std::size_t columns = args.weights.channels;
  for (std::size_t r = rows.begin; r < rows.end; ++r) {
    float* y = in.values + (r - rows.begin) * in.stride;
    const float* residual = args.residual == nullptr ? nullptr : args.residual + r * args.residual_stride;
    float* out = args.out == nullptr ? y : args.out + r * args.out_stride;
    std::int32_t peak = 0;
    if (args.layer_norm != nullptr) {
      peak = normalize_row(y, residual, *args.layer_norm, out, columns);
    } else if (residual != nullptr) {
      peak = reduce_max(add_residual_row(y, residual, out, columns));
    } else if (args.quantized != nullptr) {
      out = y;
      peak =
          reduce_max(peaks != nullptr ? load_i32(peaks + (r - rows.begin) * kLanes) : row_magnitude_bits(y, columns));
    }
    if (args.quantized == nullptr) continue;
    args.quantized_scale[r] = quantize_row(out, columns, peak, args.quantized + r * args.quantized_stride);
  }
}

/// Whether products may be written where the result belongs; a residual may be that very place, so not then.
inline bool products_go_to_out(const MatmulQ8& args) {
  return args.out != nullptr && args.residual == nullptr && args.layer_norm == nullptr;
}

inline void run_generic(const MatmulQ8& args, IndexRange rows, float* scratch) {
  const IndexRange panels = {0, args.weights.panels()};
  const std::size_t weights_bytes = args.weights.panels() * args.weights.panel_bytes();
  const std::size_t step = weights_bytes > kCachedWeightsBytes ? kMaximumBlockRows : kBlockRows;
  const bool direct = products_go_to_out(args);
  const bool track = args.quantized != nullptr && args.residual == nullptr && args.layer_norm == nullptr;
  auto* peaks = reinterpret_cast<std::int32_t*>(scratch);
  float* block_values = scratch + kMaximumBlockRows * kLanes;
  for (std::size_t row = rows.begin; row < rows.end; row += step) {
    const IndexRange block = {row, rows.end - row < step ? rows.end : row + step};
    const UnfinishedRows unfinished = direct ? UnfinishedRows{args.out + row * args.out_stride, args.out_stride}
                                             : UnfinishedRows{block_values, args.weights.padded_channels()};
    if (track) {
      for (std::size_t r = 0; r < block.end - block.begin; ++r) store_i32(peaks + r * kLanes, broadcast_i32(0));
    }
    products_tracked(args, block, panels, unfinished, track ? peaks : nullptr);
    finish_tracked(args, block, unfinished, track ? peaks : nullptr);
  }
}

}  // namespace
}  // namespace weir::kernels

/// Defines the three functions that select.cc names for a variant.
#define WEIR_MATMUL_Q8_VARIANT(name)                                                                             \
  namespace weir::kernels {                                                                                      \
  void matmul_q8_run_##name(const MatmulQ8&, IndexRange, float*);                                                \
  void matmul_q8_products_##name(const MatmulQ8&, IndexRange, IndexRange, UnfinishedRows);                       \
  void matmul_q8_finish_##name(const MatmulQ8&, IndexRange, UnfinishedRows);                                     \
  void matmul_q8_run_##name(const MatmulQ8& args, IndexRange rows, float* scratch) {                             \
    run_generic(args, rows, scratch);                                                                            \
  }                                                                                                              \
  void matmul_q8_products_##name(const MatmulQ8& args, IndexRange rows, IndexRange panels, UnfinishedRows out) { \
    products_tracked(args, rows, panels, out, nullptr);                                                          \
  }                                                                                                              \
  void matmul_q8_finish_##name(const MatmulQ8& args, IndexRange rows, UnfinishedRows in) {                       \
    finish_tracked(args, rows, in, nullptr);                                                                     \
  }                                                                                                              \
  } /* namespace weir::kernels */
