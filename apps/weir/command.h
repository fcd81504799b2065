// A subcommand of `weir`. Each has a file of its own with its flags, its wiring and its run; main.cc lists them.
#pragma once

#include "base/result.h"

namespace weir::cli {

/// Exit statuses of every subcommand.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

/// `argv[0]` is the subcommand's name.
using Run = int (*)(int argc, char** argv);

struct Command {
  const char* name;
  const char* summary;
  Run run;
};

/// The subcommands, each in a file of its name.
int run_doctor(int argc, char** argv);
int run_serve(int argc, char** argv);
int run_tokenize(int argc, char** argv);
int run_import(int argc, char** argv);
int run_embed(int argc, char** argv);
int run_bench(int argc, char** argv);
int run_rerank(int argc, char** argv);
int run_predict(int argc, char** argv);

/// Prints "weir NAME: error: MESSAGE" on standard error and gives the exit status for the error's kind.
int fail(const char* command, const Error& error);

}  // namespace weir::cli
