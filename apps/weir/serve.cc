// `weir serve`: settings and machine → sizing → pipeline and HTTP server, then waiting for the signal to stop.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/resource.h>

#include "apps/weir/allocator.h"
#include "apps/weir/command.h"
#include "apps/weir/hub_model.h"
#include "apps/weir/serve_options.h"
#include "apps/weir/stop_signals.h"
#include "base/log.h"
#include "base/metrics.h"
#include "settings/help.h"

namespace weir::cli {
namespace {

constexpr char kUsage[] =
    "usage: weir serve [MODEL | NAME=MODEL]... [FLAGS]\n"
    "\n"
    "Serves models over HTTP until SIGTERM, SIGINT or SIGHUP: bundles made by weir import, or models of the hub\n"
    "(org/name[@revision]), which are fetched and imported first. Every flag may also be set by its\n"
    "environment variable, or by its name in the file that --config names; the first of these wins.\n"
    "\n"
    "  --help            this text\n"
    "  --print-config    show the values in force and where each came from, and end\n"
    "  --help-markdown   the page docs/settings.md\n";

constexpr char kExitStatuses[] =
    "\n"
    "exit status: 0 stopped by a signal after finishing the requests in work; 1 a bundle cannot be loaded,\n"
    "the port is in use, or the machine refuses; 2 wrong settings; 128 + N a second signal N ended it at once\n";

bool contains(const std::vector<std::string>& arguments, std::string_view wanted) {
  return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
}

log::Level level_of(const std::string& name) {
  if (name == "debug") return log::Level::kDebug;
  if (name == "warn") return log::Level::kWarn;
  if (name == "error") return log::Level::kError;
  return name == "off" ? log::Level::kOff : log::Level::kInfo;
}

/// Every connection is an open file. The soft limit is low for the sake of old programs that use select().
void raise_open_files(std::int64_t max_connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (limit.rlim_cur != limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  constexpr rlim_t kOwnFiles = 200;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(max_connections) + kOwnFiles) {
    log::warn("the limit of open files is below --max-connections; raise RLIMIT_NOFILE or lower the flag",
              {{"open_files", static_cast<std::uint64_t>(limit.rlim_cur)}, {"max_connections", max_connections}});
  }
}

/// Threads started from here on stay off the CPUs of the instances, whose threads move to their own.
void leave_instance_cpus(const Sizing& sizing) {
  if (!sizing.pinned() || sizing.other_cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : sizing.other_cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) log::warn("network threads cannot be kept off the instances' CPUs");
}

void log_start(const Machine& machine, const Sizing& sizing, const std::vector<std::string>& warnings) {
  for (const Decision& decision : sizing.decisions) {
    log::debug("sizing", {{"name", decision.name}, {"value", decision.value}, {"rule", decision.rule}});
  }
  log::info("sizing", {{"cores", sizing.cores},
                       {"instances", sizing.instances},
                       {"threads_per_instance", sizing.threads_per_instance},
                       {"pinned", sizing.pinned()}});
  for (const std::string& warning : machine_warnings(machine)) log::info("machine", {{"note", warning}});
  for (const std::string& warning : warnings) log::warn("settings", {{"note", warning}});
}

/// The server between its start and its end.
class Serving {
 public:
  Serving(StopSignals& signals, const settings::ServeSettings& settings) : signals_(signals), settings_(settings) {}

  Status start(ServeOptions options) {
    address_ = options.server.http.address;
    metrics::register_process_metrics(registry_, options.server.version);
    WEIR_ASSIGN_OR_RETURN(pipeline_, serve::Pipeline::start(options.pipeline, registry_));
    WEIR_ASSIGN_OR_RETURN(server_, serve::server::Server::start(std::move(options.server), *pipeline_, registry_));
    log::info("listening", {{"url", url()}});
    loading_ = std::thread([this] {
      loaded_ = pipeline_->wait_loaded();
      signals_.wake();
    });
    return {};
  }

  /// Until a signal, or until a model cannot be loaded.
  Status run() {
    // Also the pace at which free memory is given back.
    constexpr Clock::duration kPace = std::chrono::seconds(5);
    bool told = false;
    for (;;) {
      const std::optional<int> signal = signals_.wait(kPace);
      if (signal) {
        log::info("stopping", {{"signal", *signal}});
        return {};
      }
      if (pipeline_->ready()) {
        if (!told) tell_ready();
        told = true;
        release_memory_when_idle();
      } else if (!told && any_failed()) {
        loading_.join();
        return loaded_;
      }
    }
  }

  /// Not ready, no new connections, then the requests in work until the deadline.
  void stop() {
    const Deadline deadline = Deadline::after(settings_.drain_timeout);
    signals_.exit_on_next();
    const bool served = server_->stop(deadline);
    const bool computed = pipeline_->stop(deadline);
    if (loading_.joinable()) loading_.join();
    if (served && computed)
      log::info("stopped");
    else
      log::warn("stopped; requests were cut off at the end of --drain-timeout");
  }

 private:
  std::string url() const { return url_of(address_, server_->port()); }

  bool any_failed() const {
    for (const auto& model : pipeline_->models()) {
      if (pipeline_->state(model->name) == serve::ModelState::kFailed) return true;
    }
    return false;
  }

  void tell_ready() {
    std::string names;
    for (const auto& model : pipeline_->models()) names += (names.empty() ? "" : ", ") + model->name;
    std::printf("weir serve: ready on %s (%s)\n", url().c_str(), names.c_str());
    std::fflush(stdout);
    log::info("ready", {{"url", url()}, {"models", names}});
  }

  /// What a burst left behind goes back to the system once nothing is in work, but only if it is worth the page faults.
  void release_memory_when_idle() {
    constexpr std::uint64_t kWorthBytes = 16 << 20;
    const serve::Load load = pipeline_->load();
    if (settings_.memory_release_rate == 0 || load.concurrency != 0 || load.waiting != 0) return;
    if (read_memory().resident_bytes < resident_when_released_ + kWorthBytes) return;
    release_free_memory();
    resident_when_released_ = read_memory().resident_bytes;
  }

  StopSignals& signals_;
  const settings::ServeSettings& settings_;
  metrics::Registry registry_;
  std::string address_;
  std::unique_ptr<serve::Pipeline> pipeline_;
  std::unique_ptr<serve::server::Server> server_;  // after the pipeline that it uses
  Status loaded_;                                  // written by loading_, read after its end
  std::thread loading_;
  std::uint64_t resident_when_released_ = 0;
};

/// Replaces models of the hub by bundles on this machine.
Status fetch_models(settings::ServeSettings& settings, StopSignals& signals) {
  bool interrupted = false;
  const auto cancelled = [&] { return interrupted = interrupted || signals.wait(Clock::duration::zero()).has_value(); };
  for (std::string& text : settings.models) {
    WEIR_ASSIGN_OR_RETURN(const serve::ModelSource source, parse_model(text));
    WEIR_ASSIGN_OR_RETURN(const std::string folder,
                          bundle_folder(source.folder, settings.bundle_cache, {"serve", false, cancelled}));
    text = (source.name.empty() ? "" : source.name + "=") + folder;
  }
  return {};
}

Status serve_until_stopped(settings::ServeSettings settings, const std::vector<std::string>& notes) {
  WEIR_RETURN_IF_ERROR(cpu::enabled());
  StopSignals signals;
  WEIR_RETURN_IF_ERROR(signals.block());
  WEIR_RETURN_IF_ERROR(fetch_models(settings, signals));
  const Machine machine = detect_machine();
  const Sizing sizing = choose_sizing(machine, sizing_request(settings));
  WEIR_ASSIGN_OR_RETURN(ServeOptions options, serve_options(settings, sizing, WEIR_VERSION));
  options.warnings.insert(options.warnings.end(), notes.begin(), notes.end());
  log_start(machine, sizing, options.warnings);
  raise_open_files(settings.max_connections);
  set_memory_release_rate(static_cast<double>(settings.memory_release_rate));
  leave_instance_cpus(sizing);
  Serving serving(signals, settings);
  WEIR_RETURN_IF_ERROR(serving.start(std::move(options)));
  const Status outcome = serving.run();
  serving.stop();
  return outcome;
}

}  // namespace

int run_serve(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  // Help is there even when the settings are wrong.
  if (contains(arguments, settings::kHelpSwitch) || contains(arguments, "-h")) {
    std::printf("%s%s%s", kUsage, settings::help_text(settings::serve_table()).c_str(), kExitStatuses);
    return kExitOk;
  }
  if (contains(arguments, settings::kMarkdownSwitch)) {
    std::fputs(settings::serve_settings_page().c_str(), stdout);
    return kExitOk;
  }
  const Result<settings::Resolved> resolved = settings::resolve_serve(arguments, settings::process_environment());
  if (!resolved.ok()) return fail("serve", resolved.error());
  if (resolved->has_switch(settings::kPrintConfigSwitch)) {
    std::fputs(settings::print_config(*resolved).c_str(), stdout);
    return kExitOk;
  }
  const settings::ServeSettings values = settings::serve_settings(*resolved);
  log::configure(level_of(values.log_level), values.log_format == "json" ? log::Format::kJson : log::Format::kText);
  const Status outcome = serve_until_stopped(values, resolved->warnings);
  return outcome.ok() ? kExitOk : fail("serve", outcome.error());
}

}  // namespace weir::cli
