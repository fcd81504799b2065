// Progress of a download from the hub on standard error: a line that is redrawn on a terminal, else a line per file.
// One thread.
#pragma once

#include <string>

#include "base/deadline.h"
#include "base/terminal_line.h"
#include "hub/snapshot.h"

namespace weir::cli {

/// "model.safetensors (9 of 9)  45 %  41.0 of 90.9 MB  12.3 MB/s  ETA 0:04"; `seconds` since the file was begun.
std::string hub_progress_line(const hub::Progress& progress, double seconds);

class HubProgress {
 public:
  /// `command` begins each line that is not redrawn: "weir import: …".
  explicit HubProgress(std::string command);

  void update(const hub::Progress& progress, Clock::time_point now = Clock::now());
  /// A line of its own.
  void notice(const std::string& text);

 private:
  std::string command_;
  TerminalLine line_;
  std::string file_;
  Clock::time_point begun_{};
  Clock::time_point next_{};
};

}  // namespace weir::cli
