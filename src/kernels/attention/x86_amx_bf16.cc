// Attention with both products on AMX tiles in bf16: 16 queries at a time, softmax in fp32.
//
// Tiles of keys and values have pairs of the summed index side by side: a tile of keys is [16 pairs of columns][16
// keys][2], a tile of values [16 pairs of keys][16 columns][2].
#include <immintrin.h>

#include "kernels/amx/tile_configuration.h"
#include "kernels/attention/attention_generic.h"

namespace weir::kernels {
namespace {

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kTileDepth = 32;    // bf16 values in a tile's row
constexpr std::size_t kTileFloats = 256;  // a tile is 1024 bytes

inline std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// Sizes of one text and head, padded to whole tiles, and where its intermediate values lie (bf16 in float pairs).
struct TileScratch {
  std::size_t tokens;   // those that are attended to, padded to 32
  std::size_t columns;  // padded to 32
  float* query;         // [16][columns] bf16, the current block
  float* keys;          // [tokens / 16][columns / 32] tiles
  float* values;        // [columns / 16][tokens / 32] tiles
  float* scores;        // [16][tokens]
  float* weights;       // [16][tokens] bf16
  float* sums;          // [16][columns]
};

inline TileScratch divide_scratch(const HeadView& view, float* scratch) {
  TileScratch s;
  s.tokens = round_up(view.keys, kTileDepth);
  s.columns = round_up(view.head_size, kTileDepth);
  s.keys = scratch;
  s.values = s.keys + s.tokens * s.columns / 2;
  s.scores = s.values + s.tokens * s.columns / 2;
  s.weights = s.scores + kTileRows * s.tokens;
  s.sums = s.weights + kTileRows * s.tokens / 2;
  s.query = s.sums + kTileRows * s.columns;
  return s;
}

/// 32 columns of row i from column `c` on, times `factor`, as bf16, zero beyond the head.
inline __m512i scaled_bf16(const InputRows& rows, std::size_t i, std::size_t c, std::size_t head_size, float factor) {
  const std::size_t left = head_size - c;
  const int low = static_cast<int>(left < kLanes ? left : kLanes);
  const int high = static_cast<int>(left < kLanes ? 0 : left < kTileDepth ? left - kLanes : kLanes);
  const __m512 low_half = rows.vector_first(i, c, low).v;
  const __m512 high_half = high == 0 ? _mm512_setzero_ps() : rows.vector_first(i, c + kLanes, high).v;
  const __m512 scale = _mm512_set1_ps(factor);
  return reinterpret_cast<__m512i>(
      _mm512_cvtne2ps_pbh(_mm512_mul_ps(high_half, scale), _mm512_mul_ps(low_half, scale)));
}

/// The same, not scaled.
inline __m512i load_bf16(const InputRows& rows, std::size_t i, std::size_t c, std::size_t head_size) {
  if (rows.bf16 == nullptr) return scaled_bf16(rows, i, c, head_size, 1.0f);
  const std::size_t left = head_size - c;
  const __mmask32 lanes = left < kTileDepth ? (__mmask32{1} << left) - 1 : ~__mmask32{0};
  return _mm512_maskz_loadu_epi16(lanes, rows.bf16 + i * rows.stride + c);
}

inline void pack_queries(const HeadView& view, std::size_t first, std::size_t last, float scale, std::size_t columns,
                         float* out) {
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t c = 0; c < columns; c += kTileDepth) {
      const __m512i row =
          first + r < last ? scaled_bf16(view.query, first + r, c, view.head_size, scale) : _mm512_setzero_si512();
      _mm512_storeu_si512(out + (r * columns + c) / 2, row);
    }
  }
}

inline void pack_keys(const HeadView& view, const TileScratch& s) {
  alignas(64) float rows[kTileFloats];
  float* tile = s.keys;
  for (std::size_t j = 0; j < s.tokens; j += kTileRows) {
    for (std::size_t c = 0; c < s.columns; c += kTileDepth, tile += kTileFloats) {
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const __m512i row = j + r < view.keys ? load_bf16(view.key, j + r, c, view.head_size) : _mm512_setzero_si512();
        _mm512_store_si512(rows + r * kLanes, row);
      }
      transpose_16x16(rows, kLanes, tile, kLanes);
    }
  }
}

/// 16 pairs of the even and the odd row's columns, from column `first` (0 or 16) of the 32 on.
template <int first>
inline __m512i interleave(__m512i even, __m512i odd) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(even, first / 16));
  const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(odd, first / 16));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

inline void pack_values(const HeadView& view, const TileScratch& s) {
  const std::size_t column_tiles = s.tokens / kTileDepth * kTileFloats;
  for (std::size_t c = 0; c < s.columns; c += kTileDepth) {
    float* left = s.values + c / kLanes * column_tiles;
    float* right = left + column_tiles;
    const auto row = [&](std::size_t j) {
      return j < view.keys ? load_bf16(view.value, j, c, view.head_size) : _mm512_setzero_si512();
    };
    for (std::size_t j = 0; j < s.tokens; j += 2) {
      const __m512i even = row(j);
      const __m512i odd = row(j + 1);
      _mm512_storeu_si512(left + j / 2 * kLanes, interleave<0>(even, odd));
      _mm512_storeu_si512(right + j / 2 * kLanes, interleave<16>(even, odd));
    }
  }
}

/// out [16][columns] = a [16][depth] * b, b in tiles [columns / 16][depth / 32]. An even number of column tiles.
inline void multiply_tiles(const float* a, const float* b, std::size_t depth, std::size_t columns, float* out) {
  const std::size_t b_step = depth / kTileDepth * kTileFloats;
  for (std::size_t c = 0; c < columns; c += 2 * kLanes, b += 2 * b_step) {
    _tile_zero(0);
    _tile_zero(1);
    for (std::size_t k = 0; k < depth; k += kTileDepth) {
      const float* tile = b + k / kTileDepth * kTileFloats;
      _tile_loadd(4, a + k / 2, depth * 2);
      _tile_loadd(6, tile, 64);
      _tile_loadd(7, tile + b_step, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
    }
    _tile_stored(0, out + c, columns * sizeof(float));
    _tile_stored(1, out + c + kLanes, columns * sizeof(float));
  }
}

/// A row of softmax's numerators as bf16 weights, zero behind the last key.
inline void narrow_weights(const float* numerators, std::size_t keys, float inverse, float* weights,
                           std::size_t padded) {
  const __m512 factor = _mm512_set1_ps(inverse);
  const std::size_t filled = round_up(keys, kLanes);
  for (std::size_t j = 0; j < padded; j += kTileDepth) {
    const __m512 low = _mm512_mul_ps(load(numerators + j).v, factor);
    const __m512 high =
        j + kLanes < filled ? _mm512_mul_ps(load(numerators + j + kLanes).v, factor) : _mm512_setzero_ps();
    _mm512_storeu_si512(weights + j / 2, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
}

inline void attend_block(const Attention& args, const HeadView& view, std::size_t first, const TileScratch& s) {
  const std::size_t last = view.tokens - first < kTileRows ? view.tokens : first + kTileRows;
  pack_queries(view, first, last, args.scale, s.columns, s.query);
  // g++ does not tell its optimizer that tile loads read memory.
  __asm__ volatile("" : : : "memory");
  multiply_tiles(s.query, s.keys, s.columns, s.tokens, s.scores);
  float inverse[kTileRows];
  softmax_numerators(args, view, first, last - first, {0, view.keys}, {s.scores, s.tokens}, inverse);
  for (std::size_t r = 0; r < last - first; ++r) {
    narrow_weights(s.scores + r * s.tokens, view.keys, inverse[r], s.weights + r * s.tokens / 2, s.tokens);
  }
  __asm__ volatile("" : : : "memory");
  multiply_tiles(s.weights, s.values, s.tokens, s.columns, s.sums);
  for (std::size_t i = first; i < last; ++i) {
    const float* sums = s.sums + (i - first) * s.columns;
    float* out = view.out + i * view.out_stride;
    for (std::size_t c = 0; c < view.head_size; c += kLanes) {
      const std::size_t left = view.head_size - c;
      store_first(out + c, load(sums + c), static_cast<int>(left < kLanes ? left : kLanes));
    }
  }
}

}  // namespace

void attention_amx_bf16(const Attention& args, const AttentionRange& range, float* scratch);
void attention_amx_bf16(const Attention& args, const AttentionRange& range, float* scratch) {
  configure_tiles(32);
  for_each_head(args, range, [&](HeadView view) {
    const TileScratch s = divide_scratch(view, apply_rotation(view, args.options, scratch));
    // Rows past the text's end in its last block are multiplied too; they must hold numbers, any will do.
    __builtin_memset(s.weights, 0, kTileRows * s.tokens * 2);
    pack_keys(view, s);
    pack_values(view, s);
    for (std::size_t first = 0; first < view.tokens; first += kTileRows) attend_block(args, view, first, s);
  });
  _tile_release();
}

}  // namespace weir::kernels
