#include "apps/weir/hub_progress.h"

#include <algorithm>
#include <cstdio>

namespace weir::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / 1e6);
  return text;
}

}  // namespace

std::string hub_progress_line(const hub::Progress& progress, double seconds) {
  const double total = static_cast<double>(std::max<std::uint64_t>(progress.total_bytes, 1));
  const double done = static_cast<double>(progress.bytes);
  std::string line = progress.file + " (" + std::to_string(progress.number) + " of " + std::to_string(progress.files) +
                     ")  " + std::to_string(static_cast<int>(done / total * 100)) + " %  " + megabytes(progress.bytes) +
                     " of " + megabytes(progress.total_bytes) + " MB";
  const double fetched = done - static_cast<double>(std::min(progress.bytes_before, progress.bytes));
  if (seconds <= 0 || fetched <= 0) return line;
  const auto left = static_cast<unsigned>((total - done) / fetched * seconds);
  char rate[64];
  std::snprintf(rate, sizeof rate, "  %.1f MB/s  ETA %u:%02u", fetched / seconds / 1e6, left / 60, left % 60);
  return line + rate;
}

HubProgress::HubProgress(std::string command) : command_(std::move(command)) {}

void HubProgress::update(const hub::Progress& progress, Clock::time_point now) {
  const bool is_new = progress.file != file_;
  if (is_new) {
    file_ = progress.file;
    begun_ = now;
  }
  if (!line_.enabled()) {
    if (is_new) notice("fetching " + file_ + " (" + megabytes(progress.total_bytes) + " MB)");
    return;
  }
  if (!is_new && now < next_) return;
  next_ = now + kRedraw;
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  line_.show(hub_progress_line(progress, seconds));
}

void HubProgress::notice(const std::string& text) {
  line_.clear();
  std::fprintf(stderr, "weir %s: %s\n", command_.c_str(), text.c_str());
}

}  // namespace weir::cli
