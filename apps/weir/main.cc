// weir: serves models on CPU machines. This file only finds the subcommand.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "apps/weir/command.h"

namespace weir::cli {
namespace {

constexpr Command kCommands[] = {
    {"serve", "serve models over HTTP", run_serve},
    {"doctor", "what this machine offers, and the configuration weir would choose", run_doctor},
    {"tokenize", "token ids, offsets and special tokens of texts, or the text of ids", run_tokenize},
    {"import", "make a bundle, the folder that weir serves, of a Hugging Face folder or an ONNX file", run_import},
    {"embed", "the vectors of many texts, from files or standard input", run_embed},
    {"bench", "load test: latencies, throughput, knee, soak, comparison of two servers", run_bench},
    {"rerank", "texts by how well they answer a query", run_rerank},
    {"predict", "labels of texts, or of pieces of them", run_predict},
    {nullptr, nullptr, nullptr},
};

void print_usage(std::FILE* out) {
  std::fputs("usage: weir COMMAND [ARGUMENTS]\n\ncommands:\n", out);
  for (const Command& command : kCommands) {
    if (command.name != nullptr) std::fprintf(out, "  %-10s %s\n", command.name, command.summary);
  }
  std::fputs("\n`weir COMMAND --help` tells a command's flags.\n", out);
}

}  // namespace

int fail(const char* command, const Error& error) {
  std::fprintf(stderr, "weir %s: error: %s\n", command, error.message.c_str());
  return error.kind == ErrorKind::kInvalidArgument ? kExitUsage : kExitFailure;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(stdout);
    return kExitOk;
  }
  if (name == "--version") {
    std::printf("weir %s\n", WEIR_VERSION);
    return kExitOk;
  }
  for (const Command& command : kCommands) {
    if (command.name != nullptr && name == command.name) return command.run(argc - 1, argv + 1);
  }
  std::fprintf(stderr, "weir: error: unknown command '%s'\n\n", argv[1]);
  print_usage(stderr);
  return kExitUsage;
}

}  // namespace weir::cli

int main(int argc, char** argv) { return weir::cli::run(argc, argv); }
