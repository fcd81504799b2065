#include "apps/weir/bench_options.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/file.h"

namespace weir::cli {
namespace {

constexpr std::size_t kMostArrivalBytes = 256u << 20;
constexpr double kLongestSeconds = 7 * 24 * 3600;

Error wrong(const std::string& flag, const std::string& what) {
  return {ErrorKind::kInvalidArgument, flag + ": " + what, flag};
}

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

double default_duration_s(const std::string& mode) { return mode == "soak" ? 600 : 10; }

void define_server_flags(CLI::App& app, BenchOptions& options) {
  const auto dialects = CLI::IsMember({"openai", "tei", "oip", "oip-grpc"});
  app.add_option("--url", options.url,
                 "The server, http://HOST:PORT or grpc://HOST:PORT; a path takes the dialect's place")
      ->group("The server");
  app.add_option(
         "--command", options.command,
         "Start the server by this command, end it after; {port} in it is replaced by a free port, {threads} by "
         "the threads of a heat map")
      ->group("The server");
  app.add_option("--in-process", options.in_process, "No server: this bundle, computed in this process")
      ->group("The server");
  app.add_option("--url-b", options.url_b, "Where B's command will listen, when it has no {port} (--url: A's)")
      ->group("The server");
  app.add_option("--dialect", options.dialect, "openai, tei, oip (Open Inference Protocol 2 over HTTP) or oip-grpc")
      ->check(dialects)
      ->capture_default_str()
      ->group("The server");
  app.add_option("--dialect-b", options.dialect_b, "B's dialect, if it is another")
      ->check(dialects)
      ->group("The server");
  app.add_option("--server-model", options.server_model, "What the server calls the model")
      ->capture_default_str()
      ->group("The server");
  app.add_option("--input-name", options.input_name, "The tensor of texts, of the Open Inference Protocol")
      ->capture_default_str()
      ->group("The server");
  app.add_option("--api-key", options.api_key, "Sent as a bearer token")
      ->envname("WEIR_BENCH_API_KEY")
      ->group("The server");
  app.add_option("--pid", options.pid, "Tell the memory and processor time of this process and its children")
      ->check(CLI::PositiveNumber)
      ->group("The server");
  app.add_option("--ready-timeout", options.ready_timeout_s, "Seconds until a started server must answer")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str()
      ->group("The server");
  app.add_option("--threads", options.threads,
                 "heatmap: the server's threads, such as 1,2,4; --in-process: per instance")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->group("The server");
  app.add_option("--instances", options.instances, "--in-process: model instances; 0: as weir serve chooses")
      ->check(CLI::Range(0, 1024))
      ->group("The server");
}

void define_load_flags(CLI::App& app, BenchOptions& options) {
  app.add_option("--clients", options.clients,
                 "Closed loop: users at once, such as 20; ladder, heatmap: several, such as 1,10,50")
      ->delimiter(',')
      ->check(CLI::Range(1, 100000))
      ->group("The load");
  app.add_option("--rate", options.rate, "Open loop: requests per second, at random times (Poisson)")
      ->check(CLI::Range(0.001, 1e7))
      ->group("The load");
  app.add_option(
         "--arrivals", options.arrivals,
         "Open loop: recorded times, a number of seconds a line, repeated; with --rate, as much faster or slower")
      ->group("The load");
  app.add_option("--connections", options.connections,
                 "Open loop: connections at most; what is due while all are busy waits, and the wait counts")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group("The load");
  app.add_option("--duration", options.duration_s, "Seconds that a run is measured (10; soak: 600)")
      ->check(CLI::Range(0.1, kLongestSeconds))
      ->group("The load");
  app.add_option("--warmup", options.warmup_s, "Seconds of warm-up at most; it ends when the server is steady")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str()
      ->group("The load");
  app.add_option("--timeout", options.timeout_s, "Seconds from when a request is due until it is given up")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str()
      ->group("The load");
  app.add_option("--error-pause-ms", options.error_pause_ms, "Closed loop: what a client waits after a failure")
      ->check(CLI::Range(0.0, 60000.0))
      ->capture_default_str()
      ->group("The load");
  app.add_option("--seed", options.seed, "Of arrivals and of the order of texts")
      ->capture_default_str()
      ->group("The load");
  app.add_option("--load-threads", options.load_threads, "Threads of the generator")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->group("The load");
}

void define_text_flags(CLI::App& app, BenchOptions& options) {
  app.add_option("--texts", options.texts.file, "Texts to send: a text a line, .jsonl or .csv; without, made-up ones")
      ->group("The texts");
  app.add_option("--field", options.texts.field, "Of .jsonl and .csv")->capture_default_str()->group("The texts");
  app.add_option("--texts-per-request", options.texts.texts_per_request, "Texts in each request")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group("The texts");
  app.add_option("--tokenizer", options.texts.tokenizer,
                 "A tokenizer.json, or a folder or bundle with one, to count tokens")
      ->group("The texts");
  app.add_option("--max-tokens", options.texts.max_tokens, "Where the server cuts texts; of a bundle it is known")
      ->group("The texts");
}

void define_mode_flags(CLI::App& app, BenchOptions& options) {
  app.add_option("--knee-factor", options.knee_factor,
                 "knee, soak: P99 climbs when it is so many times the calm server's")
      ->check(CLI::Range(1.1, 100.0))
      ->capture_default_str()
      ->group("The modes");
  app.add_option("--search-duration", options.search_duration_s, "soak: seconds of each run that looks for the knee")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str()
      ->group("The modes");
  app.add_option("--p99-ms", options.p99_ms, "slo: the limit that P99 must meet")
      ->check(CLI::Range(0.001, 1e6))
      ->group("The modes");
  app.add_option("--rounds", options.rounds, "compare: rounds of both servers")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group("The modes");
  app.add_option("--shares", options.shares,
                 "ramp: B's shares of the load, ascending, above 0 and at most 1 (0.01,0.05,0.1,0.25,0.5,0.75,1)")
      ->delimiter(',')
      ->check(CLI::Range(0.0001, 1.0))
      ->group("The modes");
}

void define_output_flags(CLI::App& app, BenchOptions& options) {
  app.add_option("--model-config", options.model_config,
                 "A config.json, or a folder with one: tells the share of the machine's peak (needs --tokenizer)")
      ->group("What is told");
  app.add_option("--peak", options.peak, "Which peak: int8, bf16 or fp32")
      ->check(CLI::IsMember({"int8", "bf16", "fp32"}))
      ->capture_default_str()
      ->group("What is told");
  app.add_option("--json", options.json, "Write the report as JSON; - is standard output, in place of the table")
      ->group("What is told");
  app.add_option("--html", options.html, "Write the report as one HTML file with curves")->group("What is told");
  app.add_option("--allow-errors", options.allow_errors, "Share of failed requests up to which the exit status is 0")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group("What is told");
  app.add_flag("--no-calibration", options.no_calibration, "Do not measure the generator's own limit first")
      ->group("What is told");
  app.add_flag("--quiet", options.quiet, "No table, no live line")->group("What is told");
}

Status check_servers(const BenchOptions& options) {
  const bool two = takes_two_servers(options.mode);
  if (two != (options.servers.size() == 2)) {
    return wrong(options.mode, two ? "needs two servers, an address or a command in quotes each"
                                   : "takes no further arguments: give the server by --url, --command or --in-process");
  }
  if (two) {
    if (!options.command.empty() || !options.in_process.empty() || options.pid != 0) {
      return wrong(options.mode, "its servers are its arguments: --command, --in-process and --pid are for one server");
    }
    return {};
  }
  const int given = static_cast<int>(!options.command.empty()) + static_cast<int>(!options.in_process.empty()) +
                    static_cast<int>(!options.url.empty() && options.command.empty());
  if (given != 1) return wrong(options.mode, "give one server: by --url, by --command, or --in-process for none");
  if (!options.url_b.empty() || !options.dialect_b.empty()) {
    return wrong("--url-b, --dialect-b", "there is no B in this mode");
  }
  return {};
}

Status check_heatmap(const BenchOptions& options) {
  if (options.mode == "heatmap") {
    if (options.threads.empty()) return wrong("--threads", "heatmap needs them, such as 1,2,4");
    if (options.in_process.empty() && options.command.find("{threads}") == std::string::npos) {
      return wrong("--command",
                   "heatmap starts the server for each number of threads: put {threads} where it takes them");
    }
    return {};
  }
  if (options.threads.size() > 1 || (!options.threads.empty() && options.in_process.empty())) {
    return wrong("--threads", "is for heatmap; with --in-process, one number");
  }
  return {};
}

Status check_load(const BenchOptions& options) {
  const bool open = options.rate > 0 || !options.arrivals.empty();
  const std::string& mode = options.mode;
  const bool searches = mode == "ladder" || mode == "knee" || mode == "slo" || mode == "heatmap";
  if (open && searches) return wrong("--rate, --arrivals", mode + " chooses the load itself");
  if (open && !options.clients.empty()) return wrong("--clients", "an open loop (--rate, --arrivals) has no clients");
  if (mode == "ramp" && options.rate <= 0) return wrong("--rate", "ramp needs it: the load of A and B together");
  if (mode == "ramp" && !options.arrivals.empty()) return wrong("--arrivals", "ramp divides a --rate");
  const bool several = mode == "ladder" || mode == "heatmap";
  if (options.clients.size() > 1 && !several) return wrong("--clients", "several are for ladder and heatmap");
  if (mode == "soak" && !options.clients.empty())
    return wrong("--clients", "soak is an open loop: give --rate or nothing");
  if ((mode == "slo") != (options.p99_ms > 0)) return wrong("--p99-ms", "slo needs it, and only slo");
  if (!options.shares.empty() && mode != "ramp") return wrong("--shares", "is for ramp");
  if (!std::is_sorted(options.shares.begin(), options.shares.end())) return wrong("--shares", "must ascend");
  if (options.rate / options.load_threads > 1e6) return wrong("--rate", "more than a million a second and thread");
  return {};
}

}  // namespace

bool takes_two_servers(const std::string& mode) { return mode == "compare" || mode == "ramp"; }

void define_bench_flags(CLI::App& app, BenchOptions& options) {
  app.add_option("MODE", options.mode, "run, ladder, knee, soak, slo, heatmap, compare or ramp")
      ->required()
      ->check(CLI::IsMember({"run", "ladder", "knee", "soak", "slo", "heatmap", "compare", "ramp"}));
  app.add_option("A B", options.servers, "compare, ramp: two servers, an address or a command in quotes each");
  define_server_flags(app, options);
  define_load_flags(app, options);
  define_text_flags(app, options);
  define_mode_flags(app, options);
  define_output_flags(app, options);
}

Status check_bench_options(const BenchOptions& options) {
  WEIR_RETURN_IF_ERROR(check_servers(options));
  WEIR_RETURN_IF_ERROR(check_heatmap(options));
  WEIR_RETURN_IF_ERROR(check_load(options));
  if (!options.model_config.empty() && options.texts.tokenizer.empty() && options.in_process.empty()) {
    return wrong("--model-config", "the share of the peak needs tokens, and they need --tokenizer");
  }
  if (!options.json.empty() && options.json == options.html) return wrong("--html", "is the same file as --json");
  return {};
}

Result<loadgen::LoadSpec> load_spec(const BenchOptions& options) {
  loadgen::LoadSpec spec;
  if (!options.clients.empty()) spec.clients = options.clients[0];
  spec.rate = options.rate;
  if (!options.arrivals.empty()) {
    WEIR_ASSIGN_OR_RETURN(const std::string text, read_file(options.arrivals, kMostArrivalBytes));
    WEIR_ASSIGN_OR_RETURN(auto recorded, loadgen::parse_arrivals(text, options.arrivals));
    spec.recorded = std::make_shared<const loadgen::RecordedArrivals>(std::move(recorded));
  }
  spec.most_connections = options.connections;
  spec.threads = options.load_threads;
  spec.duration = seconds(options.duration_s > 0 ? options.duration_s : default_duration_s(options.mode));
  spec.most_warm_up = seconds(options.warmup_s);
  spec.timeout = seconds(options.timeout_s);
  spec.error_pause = seconds(options.error_pause_ms / 1e3);
  spec.seed = options.seed;
  // A request that is far beyond the limit has told all that it can.
  if (options.p99_ms > 0) spec.timeout = std::min(spec.timeout, seconds(std::max(2.0, options.p99_ms / 100)));
  return spec;
}

loadgen::SubjectOptions subject_options(const BenchOptions& options, std::size_t index) {
  loadgen::SubjectOptions subject;
  const bool second = index == 1;
  subject.url = second ? options.url_b : options.url;
  subject.command = options.command;
  subject.in_process = options.in_process;
  subject.instances = options.instances;
  subject.threads = options.threads.empty() ? 0 : options.threads[0];
  subject.pid = options.pid;
  subject.ready_timeout = seconds(options.ready_timeout_s);
  subject.dialect.dialect =
      *loadgen::dialect_from_name(second && !options.dialect_b.empty() ? options.dialect_b : options.dialect);
  subject.dialect.model = options.server_model;
  subject.dialect.input_name = options.input_name;
  subject.dialect.api_key = options.api_key;
  if (takes_two_servers(options.mode)) loadgen::set_address_or_command(options.servers[index], subject);
  return subject;
}

std::vector<std::uint32_t> ladder_clients(const BenchOptions& options) {
  if (!options.clients.empty()) return options.clients;
  return {1, 2, 5, 10, 20, 50, 100, 200, 400};
}

}  // namespace weir::cli
