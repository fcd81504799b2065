#include "families/positions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace weir::families {

std::vector<float> rotary_frequencies(std::uint32_t head_size, double theta, double stretch) {
  std::vector<float> frequencies;
  const double divisor = std::pow(stretch, 2.0 / head_size);
  for (std::uint32_t i = 0; i < head_size; i += 2) {
    const double power = std::pow(theta * stretch, static_cast<double>(i) / head_size);
    frequencies.push_back(static_cast<float>(1.0 / power / divisor));
  }
  return frequencies;
}

RotaryTables rotary_tables(const std::vector<float>& frequencies, std::uint32_t positions) {
  RotaryTables tables;
  const std::size_t size = frequencies.size() * positions;
  tables.cosines.reserve(size);
  tables.sines.reserve(size);
  for (std::uint32_t position = 0; position < positions; ++position) {
    for (const float frequency : frequencies) {
      const double angle = static_cast<float>(position) * frequency;
      tables.cosines.push_back(static_cast<float>(std::cos(angle)));
      tables.sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return tables;
}

std::vector<float> alibi_slopes(std::uint32_t heads) {
  // Slopes of a power of two are a geometric series. Other numbers of heads take those of the power below, and every
  // second one of the power above.
  std::uint32_t power = 1;
  while (power * 2 <= heads) power *= 2;
  const auto series = [](std::uint32_t count, std::uint32_t index) {
    return static_cast<float>(std::exp2(-8.0 * (index + 1) / count));
  };
  std::vector<float> slopes;
  for (std::uint32_t i = 0; i < power; ++i) slopes.push_back(series(power, i));
  for (std::uint32_t i = 0; slopes.size() < heads; ++i) slopes.push_back(series(2 * power, 2 * i));
  return slopes;
}

std::uint32_t relative_bucket(std::int64_t distance, std::uint32_t buckets, std::uint32_t max_distance) {
  const std::uint32_t each = buckets / 2;
  const std::uint32_t exact = each / 2;
  const std::uint32_t first = distance > 0 ? each : 0;
  const auto far = static_cast<std::uint32_t>(std::abs(distance));
  if (far < exact) return first + far;
  const float position = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                         static_cast<float>(std::log(static_cast<double>(max_distance) / exact)) *
                         static_cast<float>(each - exact);
  return first + std::min(exact + static_cast<std::uint32_t>(position), each - 1);
}

std::int64_t disentangled_bucket(std::int64_t distance, std::uint32_t buckets, std::uint32_t max_distance) {
  const std::int64_t middle = buckets / 2;
  if (buckets == 0 || std::abs(distance) <= middle) return distance;
  const auto part = [middle](float value) { return std::log(value / static_cast<float>(middle)); };
  const float position = std::ceil(part(static_cast<float>(std::abs(distance))) /
                                   part(static_cast<float>(max_distance - 1)) * static_cast<float>(middle - 1));
  const std::int64_t bucket = static_cast<std::int64_t>(position) + middle;
  return distance < 0 ? -bucket : bucket;
}

}  // namespace weir::families
