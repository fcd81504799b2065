#include "bulk/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weir::bulk {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(200);

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  char text[40];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%llu:%02u:%02u", static_cast<unsigned long long>(whole / 3600),
                  static_cast<unsigned>(whole / 60 % 60), static_cast<unsigned>(whole % 60));
  } else {
    std::snprintf(text, sizeof text, "%u:%02u", static_cast<unsigned>(whole / 60), static_cast<unsigned>(whole % 60));
  }
  return text;
}

std::string rate(std::uint64_t count, double seconds) {
  return with_separators(seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(count) / seconds) : 0);
}

std::string bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(kBarWidth - filled), ' ') + "]";
}

}  // namespace

std::string with_separators(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string progress_line(const ProgressState& state) {
  std::string line;
  const bool known = state.total_bytes && *state.total_bytes > 0;
  const std::uint64_t done = state.bytes_before + state.bytes;
  if (known) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(*state.total_bytes));
    char percent[16];
    std::snprintf(percent, sizeof percent, " %3d %%  ", static_cast<int>(share * 100));
    line = bar(share) + percent;
  }
  line += with_separators(state.texts_before + state.texts) + " texts  " + rate(state.texts, state.seconds) +
          " texts/s  " + rate(state.tokens, state.seconds) + " tokens/s";
  if (known && state.bytes > 0 && done <= *state.total_bytes) {
    const double per_byte = state.seconds / static_cast<double>(state.bytes);
    line += "  ETA " + duration_text(per_byte * static_cast<double>(*state.total_bytes - done));
  }
  return line;
}

void ProgressBar::update(const ProgressState& state, Clock::time_point now) {
  if (!line_.enabled() || now < next_) return;
  next_ = now + kRedraw;
  line_.show(progress_line(state));
}

void ProgressBar::clear() {
  line_.clear();
  next_ = {};
}

}  // namespace weir::bulk
