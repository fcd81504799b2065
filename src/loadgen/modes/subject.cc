#include "loadgen/modes/subject.h"

#include <utility>
#include <vector>

#include <unistd.h>

#include "loadgen/grpc/grpc_target.h"
#include "loadgen/http/http_target.h"
#include "loadgen/in_process/in_process_target.h"
#include "loadgen/process/process_usage.h"

namespace weir::loadgen {
namespace {

constexpr Clock::duration kOneAnswer = std::chrono::seconds(30);

Result<std::unique_ptr<Target>> make_target(const SubjectOptions& options, const std::string& address,
                                            const Workload& workload) {
  WEIR_ASSIGN_OR_RETURN(const Url url, parse_url(address, "--url"));
  const bool wants_grpc = options.dialect.dialect == Dialect::kOipGrpc;
  if (wants_grpc != (url.scheme == "grpc")) {
    return Error(ErrorKind::kInvalidArgument,
                 "--url: '" + address + "' does not fit --dialect " +
                     std::string(dialect_name(options.dialect.dialect)) +
                     "; grpc://HOST:PORT goes with oip-grpc, http:// with the others",
                 "--url");
  }
  if (wants_grpc) return make_grpc_target(options.dialect, url, workload);
  return make_http_target(http_requests(options.dialect, url, workload));
}

/// Whether one request is answered; waits for it in small steps, so that the user can stop.
bool answers(Target& target, const std::function<bool(Clock::duration)>& wait) {
  auto driver = target.open(1);
  if (!driver.ok()) return false;
  (*driver)->start(0, 0);
  std::vector<Completion> completions;
  for (const Deadline deadline = Deadline::after(kOneAnswer); !deadline.expired();) {
    (*driver)->wait(Clock::now() + std::chrono::milliseconds(50), completions);
    if (!completions.empty()) return completions[0].outcome.answered();
    if (wait(Clock::duration::zero())) return false;
  }
  return false;
}

std::function<std::optional<UsageSample>()> usage_of(int pid) {
  return [pid]() -> std::optional<UsageSample> {
    const auto usage = read_process_usage(pid);
    if (!usage) return std::nullopt;
    return UsageSample{0, usage->cpu_seconds, usage->resident_bytes};
  };
}

Result<std::string> address_of_command(SubjectOptions& options) {
  if (options.command.find("{port}") == std::string::npos) {
    if (!options.url.empty()) return options.url;
    return Error(ErrorKind::kInvalidArgument,
                 "'" + options.command + "': put {port} where the command takes its port, or give --url");
  }
  WEIR_ASSIGN_OR_RETURN(const std::uint16_t port, free_port());
  options.command = with_placeholder(options.command, "port", std::to_string(port));
  if (!options.url.empty()) return with_placeholder(options.url, "port", std::to_string(port));
  const char* scheme = options.dialect.dialect == Dialect::kOipGrpc ? "grpc" : "http";
  return scheme + std::string("://127.0.0.1:") + std::to_string(port);
}

}  // namespace

void set_address_or_command(const std::string& text, SubjectOptions& options) {
  if (text.starts_with("http://") || text.starts_with("https://") || text.starts_with("grpc://")) {
    options.url = text;
  } else {
    options.command = text;
  }
}

Result<Subject> open_subject(const SubjectOptions& given, const Workload& workload,
                             const std::function<bool(Clock::duration)>& wait) {
  SubjectOptions options = given;
  Subject subject;
  if (!options.in_process.empty()) {
    const InProcessOptions in_process{options.in_process, options.instances, options.threads};
    WEIR_ASSIGN_OR_RETURN(subject.target, make_in_process_target(in_process, workload));
    subject.usage = usage_of(getpid());
    return subject;
  }
  std::string address = options.url;
  if (!options.command.empty()) {
    WEIR_ASSIGN_OR_RETURN(address, address_of_command(options));
    if (options.threads > 0) {
      options.command = with_placeholder(options.command, "threads", std::to_string(options.threads));
    }
  }
  WEIR_ASSIGN_OR_RETURN(subject.target, make_target(options, address, workload));
  int pid = options.pid;
  if (!options.command.empty()) {
    WEIR_ASSIGN_OR_RETURN(subject.process, ServerProcess::start(options.command));
    if (pid == 0) pid = subject.process->pid();
    WEIR_RETURN_IF_ERROR(subject.process->wait_ready([&] { return answers(*subject.target, wait); },
                                                     Deadline::after(options.ready_timeout), wait));
  }
  if (pid != 0) subject.usage = usage_of(pid);
  return subject;
}

}  // namespace weir::loadgen
