// `weir doctor`: what this machine offers, and the configuration that weir would choose.
#include <cstdio>
#include <string_view>

#include "apps/weir/allocator.h"
#include "apps/weir/command.h"
#include "apps/weir/doctor_report.h"
#include "session/session.h"

namespace weir::cli {
namespace {

constexpr char kHelp[] =
    "usage: weir doctor [--json]\n"
    "\n"
    "Shows what this machine offers (cores, SMT, NUMA, caches, control group limits, instruction sets,\n"
    "memory), the instances and threads that `weir serve` would choose here with the rule that decided\n"
    "each number, and what is odd.\n"
    "\n"
    "  --json   one JSON object instead of a table\n"
    "\n"
    "environment:\n"
    "  WEIR_ISA   restricts the instruction sets that weir uses, such as avx2 or scalar\n"
    "\n"
    "exit status: 0 weir can serve here, warnings or not; 1 it cannot; 2 wrong usage or a wrong WEIR_ISA\n";

}  // namespace

int run_doctor(int argc, char** argv) {
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(kHelp, stdout);
      return kExitOk;
    }
    if (argument != "--json") {
      const std::string text(argument);
      return fail("doctor", {ErrorKind::kInvalidArgument, text + ": no such argument (see weir doctor --help)", text});
    }
    json = true;
  }
  const Result<cpu::Features> enabled = cpu::enabled();
  if (!enabled.ok()) return fail("doctor", enabled.error());
  DoctorFacts facts;
  facts.machine = detect_machine();
  facts.sizing = choose_sizing(facts.machine);
  facts.enabled = *enabled;
  facts.weir_version = WEIR_VERSION;
  facts.runtime_version = session::runtime_version();
  facts.allocator = allocator_name();
  std::fputs((json ? doctor_json(facts) : doctor_text(facts)).c_str(), stdout);
  return kExitOk;
}

}  // namespace weir::cli
