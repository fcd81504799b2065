// A line on standard error that is redrawn in place while work goes on; nothing at all where that is no terminal. One
// thread.
#pragma once

#include <string>

namespace weir {

class TerminalLine {
 public:
  /// `wanted` false: as if there were no terminal.
  explicit TerminalLine(bool wanted = true);
  ~TerminalLine();  ///< Removes the line.
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  bool enabled() const { return enabled_; }
  void show(const std::string& text);
  /// Takes the line away, so that a message can be printed.
  void clear();

 private:
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace weir
