// Attention in integers with all products on AMX tiles: 16 queries at a time by 64 keys, and 64 keys at a time by 32
// columns. Weights of 15 bits are multiplied as two bytes each.
#include "kernels/amx/tile_configuration.h"
#include "kernels/attention/attention_int8.h"
#include "kernels/attention/int8_bytes.h"
#include "kernels/attention/int8_vnni512.h"

namespace weir::kernels {
namespace {

// Tiles 0 .. 3 are sums; 4 and 5 queries and keys, 6 and 7 weights and values.
constexpr std::size_t kTileNumbers = 16;  // 32-bit numbers in a whole tile's row

/// Numbers of a query in one tile: all of 16 if they come out even, else 8.
inline std::size_t numbers_in_step(std::size_t groups) { return groups % kTileNumbers == 0 ? kTileNumbers : 8; }

inline void configure_attention_tiles(std::size_t step) {
  TileConfiguration configuration;
  for (int t = 0; t < 8; ++t) {
    configuration.row_bytes[t] = 64;
    configuration.rows[t] = 16;
  }
  configuration.row_bytes[4] = static_cast<std::uint16_t>(4 * step);
  configuration.rows[5] = static_cast<std::uint8_t>(step);
  load_tile_configuration(configuration);
}

constexpr std::size_t kTileSums = kTileNumbers * kLanes;

struct AmxForm {
  static constexpr int kMostQueries = 16;
  static constexpr std::size_t kGroups = 8;
  static constexpr float kQueryOffset = 0.0f;
  static constexpr std::size_t kKeysTogether = 4 * kLanes;

  static void store_columns(std::int32_t* out, I32x16 low, I32x16 high) { store_bytes(out, low, high); }
  static void fill_start(const Int8Head& head, std::size_t padded) {
    for (std::size_t j = 0; j < padded; j += kLanes) store_i32(head.key_start + j, broadcast_i32(0));
  }
  static void store_values(std::int32_t* out, const I32x16 (&integers)[4]) {
    const __m512i even = _mm512_set1_epi16(0xff);
    // Bytes 0 and 2 from the first and third, bytes 1 and 3 from the others.
    const I32x16 first = join_halves(integers[0], integers[2]);
    const I32x16 second = join_halves(integers[1], integers[3]);
    _mm512_storeu_si512(out, _mm512_ternarylogic_epi32(even, first.v, _mm512_slli_epi32(second.v, 8), 0xca));
  }
  /// Low bytes of all, then high bytes; number l has the weights of keys l, l + 16, l + 32 and l + 48.
  static void store_weights(std::int32_t* out, const I32x16 (&four)[4]) {
    const __m512i even = _mm512_set1_epi16(0xff);
    const __m512i first = join_halves(four[0], four[2]).v;
    const __m512i second = join_halves(four[1], four[3]).v;
    _mm512_storeu_si512(out, _mm512_ternarylogic_epi32(even, first, _mm512_slli_epi32(second, 8), 0xca));
    _mm512_storeu_si512(out + kLanes, _mm512_ternarylogic_epi32(even, _mm512_srli_epi32(first, 8), second, 0xca));
  }
  static void multiply_scores(const Int8Head& head, std::size_t first, std::size_t count, const KeyRange& keys) {
    alignas(64) std::int32_t sums[4 * kTileSums];
    const std::int32_t* const queries = head.queries + first * head.groups;
    const std::size_t query_bytes = head.groups * 4;
    const std::size_t key_bytes = head.stride * 4;
    const std::size_t step = numbers_in_step(head.groups);
    // g++ does not tell its optimizer that tile loads read memory.
    __asm__ volatile("" : : : "memory");
    for (std::size_t j = 0; j < keys.size(); j += kWeightsTogether) {
      const std::int32_t* key = head.keys + keys.begin + j;
      const std::int32_t* const start = head.key_start + keys.begin + j;
      _tile_loadd(0, start, 0);  // row stride 0: every query's sums begin with the same
      _tile_loadd(1, start + kLanes, 0);
      _tile_loadd(2, start + 2 * kLanes, 0);
      _tile_loadd(3, start + 3 * kLanes, 0);
      for (std::size_t g = 0; g < head.groups; g += step, key += step * head.stride) {
        _tile_loadd(4, queries + g, query_bytes);
        _tile_loadd(5, key, key_bytes);
        _tile_dpbssd(0, 4, 5);
        _tile_loadd(5, key + kLanes, key_bytes);
        _tile_dpbssd(1, 4, 5);
        _tile_loadd(5, key + 2 * kLanes, key_bytes);
        _tile_dpbssd(2, 4, 5);
        _tile_loadd(5, key + 3 * kLanes, key_bytes);
        _tile_dpbssd(3, 4, 5);
      }
      _tile_stored(0, sums, 64);
      _tile_stored(1, sums + kTileSums, 64);
      _tile_stored(2, sums + 2 * kTileSums, 64);
      _tile_stored(3, sums + 3 * kTileSums, 64);
      for (std::size_t r = 0; r < count; ++r) {
        I32x16 row[4];
        unroll<4>([&]<int v>() WEIR_INLINED { row[v] = load_i32(sums + v * kTileSums + r * kLanes); });
        put_scores<4>(row, head.key_steps + keys.begin + j, j == 0, head.scores + r * head.stride + j,
                      head.largest + r * kLanes);
      }
    }
  }
  static void multiply_values(const Int8Head& head, std::size_t count, const std::int32_t* weights,
                              const KeyRange& keys, const ValueSink& sink) {
    alignas(64) std::int32_t sums[4 * kTileSums];
    const std::size_t weight_bytes = head.weight_stride * 4;
    const std::size_t value_bytes = head.columns * 4;
    // g++ does not tell its optimizer that tile loads read memory.
    __asm__ volatile("" : : : "memory");
    for (std::size_t c = 0; c < head.columns; c += 2 * kLanes) {
      const std::int32_t* low = weights;
      const std::int32_t* value = head.values + keys.begin / 4 * head.columns + c;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      for (std::size_t j = 0; j < keys.size(); j += kKeysTogether) {
        _tile_loadd(7, value, value_bytes);
        _tile_loadd(6, low + kLanes, weight_bytes);
        _tile_dpbusd(2, 6, 7);
        _tile_loadd(6, low, weight_bytes);
        _tile_dpbusd(0, 6, 7);
        _tile_loadd(7, value + kLanes, value_bytes);
        _tile_dpbusd(1, 6, 7);
        _tile_loadd(6, low + kLanes, weight_bytes);
        _tile_dpbusd(3, 6, 7);
        low += 2 * kLanes;
        value += kLanes * head.columns;
      }
      _tile_stored(0, sums, 64);
      _tile_stored(1, sums + kTileSums, 64);
      _tile_stored(2, sums + 2 * kTileSums, 64);
      _tile_stored(3, sums + 3 * kTileSums, 64);
      for (std::size_t r = 0; r < count; ++r) {
        unroll<2>([&]<int v>() WEIR_INLINED {
          const std::int32_t* const row = sums + v * kTileSums + r * kLanes;
          sink.put(r, c + v * kLanes, add(load_i32(row), shift_left<8>(load_i32(row + 2 * kTileSums))));
        });
      }
    }
  }
};

}  // namespace

void attention_amx_int8(const Attention& args, const AttentionRange& range, float* scratch);
void attention_amx_int8(const Attention& args, const AttentionRange& range, float* scratch) {
  configure_attention_tiles(numbers_in_step(up_to_multiple(args.head_size, kColumnsTogether) / 4));
  // Tiles of 64 keys do not pay for a few; the bits are the same.
  constexpr std::size_t kLeastTokens = 48;
  for_each_head(args, range, [&](HeadView view) {
    float* const left = apply_rotation(view, args.options, scratch);
    if (view.tokens < kLeastTokens) {
      attend_head<VnniForm<Vnni512>>(args, view, left);
    } else {
      attend_head<AmxForm>(args, view, left);
    }
  });
  _tile_release();
}

}  // namespace weir::kernels
