#include "base/terminal_line.h"

#include <string>

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace weir {
namespace {

/// What `work` writes to standard error while that is a terminal.
template <class Work>
std::string on_terminal(const Work& work) {
  int master = -1;
  int slave = -1;
  if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return "no terminal";
  const int before = ::dup(STDERR_FILENO);
  ::dup2(slave, STDERR_FILENO);
  work();
  ::dup2(before, STDERR_FILENO);
  // The end mark makes the read return even where nothing was written.
  const bool marked = ::write(slave, "$", 1) == 1;
  std::string written;
  char buffer[256];
  while (marked && !written.ends_with('$')) {
    const ssize_t count = ::read(master, buffer, sizeof buffer);
    if (count <= 0) break;
    written.append(buffer, static_cast<std::size_t>(count));
  }
  for (const int descriptor : {master, slave, before}) ::close(descriptor);
  return written;
}

TEST(TerminalLine, IsRedrawnAndTakenAway) {
  EXPECT_EQ(on_terminal([] {
              TerminalLine line;
              line.show("one");
              line.show("two");
            }),
            "\r\033[Kone\r\033[Ktwo\r\033[K$");
}

TEST(TerminalLine, LeavesNothingWhereNothingWasShown) {
  EXPECT_EQ(on_terminal([] { TerminalLine().clear(); }), "$");
  EXPECT_EQ(on_terminal([] { TerminalLine(false).show("one"); }), "$");
}

TEST(TerminalLine, IsSilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  TerminalLine line;
  EXPECT_FALSE(line.enabled());
  line.show("one");
  line.clear();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace weir
