#include "loadgen/process/server_process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace weir::loadgen {
namespace {

constexpr std::size_t kShownOutput = 2000;

Error system_error(const std::string& what, int number) {
  return {ErrorKind::kIo, what + ": " + std::strerror(number)};
}

void pause_ms(long milliseconds) {
  const timespec time{.tv_sec = 0, .tv_nsec = milliseconds * 1'000'000};
  nanosleep(&time, nullptr);
}

/// Attributes of a fresh process: its own session, and signals as they are for a program that a shell starts.
int spawn(pid_t& pid, const std::string& command, int log_fd) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDERR_FILENO);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string script = command;
  char* const arguments[] = {shell.data(), flag.data(), script.data(), nullptr};
  const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const std::string& command) {
  const char* folder = std::getenv("TMPDIR");
  std::string log = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/weir-bench-XXXXXX";
  const int log_fd = mkostemp(log.data(), O_CLOEXEC);
  if (log_fd < 0) return system_error(log + ": a file for the server's output cannot be made", errno);
  prctl(PR_SET_CHILD_SUBREAPER, 1UL);
  pid_t pid = -1;
  const int error = spawn(pid, command, log_fd);
  close(log_fd);
  if (error != 0) {
    unlink(log.c_str());
    return system_error("'" + command + "' cannot be started", error);
  }
  return ServerProcess(command, pid, log);
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : command_(std::move(other.command_)),
      pid_(std::exchange(other.pid_, -1)),
      ended_(other.ended_),
      status_(other.status_),
      log_(std::exchange(other.log_, {})) {}

ServerProcess& ServerProcess::operator=(ServerProcess&& other) noexcept {
  if (this == &other) return *this;
  stop();
  command_ = std::move(other.command_);
  pid_ = std::exchange(other.pid_, -1);
  ended_ = other.ended_;
  status_ = other.status_;
  log_ = std::exchange(other.log_, {});
  return *this;
}

ServerProcess::~ServerProcess() { stop(); }

/// Takes the exit statuses of the group's members, which would be part of it until then.
void ServerProcess::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-pid_, &status, WNOHANG)) > 0;) {
    if (pid != pid_) continue;
    ended_ = true;
    status_ = status;
  }
}

bool ServerProcess::running() {
  if (pid_ < 0) return false;
  reap();
  return !ended_;
}

Status ServerProcess::wait_ready(const std::function<bool()>& ready, Deadline deadline,
                                 const std::function<bool(Clock::duration)>& wait) {
  while (!ready()) {
    if (!running()) {
      const std::string how = WIFEXITED(status_) ? "with status " + std::to_string(WEXITSTATUS(status_))
                                                 : "by signal " + std::to_string(WTERMSIG(status_));
      return Error(ErrorKind::kUnavailable,
                   "'" + command_ + "' ended " + how + " before it answered; it printed:\n" + output_end());
    }
    if (deadline.expired()) {
      return Error(ErrorKind::kUnavailable, "'" + command_ + "' gave no answer in time; it printed:\n" + output_end());
    }
    if (wait(std::chrono::milliseconds(20))) return Error(ErrorKind::kCancelled, "interrupted");
  }
  return {};
}

void ServerProcess::stop(Clock::duration patience) {
  if (pid_ < 0) return;
  const auto group_lives = [&] {
    reap();
    return kill(-pid_, 0) == 0;
  };
  kill(-pid_, SIGTERM);
  const Deadline patient = Deadline::after(patience);
  while (group_lives() && !patient.expired()) pause_ms(10);
  // A member that waits for a disk cannot be killed at once; it is not waited for without end.
  const Deadline resolute = Deadline::after(std::chrono::seconds(10));
  while (group_lives() && !resolute.expired()) {
    kill(-pid_, SIGKILL);
    pause_ms(5);
  }
  unlink(log_.c_str());
  pid_ = -1;
}

std::string ServerProcess::output_end() const {
  std::ifstream file(log_, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return "(nothing)";
  const auto shown = std::min<std::streamoff>(size, kShownOutput);
  std::string end(static_cast<std::size_t>(shown), '\0');
  file.seekg(size - shown);
  file.read(end.data(), shown);
  return end;
}

Result<std::uint16_t> free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool found = bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  const int number = errno;
  close(fd);
  if (!found) return system_error("no free port can be had", number);
  return ntohs(address.sin_port);
}

std::string with_placeholder(std::string command, const std::string& name, const std::string& value) {
  const std::string placeholder = "{" + name + "}";
  for (std::size_t at = 0; (at = command.find(placeholder, at)) != std::string::npos; at += value.size()) {
    command.replace(at, placeholder.size(), value);
  }
  return command;
}

}  // namespace weir::loadgen
