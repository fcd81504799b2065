// The flags of `weir bench` as values, and what must hold between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/dialects/workload.h"
#include "loadgen/load/load_spec.h"
#include "loadgen/modes/subject.h"

namespace CLI {
class App;
}

namespace weir::cli {

struct BenchOptions {
  std::string mode;
  std::vector<std::string> servers;  ///< Of compare and ramp: A and B, an address or a command each.

  // the server
  std::string url;
  std::string url_b;
  std::string command;
  std::string in_process;
  std::string dialect = "openai";
  std::string dialect_b;
  std::string server_model = "model";
  std::string input_name = "text";
  std::string api_key;
  int pid = 0;
  double ready_timeout_s = 120;
  int instances = 0;
  std::vector<int> threads;

  // the load
  std::vector<std::uint32_t> clients;
  double rate = 0;
  std::string arrivals;
  std::uint32_t connections = 1000;
  double duration_s = 0;  ///< 0: the mode's own.
  double warmup_s = 10;
  double timeout_s = 30;
  double error_pause_ms = 10;
  std::uint64_t seed = 1;
  int load_threads = 1;

  // the texts
  loadgen::WorkloadOptions texts;

  // the modes
  double knee_factor = 2;
  double search_duration_s = 10;
  double p99_ms = 0;
  int rounds = 6;
  std::vector<double> shares;

  // what is told, and where
  std::string model_config;
  std::string peak = "int8";
  std::string json;
  std::string html;
  double allow_errors = 0;
  bool no_calibration = false;
  bool quiet = false;
};

void define_bench_flags(CLI::App& app, BenchOptions& options);

/// What no single flag can tell. kInvalidArgument.
Status check_bench_options(const BenchOptions& options);

/// The load that every run starts from. Errors of the file with arrivals.
Result<loadgen::LoadSpec> load_spec(const BenchOptions& options);

/// The server of the modes with one, or the first (index 0) or second of compare and ramp.
loadgen::SubjectOptions subject_options(const BenchOptions& options, std::size_t index);

/// Whether a mode looks at two servers.
bool takes_two_servers(const std::string& mode);

/// Numbers of clients of ladder and heatmap.
std::vector<std::uint32_t> ladder_clients(const BenchOptions& options);

}  // namespace weir::cli
