#include "loadgen/measure/outcome.h"

namespace weir::loadgen {
namespace {

constexpr std::array<std::string_view, kEndings> kNames = {
    "answered", "status",  "connect_refused",  "connect_failed", "closed_early",
    "reset",    "timeout", "not_the_protocol", "wrong_answer",   "too_large",
};

}  // namespace

std::string_view ending_name(Ending ending) { return kNames[static_cast<std::size_t>(ending)]; }

void OutcomeCounts::add(Outcome outcome) {
  ++by_ending_[static_cast<std::size_t>(outcome.ending)];
  if (outcome.ending == Ending::kStatus) ++by_status_[outcome.code];
}

void OutcomeCounts::merge(const OutcomeCounts& other) {
  for (std::size_t i = 0; i < kEndings; ++i) by_ending_[i] += other.by_ending_[i];
  for (const auto& [code, count] : other.by_status_) by_status_[code] += count;
}

std::uint64_t OutcomeCounts::failed() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < kEndings; ++i) sum += by_ending_[i];
  return sum;
}

double OutcomeCounts::failed_share() const {
  return total() == 0 ? 0 : static_cast<double>(failed()) / static_cast<double>(total());
}

std::map<std::string, std::uint64_t> OutcomeCounts::failures() const {
  std::map<std::string, std::uint64_t> named;
  for (std::size_t i = 1; i < kEndings; ++i) {
    if (by_ending_[i] == 0 || static_cast<Ending>(i) == Ending::kStatus) continue;
    named.emplace(kNames[i], by_ending_[i]);
  }
  for (const auto& [code, count] : by_status_) named["status_" + std::to_string(code)] = count;
  return named;
}

}  // namespace weir::loadgen
