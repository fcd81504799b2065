// The toy server as a program of its own, for checks that need another process: weir_toy_server [name=value...], see
// usage(). Runs until it is ended.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "loadgen/toy/toy_server.h"

namespace weir::loadgen {
namespace {

constexpr char kUsage[] =
    "usage: weir_toy_server [NAME=VALUE...]\n"
    "  port=0  latency_ms=0  slow_ms=0  slow_every=0  stall_every_s=0  stall_s=0  leak_mb_per_s=0\n"
    "  fault=none|status|close|close_midway|garbage|wrong_body|silence  fault_every=1  status=503  texts=1\n";

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

bool set(const std::string& name, const char* value, ToyBehaviour& behaviour, std::uint16_t& port) {
  const double number = std::atof(value);
  if (name == "port") {
    port = static_cast<std::uint16_t>(number);
  } else if (name == "latency_ms") {
    behaviour.latency = seconds(number / 1e3);
  } else if (name == "slow_ms") {
    behaviour.slow = seconds(number / 1e3);
  } else if (name == "slow_every") {
    behaviour.slow_every = static_cast<std::uint64_t>(number);
  } else if (name == "stall_every_s") {
    behaviour.stall_every = seconds(number);
  } else if (name == "stall_s") {
    behaviour.stall = seconds(number);
  } else if (name == "leak_mb_per_s") {
    behaviour.leak_bytes_per_second = number * 1e6;
  } else if (name == "fault_every") {
    behaviour.fault_every = static_cast<std::uint64_t>(number);
  } else if (name == "status") {
    behaviour.status = static_cast<int>(number);
  } else if (name == "texts") {
    behaviour.texts = static_cast<std::size_t>(number);
  } else if (name == "fault") {
    const Result<ToyFault> fault = toy_fault_from_name(value);
    if (!fault.ok()) return false;
    behaviour.fault = *fault;
  } else {
    return false;
  }
  return behaviour.fault_every > 0;
}

}  // namespace
}  // namespace weir::loadgen

int main(int argc, char** argv) {
  using namespace weir::loadgen;
  ToyBehaviour behaviour;
  std::uint16_t port = 0;
  for (int i = 1; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr ||
        !set(std::string(argv[i], static_cast<std::size_t>(equals - argv[i])), equals + 1, behaviour, port)) {
      std::fputs(kUsage, stderr);
      return 2;
    }
  }
  const auto server = ToyServer::start(behaviour, port);
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", (*server)->url().c_str());
  std::fflush(stdout);
  for (;;) pause();
}
