// The arithmetic of positions: what families add to attention, as numbers that are made once, at import. Pure
// functions; in single precision where the models' own libraries compute so, as bucket boundaries hang on it.
#pragma once

#include <cstdint>
#include <vector>

namespace weir::families {

/// Radians per position for each pair of a head's dimensions, [head_size / 2] (Su et al. 2021, arXiv:2104.09864).
/// `stretch` other than 1 reads longer texts than the model was trained on (NTK-aware scaling).
std::vector<float> rotary_frequencies(std::uint32_t head_size, double theta, double stretch = 1);

/// Cosines or sines of positions times frequencies, [positions][frequencies.size()].
struct RotaryTables {
  std::vector<float> cosines;
  std::vector<float> sines;
};
RotaryTables rotary_tables(const std::vector<float>& frequencies, std::uint32_t positions);

/// One per head (Press et al. 2021, arXiv:2108.12409).
std::vector<float> alibi_slopes(std::uint32_t heads);

/// T5's bucket of the distance key - query, of `buckets` for both directions.
std::uint32_t relative_bucket(std::int64_t distance, std::uint32_t buckets, std::uint32_t max_distance);

/// DeBERTa-v2's bucket of the distance query - key: itself when it is small or `buckets` is 0, else logarithmic.
std::int64_t disentangled_bucket(std::int64_t distance, std::uint32_t buckets, std::uint32_t max_distance);

}  // namespace weir::families
