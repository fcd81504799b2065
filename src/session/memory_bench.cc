// Memory of sessions under batches of random shapes, by option: the table of docs/performance.md.
//
//   weir_session_memory_bench MODEL.onnx [RUNS] [MAX_TOKENS]
//
// Batches of 1 to 32 texts of 1 to 256 tokens, no more than MAX_TOKENS in all (0: as they come). Each row is a process
// of its own. The graph takes input_ids, attention_mask and token_type_ids and gives last_hidden_state.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"

namespace {

using weir::session::Arena;
using weir::session::Options;
using weir::session::Session;

struct Case {
  const char* name;
  Arena arena;
  bool memory_pattern;
  bool shrink;
  int sessions;
  bool shared;
};

constexpr Case kCases[] = {
    {"session arena, pattern", Arena::kSession, true, false, 1, false},
    {"session arena", Arena::kSession, false, false, 1, false},
    {"session arena, shrunk every run", Arena::kSession, false, true, 1, false},
    {"process arena", Arena::kProcess, false, false, 1, false},
    {"process arena, shrunk every run", Arena::kProcess, false, true, 1, false},
    {"malloc", Arena::kNone, false, false, 1, false},
    {"process arena, 3 sessions", Arena::kProcess, false, false, 3, false},
    {"process arena, 3 sessions, shared weights", Arena::kProcess, false, false, 3, true},
};

long status_mib(const char* field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(field, 0) == 0) return std::atol(line.c_str() + std::string(field).size() + 1) / 1024;
  }
  return -1;
}

bool run_batch(Session& session, std::size_t rows, std::size_t columns, bool shrink) {
  const std::vector<std::int64_t> ids(rows * columns, 100);
  const std::vector<std::int64_t> mask(rows * columns, 1);
  const std::vector<std::int64_t> types(rows * columns, 0);
  const auto result = session.run({rows, columns, ids, mask, types}, "last_hidden_state", shrink);
  if (!result.ok()) std::printf("%s\n", result.error().message.c_str());
  return result.ok();
}

int measure(const Case& one, const std::string& model, int runs, std::size_t max_tokens) {
  Options options;
  options.arena = one.arena;
  options.memory_pattern = one.memory_pattern;
  weir::session::SharedWeights weights;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < one.sessions; ++i) {
    auto session = Session::load(model, options, one.shared ? &weights : nullptr);
    if (!session.ok()) {
      std::printf("%s\n", session.error().message.c_str());
      return 1;
    }
    sessions.push_back(std::move(session).value());
  }
  const long loaded = status_mib("RssAnon");
  std::mt19937 random(1);
  std::size_t tokens = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) {
    const std::size_t columns = 1 + random() % 256;
    std::size_t rows = 1 + random() % 32;
    if (max_tokens > 0) rows = std::clamp<std::size_t>(max_tokens / columns, 1, rows);
    if (!run_batch(*sessions[static_cast<std::size_t>(i) % sessions.size()], rows, columns, one.shrink)) return 1;
    tokens += rows * columns;
    if (i + 1 == std::max(runs / 3, 1)) std::printf("%-44s %7ld %9ld", one.name, loaded, status_mib("RssAnon"));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(" %9ld %7ld %7ld %10.0f\n", status_mib("RssAnon"), status_mib("VmHWM"), status_mib("RssFile"),
              static_cast<double>(tokens) / seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::printf("usage: %s MODEL.onnx [RUNS 3000] [MAX_TOKENS 512]\n", argv[0]);
    return 0;
  }
  const int runs = argc > 2 ? std::atoi(argv[2]) : 3000;
  const int max_tokens = argc > 3 ? std::atoi(argv[3]) : 512;
  std::printf("%-44s %7s %9s %9s %7s %7s %10s\n", "MiB", "loaded", "1/3 runs", "all runs", "peak", "mapped",
              "tokens/s");
  for (const Case& one : kCases) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const int status = measure(one, argv[1], runs, static_cast<std::size_t>(std::max(max_tokens, 0)));
      std::fflush(stdout);
      _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  return 0;
}
