#include "apps/weir/stop_signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <limits>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace weir::cli {
namespace {

constexpr int kStopSignals[] = {SIGTERM, SIGINT, SIGHUP};

/// nohup starts a program with SIGHUP ignored; a blocked signal would be seen all the same.
bool is_unwanted(int signal) {
  struct sigaction action {};
  return signal == SIGHUP && sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kStopSignals) {
    if (!is_unwanted(signal)) sigaddset(&set, signal);
  }
  return set;
}

constexpr int kExitBySignal = 128;

extern "C" void exit_at_once(int signal) { _exit(kExitBySignal + signal); }

}  // namespace

StopSignals::~StopSignals() {
  if (signal_fd_ >= 0) close(signal_fd_);
  if (wake_fd_ >= 0) close(wake_fd_);
}

Status StopSignals::block() {
  // A client that goes away is an error of that write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal_fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signal_fd_ >= 0 && wake_fd_ >= 0) return {};
  return Error(ErrorKind::kIo, std::string("signals cannot be waited for: ") + std::strerror(errno));
}

std::optional<int> StopSignals::wait(Clock::duration timeout) {
  pollfd fds[] = {{signal_fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  const auto limited = std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max());
  poll(fds, 2, static_cast<int>(limited));
  std::uint64_t count = 0;
  if ((fds[1].revents & POLLIN) != 0 && read(wake_fd_, &count, sizeof count) < 0) count = 0;
  signalfd_siginfo info{};
  if (read(signal_fd_, &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void StopSignals::wake() {
  const std::uint64_t one = 1;
  // It can fail only when the count is full: then a wait() ends anyway.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void StopSignals::exit_on_next() {
  const sigset_t set = stop_set();
  for (const int signal : kStopSignals) {
    if (sigismember(&set, signal) == 1) std::signal(signal, exit_at_once);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace weir::cli
