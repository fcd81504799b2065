// weir bench: load tests of an embedding server, or of a model in this process.
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "apps/weir/bench_options.h"
#include "apps/weir/command.h"
#include "apps/weir/stop_signals.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/terminal_line.h"
#include "bundle/bundle.h"
#include "loadgen/modes/calibration.h"
#include "loadgen/modes/modes.h"

namespace weir::cli {
namespace {

using loadgen::Figures;
using loadgen::Session;
using loadgen::Subject;

constexpr int kExitSomeFailed = 3;
constexpr int kExitProblem = 4;
constexpr int kExitInterrupted = 130;  ///< As a shell tells of SIGINT.

constexpr char kFooter[] =
    "modes:\n"
    "  run      one load: --clients N, --rate R or --arrivals FILE\n"
    "  ladder   1, 2, 5, 10, 20, 50, 100, 200, 400 clients (--clients gives others)\n"
    "  knee     the rate before which P99 climbs\n"
    "  soak     an even load for long, 20 % below the knee or at --rate: drift, spikes, growing memory\n"
    "  slo      the highest throughput with P99 within --p99-ms\n"
    "  heatmap  the server's --threads with --clients\n"
    "  compare  two servers in alternating rounds: ratios with confidence intervals\n"
    "  ramp     moves --rate from A to B step by step, stops when B does worse\n\n"
    "exit status: 0 measured, all answered; 1 not measured, nothing answered among others; 2 wrong usage; 3 measured,\n"
    "requests failed; 4 measured, and a limit was not met or soak found something; 130 interrupted";

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string machine_text() {
  const Machine machine = detect_machine();
  return machine.cpu_name + ", " + std::to_string(machine.allowed_cores().size()) + " cores, " +
         format_bytes(machine.usable_memory_bytes()) + (machine.hypervisor ? ", a virtual machine" : "");
}

/// How a run goes on, for the terminal.
std::string progress_text(const loadgen::RunProgress& progress) {
  char text[200];
  std::snprintf(text, sizeof text, "%s %.0f of %s%.0f s  %s requests/s  mean %s ms  %llu failed",
                progress.warming_up ? "warm-up" : "measuring", progress.seconds, progress.warming_up ? "at most " : "",
                progress.total_seconds, loadgen::short_number(progress.requests_per_second).c_str(),
                loadgen::short_number(progress.mean_ms).c_str(), static_cast<unsigned long long>(progress.failed));
  return text;
}

/// A run of the command: owns what the session refers to.
class BenchCommand {
 public:
  explicit BenchCommand(BenchOptions options)
      : options_(std::move(options)), shows_table_(!options_.quiet && options_.json != "-"), live_(!options_.quiet) {}

  /// The exit status.
  Result<int> run();

 private:
  Status prepare_texts();
  Status open_subjects();
  Status make_session();
  Status run_mode();
  Status write_reports();
  int exit_status();
  bool wait(Clock::duration duration);
  Result<Subject> open(std::size_t index, int threads);

  BenchOptions options_;
  bool shows_table_;
  TerminalLine live_;
  StopSignals signals_;
  bool stopped_ = false;
  loadgen::Workload workload_;
  std::optional<double> generator_limit_;
  loadgen::FigureBasis basis_;
  Subject a_;
  Subject b_;
  std::optional<Session> session_;
};

bool BenchCommand::wait(Clock::duration duration) {
  if (!stopped_ && signals_.wait(duration)) {
    stopped_ = true;
    signals_.exit_on_next();
  }
  return stopped_;
}

Status BenchCommand::prepare_texts() {
  loadgen::WorkloadOptions& texts = options_.texts;
  if (texts.tokenizer.empty()) texts.tokenizer = options_.in_process;
  std::error_code ignored;
  if (texts.max_tokens == 0 && std::filesystem::exists(texts.tokenizer + "/weir.json", ignored)) {
    WEIR_ASSIGN_OR_RETURN(const bundle::Bundle bundle, bundle::load(texts.tokenizer));
    texts.max_tokens = bundle.manifest.max_tokens;
  }
  WEIR_ASSIGN_OR_RETURN(workload_, loadgen::make_workload(texts));
  basis_.mean_tokens = workload_.mean_tokens;
  basis_.mean_square_tokens = workload_.mean_square_tokens;
  if (options_.model_config.empty()) return {};
  WEIR_ASSIGN_OR_RETURN(basis_.shape, loadgen::read_model_shape(options_.model_config));
  WEIR_ASSIGN_OR_RETURN(basis_.peak, loadgen::measure_peak(options_.peak));
  return {};
}

Result<Subject> BenchCommand::open(std::size_t index, int threads) {
  loadgen::SubjectOptions options = subject_options(options_, index);
  if (threads > 0) options.threads = threads;
  return loadgen::open_subject(options, workload_, [this](Clock::duration duration) { return wait(duration); });
}

Status BenchCommand::open_subjects() {
  if (options_.mode == "heatmap") return {};
  WEIR_ASSIGN_OR_RETURN(a_, open(0, 0));
  if (!takes_two_servers(options_.mode)) return {};
  a_.name = "A";
  WEIR_ASSIGN_OR_RETURN(b_, open(1, 0));
  b_.name = "B";
  return {};
}

Status BenchCommand::make_session() {
  WEIR_ASSIGN_OR_RETURN(loadgen::LoadSpec spec, load_spec(options_));
  loadgen::RunHooks hooks;
  hooks.wait = [this](Clock::duration duration) { return wait(duration); };
  hooks.progress = [this](const loadgen::RunProgress& progress) { live_.show(progress_text(progress)); };
  session_.emplace(std::move(spec), std::move(hooks), basis_, [this](const Figures& figures) {
    live_.clear();
    if (shows_table_) std::fputs(loadgen::table_row(figures).c_str(), stdout);
    std::fflush(stdout);
  });
  loadgen::Report& report = session_->report();
  report.mode = options_.mode;
  report.weir_version = WEIR_VERSION;
  report.started = now_utc();
  report.machine = machine_text();
  report.workload = workload_.description;
  report.mean_tokens = workload_.mean_tokens;
  report.seed = options_.seed;
  report.generator_limit = generator_limit_;
  if (basis_.peak) report.efficiency_basis = basis_.peak->basis;
  for (const Subject* subject : {&a_, &b_}) {
    if (!subject->target) continue;
    report.subjects.push_back((subject->name.empty() ? "" : subject->name + ": ") + subject->target->describe());
  }
  if (options_.mode == "heatmap") {
    report.subjects.push_back(options_.in_process.empty() ? options_.command : "in-process " + options_.in_process);
  }
  if (shows_table_) std::fputs(loadgen::table_head(report).c_str(), stdout);
  return {};
}

Status BenchCommand::run_mode() {
  const std::string& mode = options_.mode;
  const auto search_duration =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.search_duration_s));
  if (mode == "run") return loadgen::run_once(*session_, a_);
  if (mode == "ladder") return loadgen::run_ladder(*session_, a_, ladder_clients(options_));
  if (mode == "knee") return loadgen::run_knee(*session_, a_, options_.knee_factor);
  if (mode == "soak") return loadgen::run_soak(*session_, a_, options_.knee_factor, search_duration);
  if (mode == "slo") return loadgen::run_slo(*session_, a_, {options_.p99_ms, 0.001});
  if (mode == "compare") return loadgen::run_compare(*session_, a_, b_, options_.rounds);
  if (mode == "ramp") {
    loadgen::RampOptions ramp;
    if (!options_.shares.empty()) ramp.shares = options_.shares;
    return loadgen::run_ramp(*session_, a_, b_, ramp);
  }
  return loadgen::run_heatmap(
      *session_, [this](int threads) { return open(0, threads); }, options_.threads, ladder_clients(options_));
}

Status BenchCommand::write_reports() {
  const loadgen::Report& report = session_->report();
  if (shows_table_) std::fputs(loadgen::closing_text(report).c_str(), stdout);
  if (options_.json == "-") std::fputs(loadgen::report_json(report).c_str(), stdout);
  if (std::fflush(stdout) != 0) return Error(ErrorKind::kIo, "standard output cannot be written");
  if (!options_.json.empty() && options_.json != "-") {
    WEIR_RETURN_IF_ERROR(write_file(options_.json, loadgen::report_json(report)));
  }
  if (!options_.html.empty()) WEIR_RETURN_IF_ERROR(write_file(options_.html, loadgen::report_html(report)));
  return {};
}

int BenchCommand::exit_status() {
  if (stopped_) return kExitInterrupted;
  if (session_->report().any_problem()) return kExitProblem;
  return session_->report().failed_share() > options_.allow_errors ? kExitSomeFailed : kExitOk;
}

Result<int> BenchCommand::run() {
  WEIR_RETURN_IF_ERROR(signals_.block());
  WEIR_RETURN_IF_ERROR(prepare_texts());
  if (!options_.no_calibration) {
    WEIR_ASSIGN_OR_RETURN(generator_limit_, loadgen::measure_generator(options_.load_threads));
  }
  const Status opened = open_subjects();
  if (!opened.ok()) return stopped_ ? Result<int>(kExitInterrupted) : Result<int>(opened.error());
  WEIR_RETURN_IF_ERROR(make_session());
  const Status ran = run_mode();
  live_.clear();
  loadgen::Report& report = session_->report();
  report.warnings = loadgen::warnings_of(report);
  // What was measured before a failure is not lost.
  if (ran.ok() || !report.runs.empty()) WEIR_RETURN_IF_ERROR(write_reports());
  if (!ran.ok() && ran.error().kind != ErrorKind::kCancelled) return ran.error();
  return exit_status();
}

}  // namespace

int run_bench(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("Load tests: latencies, throughput, and where a server's limits are.", "weir bench");
  define_bench_flags(app, options);
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (const Status checked = check_bench_options(options); !checked.ok()) return fail("bench", checked.error());
  log::configure(log::Level::kWarn, log::Format::kText);
  const Result<int> status = BenchCommand(std::move(options)).run();
  return status.ok() ? *status : fail("bench", status.error());
}

}  // namespace weir::cli
