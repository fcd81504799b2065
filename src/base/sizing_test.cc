#include "base/sizing.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

/// A machine after hwloc's description, with much memory and no limits.
Machine machine_of(const std::string& description, std::uint64_t memory_bytes = 256 * kGib) {
  Machine machine;
  Result<Topology> topology = synthetic_topology(description);
  EXPECT_TRUE(topology.ok());
  machine.topology = std::move(*topology);
  machine.allowed_cpus.resize(static_cast<std::size_t>(machine.topology.cpu_count()));
  std::iota(machine.allowed_cpus.begin(), machine.allowed_cpus.end(), 0);
  machine.memory.total_bytes = memory_bytes;
  machine.open_files_hard = 1 << 20;
  return machine;
}

std::string rule_of(const Sizing& sizing, const std::string& name) {
  for (const Decision& decision : sizing.decisions) {
    if (decision.name == name) return decision.rule;
  }
  return "no decision named " + name;
}

/// No CPU has two threads, all are allowed, and the rest is for the others.
void expect_sound_plan(const Sizing& sizing, const Machine& machine) {
  ASSERT_EQ(sizing.instance_cpus.size(), static_cast<std::size_t>(sizing.instances));
  std::multiset<int> all(sizing.other_cpus.begin(), sizing.other_cpus.end());
  for (const std::vector<int>& cpus : sizing.instance_cpus) {
    EXPECT_EQ(cpus.size(), static_cast<std::size_t>(sizing.threads_per_instance));
    all.insert(cpus.begin(), cpus.end());
  }
  EXPECT_EQ(std::vector<int>(all.begin(), all.end()), machine.allowed_cpus);
}

struct Case {
  const char* topology;
  std::uint64_t memory_gib;
  int cores, instances, threads;
};

class SizingTable : public ::testing::TestWithParam<Case> {};

TEST_P(SizingTable, FollowsTheRules) {
  const Case& c = GetParam();
  const Sizing sizing = choose_sizing(machine_of(c.topology, c.memory_gib * kGib));
  EXPECT_EQ(sizing.cores, c.cores);
  EXPECT_EQ(sizing.instances, c.instances);
  EXPECT_EQ(sizing.threads_per_instance, c.threads);
  EXPECT_EQ(sizing.decisions.size(), 8u);
  for (const Decision& decision : sizing.decisions) EXPECT_FALSE(decision.rule.empty()) << decision.name;
}

INSTANTIATE_TEST_SUITE_P(Machines, SizingTable,
                         ::testing::Values(Case{"core:1 pu:1", 64, 1, 1, 1},               //
                                           Case{"core:1 pu:2", 64, 1, 1, 1},               //
                                           Case{"core:2 pu:1", 64, 2, 1, 2},               //
                                           Case{"core:3 pu:2", 64, 3, 1, 3},               //
                                           Case{"core:4 pu:2", 64, 4, 2, 2},               //
                                           Case{"core:8 pu:2", 64, 8, 4, 2},               //
                                           Case{"core:12 pu:1", 64, 12, 6, 2},             //
                                           Case{"package:2 core:32 pu:2", 256, 64, 6, 4},  //
                                           Case{"core:8 pu:1", 16, 8, 4, 2},               //
                                           Case{"core:8 pu:1", 15, 8, 3, 2},               //
                                           Case{"core:8 pu:1", 8, 8, 2, 4},                //
                                           Case{"core:8 pu:1", 3, 8, 1, 4},                //
                                           Case{"package:2 [numa] core:1 pu:1", 64, 2, 1, 2}));

TEST(Sizing, RulesAreToldInWords) {
  EXPECT_EQ(rule_of(choose_sizing(machine_of("core:2 pu:2")), "instances"), "cores 2 / 2");
  EXPECT_EQ(rule_of(choose_sizing(machine_of("core:1 pu:1")), "instances"), "cores 1 / 2, at least 1");
  EXPECT_EQ(rule_of(choose_sizing(machine_of("core:64 pu:1")), "instances"), "at most 6");
  EXPECT_EQ(rule_of(choose_sizing(machine_of("core:64 pu:1")), "threads per instance"),
            "cores 64 / instances 6, at most 4");
  EXPECT_EQ(rule_of(choose_sizing(machine_of("core:8 pu:1", 3 * kGib)), "instances"),
            "memory 3.0 GiB / 4 GiB, at least 1");
}

TEST(Sizing, QuotaIsRoundedDown) {
  Machine machine = machine_of("core:8 pu:2");
  machine.cgroup.cpu_quota = 1.5;
  Sizing sizing = choose_sizing(machine);
  EXPECT_EQ(sizing.cores, 1);
  EXPECT_EQ(sizing.instances, 1);
  EXPECT_EQ(sizing.threads_per_instance, 1);
  EXPECT_EQ(rule_of(sizing, "cores"), "cgroup quota 1.5 CPUs, rounded down (physical cores 8)");
  EXPECT_FALSE(sizing.pinned());

  machine.cgroup.cpu_quota = 0.25;
  EXPECT_EQ(choose_sizing(machine).cores, 1);
  machine.cgroup.cpu_quota = 4;
  sizing = choose_sizing(machine);
  EXPECT_EQ(sizing.cores, 4);
  EXPECT_EQ(sizing.instances, 2);
  machine.cgroup.cpu_quota = 12;  // more than there is
  EXPECT_EQ(choose_sizing(machine).cores, 8);
  EXPECT_EQ(rule_of(choose_sizing(machine), "cores"), "physical cores 8");
}

TEST(Sizing, CpusetLimitsTheCores) {
  Machine machine = machine_of("core:8 pu:1");
  machine.allowed_cpus = {3, 4, 5};
  const Sizing sizing = choose_sizing(machine);
  EXPECT_EQ(sizing.cores, 3);
  EXPECT_EQ(sizing.instances, 1);
  EXPECT_EQ(sizing.threads_per_instance, 3);
  EXPECT_EQ(rule_of(sizing, "cores"), "physical cores 3 of 8 allowed by CPU affinity or cpuset");
}

TEST(Sizing, TwoHardwareThreadsOfACoreAreOneCore) {
  Machine machine = machine_of("core:8 pu:2");
  machine.allowed_cpus = {2, 3, 4, 5};  // two cores
  EXPECT_EQ(choose_sizing(machine).cores, 2);
}

TEST(Sizing, CgroupMemoryCounts) {
  Machine machine = machine_of("core:8 pu:1");
  machine.cgroup.memory_bytes = 3 * kGib;
  EXPECT_EQ(choose_sizing(machine).instances, 1);
  EXPECT_EQ(machine.usable_memory_bytes(), 3 * kGib);
  machine.cgroup.memory_bytes = 1024 * kGib;  // more than there is
  EXPECT_EQ(machine.usable_memory_bytes(), 256 * kGib);
}

TEST(Sizing, TheArenasTogetherMayTakeHalfOfTheMemory) {
  EXPECT_EQ(choose_sizing(machine_of("core:8 pu:1", 32 * kGib)).arena_limit_bytes, 4 * kGib);
  EXPECT_EQ(choose_sizing(machine_of("core:8 pu:1", 0)).arena_limit_bytes, 0u);
  SizingRequest request;
  request.arena_limit_bytes = 7;
  EXPECT_EQ(choose_sizing(machine_of("core:8 pu:1"), request).arena_limit_bytes, 7u);
}

TEST(Sizing, UnknownMemoryLimitsNothing) { EXPECT_EQ(choose_sizing(machine_of("core:8 pu:1", 0)).instances, 4); }

TEST(Sizing, AMachineWithoutFactsStillGetsOne) {
  const Sizing sizing = choose_sizing(Machine());
  EXPECT_EQ(sizing.cores, 1);
  EXPECT_EQ(sizing.instances, 1);
  EXPECT_EQ(sizing.threads_per_instance, 1);
}

TEST(Sizing, TheUserDecides) {
  SizingRequest request;
  request.instances = 2;
  Sizing sizing = choose_sizing(machine_of("core:8 pu:1"), request);
  EXPECT_EQ(sizing.instances, 2);
  EXPECT_EQ(sizing.threads_per_instance, 4);
  EXPECT_EQ(rule_of(sizing, "instances"), "set by the user");

  request = {};
  request.threads_per_instance = 4;
  sizing = choose_sizing(machine_of("core:8 pu:1"), request);
  EXPECT_EQ(sizing.instances, 2);  // not cores / 2 = 4, which would be 16 threads
  EXPECT_EQ(rule_of(sizing, "instances"), "cores 8 / threads 4");

  request.instances = 8;
  request.network_threads = 3;
  request.tokenize_threads = 5;
  sizing = choose_sizing(machine_of("core:8 pu:1"), request);
  EXPECT_EQ(sizing.network_threads, 3);
  EXPECT_EQ(sizing.tokenize_threads, 5);
  ASSERT_EQ(sizing.warnings.size(), 1u);
  EXPECT_NE(sizing.warnings[0].find("8 instances x 4 threads are more than the 8 cores"), std::string::npos);
}

TEST(Sizing, SmallMachinesAreNotPinned) {
  const Sizing sizing = choose_sizing(machine_of("core:2 pu:1"));
  EXPECT_FALSE(sizing.pinned());
  EXPECT_EQ(rule_of(sizing, "pinning"), "fewer than 8 cores");
}

TEST(Sizing, PinsPhysicalCoresFirstAndLeavesSiblingsToTheNetwork) {
  const Machine machine = machine_of("core:8 pu:2");
  const Sizing sizing = choose_sizing(machine);
  expect_sound_plan(sizing, machine);
  for (const std::vector<int>& cpus : sizing.instance_cpus) {
    for (const int cpu : cpus) EXPECT_EQ(cpu % 2, 0) << "a second hardware thread";
  }
  EXPECT_EQ(sizing.other_cpus, (std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15}));
}

TEST(Sizing, WithoutACpuForTheNetworkNothingIsPinned) {
  const Sizing sizing = choose_sizing(machine_of("core:8 pu:1"));
  EXPECT_FALSE(sizing.pinned());
  EXPECT_EQ(rule_of(sizing, "pinning"), "no CPU would be left for the network");
}

TEST(Sizing, AnInstanceStaysOnOneNumaNode) {
  const Machine machine = machine_of("package:2 [numa] core:32 pu:2");
  const Sizing sizing = choose_sizing(machine);
  expect_sound_plan(sizing, machine);
  int on_first = 0;
  for (const std::vector<int>& cpus : sizing.instance_cpus) {
    const bool first = cpus[0] < 64;
    on_first += first ? 1 : 0;
    for (const int cpu : cpus) {
      EXPECT_EQ(cpu < 64, first);
      EXPECT_EQ(cpu % 2, 0);
    }
  }
  EXPECT_EQ(on_first, 3);
}

TEST(Sizing, AnInstanceLargerThanANodeSpansNodes) {
  const Machine machine = machine_of("package:4 [numa] core:2 pu:1");
  SizingRequest request;
  request.pin = Pin::kOn;
  request.instances = 2;
  request.threads_per_instance = 3;
  const Sizing sizing = choose_sizing(machine, request);
  expect_sound_plan(sizing, machine);
}

TEST(Sizing, AQuotaForbidsPinningUnlessAsked) {
  Machine machine = machine_of("core:16 pu:2");
  machine.cgroup.cpu_quota = 12;
  EXPECT_FALSE(choose_sizing(machine).pinned());
  SizingRequest request;
  request.pin = Pin::kOn;
  const Sizing sizing = choose_sizing(machine, request);
  expect_sound_plan(sizing, machine);
}

TEST(Sizing, PinningIsRefusedWhenItCannotBe) {
  SizingRequest request;
  request.pin = Pin::kOn;
  request.instances = 3;
  request.threads_per_instance = 2;
  const Sizing sizing = choose_sizing(machine_of("core:4 pu:1"), request);
  EXPECT_FALSE(sizing.pinned());
  EXPECT_NE(std::find(sizing.warnings.begin(), sizing.warnings.end(),
                      "--pin on is not possible: 6 threads are more than the 4 allowed CPUs"),
            sizing.warnings.end());
  request.pin = Pin::kOff;
  EXPECT_EQ(rule_of(choose_sizing(machine_of("core:64 pu:2"), request), "pinning"), "set by the user");
}

TEST(Sizing, PlansOfManyMachinesAreSound) {
  SizingRequest request;
  request.pin = Pin::kOn;
  for (const char* topology : {"core:1 pu:1", "core:2 pu:2", "package:2 [numa] core:5 pu:2",
                               "package:3 [numa] core:7 pu:1", "numa:2 core:16 pu:4"}) {
    for (int stride = 1; stride <= 3; ++stride) {
      Machine machine = machine_of(topology);
      std::erase_if(machine.allowed_cpus, [stride](int cpu) { return cpu % stride != 0; });
      expect_sound_plan(choose_sizing(machine, request), machine);
    }
  }
}

TEST(MachineWarnings, EachOddityIsNamed) {
  Machine machine = machine_of("core:4 pu:1", 2 * kGib);
  machine.cgroup.cpu_quota = 1.5;
  machine.cgroup.cpu_quota_source = "/sys/fs/cgroup/cpu.max";
  machine.hypervisor = true;
  machine.open_files_hard = 1024;
  machine.features = {cpu::Feature::kSse42};
  const std::vector<std::string> warnings = machine_warnings(machine);
  ASSERT_EQ(warnings.size(), 5u);
  EXPECT_NE(warnings[0].find("1.5 CPUs (/sys/fs/cgroup/cpu.max)"), std::string::npos);
  EXPECT_NE(warnings[1].find("SMT"), std::string::npos);
  EXPECT_NE(warnings[2].find("2.0 GiB"), std::string::npos);
  EXPECT_NE(warnings[3].find("RLIMIT_NOFILE"), std::string::npos);
  EXPECT_NE(warnings[4].find("AVX2"), std::string::npos);
}

TEST(MachineWarnings, APlainMachineHasNone) {
  Machine machine = machine_of("core:4 pu:2");
  machine.features = {cpu::Feature::kAvx2};
  EXPECT_TRUE(machine_warnings(machine).empty());
}

TEST(Sizing, ThisMachineHasAPlan) {
  const Machine machine = detect_machine();
  const Sizing sizing = choose_sizing(machine);
  EXPECT_GE(sizing.cores, 1);
  EXPECT_LE(sizing.instances * sizing.threads_per_instance, std::max(1, sizing.cores));
}

TEST(Sizing, PackedCallersAreTheCores) {
  EXPECT_EQ(choose_sizing(machine_of("core:2 pu:1")).packed_callers, 2);
  EXPECT_EQ(choose_sizing(machine_of("core:6 pu:1")).packed_callers, 6);
}

TEST(Sizing, PackedCallersFollowWhatTheUserSetAndWhatIsPinned) {
  SizingRequest request;
  request.instances = 2;
  request.threads_per_instance = 3;
  const Sizing set = choose_sizing(machine_of("core:6 pu:1"), request);
  EXPECT_EQ(set.packed_callers, 6);
  EXPECT_EQ(rule_of(set, "packed callers"), "instances 2 x threads 3, set by the user");
  const Sizing pinned = choose_sizing(machine_of("core:16 pu:1"));
  ASSERT_TRUE(pinned.pinned());
  EXPECT_EQ(pinned.packed_callers, pinned.instances * pinned.threads_per_instance);
}

}  // namespace
}  // namespace weir
