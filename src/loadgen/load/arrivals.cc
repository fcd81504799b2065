#include "loadgen/load/arrivals.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace weir::loadgen {
namespace {

Clock::duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double to_seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

Error bad_line(const std::string& name, std::size_t line, const std::string& what) {
  return {ErrorKind::kInvalidArgument, name + ":" + std::to_string(line) + ": " + what, name};
}

}  // namespace

double RecordedArrivals::rate() const { return static_cast<double>(offsets.size()) / to_seconds(period); }

Result<RecordedArrivals> parse_arrivals(const std::string& text, const std::string& name) {
  constexpr double kLongest = 1e9;  // seconds: times since 1970 do, in seconds but not in milliseconds
  RecordedArrivals recorded;
  double first = 0;
  double last = 0;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    double seconds = 0;
    const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), seconds);
    if (code != std::errc() || end != line.data() + line.size() || !std::isfinite(seconds)) {
      return bad_line(name, number, "'" + std::string(line.substr(0, 40)) + "' is no number of seconds");
    }
    if (recorded.offsets.empty()) first = last = seconds;
    if (seconds < last) return bad_line(name, number, "is earlier than the line before");
    if (seconds - first > kLongest) return bad_line(name, number, "is more than 30 years after the first");
    last = seconds;
    recorded.offsets.push_back(from_seconds(seconds - first));
  }
  if (recorded.offsets.size() < 2 || last <= first) {
    return bad_line(name, number, "an arrival a line is needed, at least two, not all at once");
  }
  const auto gaps = static_cast<double>(recorded.offsets.size() - 1);
  recorded.period = from_seconds((last - first) * (gaps + 1) / gaps);
  return recorded;
}

Arrivals::Arrivals(double rate, std::uint64_t seed) : rate_(rate), random_(seed) {}

Arrivals::Arrivals(std::shared_ptr<const RecordedArrivals> recorded, double rate, std::size_t thread,
                   std::size_t threads)
    : rate_(rate > 0 ? rate / recorded->rate() : 1), recorded_(std::move(recorded)), index_(thread), step_(threads) {}

Clock::duration Arrivals::next() {
  if (!recorded_) {
    // 53 random bits in (0, 1], so that the logarithm is finite.
    const double uniform = static_cast<double>((random_() >> 11) + 1) * 0x1p-53;
    at_s_ -= std::log(uniform) / rate_;
    return from_seconds(at_s_);
  }
  const auto& offsets = recorded_->offsets;
  const std::size_t rounds = index_ / offsets.size();
  const double at_s =
      static_cast<double>(rounds) * to_seconds(recorded_->period) + to_seconds(offsets[index_ % offsets.size()]);
  index_ += step_;
  return from_seconds(at_s / rate_);
}

}  // namespace weir::loadgen
