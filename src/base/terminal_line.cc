#include "base/terminal_line.h"

#include <cstdio>

#include <unistd.h>

namespace weir {

TerminalLine::TerminalLine(bool wanted) : enabled_(wanted && ::isatty(STDERR_FILENO) == 1) {}

TerminalLine::~TerminalLine() { clear(); }

void TerminalLine::show(const std::string& text) {
  if (!enabled_) return;
  drawn_ = true;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

void TerminalLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace weir
