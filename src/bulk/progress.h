// One line of progress on standard error while a bulk job runs on a terminal, and its summary at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/terminal_line.h"

namespace weir::bulk {

struct ProgressState {
  std::uint64_t texts = 0;         ///< Done in this run.
  std::uint64_t tokens = 0;        ///< Of these.
  std::uint64_t texts_before = 0;  ///< Done by the run that this one resumes.
  std::uint64_t bytes = 0;         ///< Of the input, done in this run.
  std::uint64_t bytes_before = 0;
  std::optional<std::uint64_t> total_bytes;
  double seconds = 0;  ///< This run took so far.
};

/// "[#####     ]  25 %  1,200 texts  310 texts/s  20,300 tokens/s  ETA 0:42"; without a known total "1,200 texts  …".
std::string progress_line(const ProgressState& state);

/// "1,234,567"
std::string with_separators(std::uint64_t number);

/// Redraws the line a few times a second; does nothing unless standard error is a terminal. One thread.
class ProgressBar {
 public:
  void update(const ProgressState& state, Clock::time_point now = Clock::now());
  /// Takes the line away, so that a message can be printed; the next update draws it again.
  void clear();

 private:
  TerminalLine line_;
  Clock::time_point next_{};
};

}  // namespace weir::bulk
