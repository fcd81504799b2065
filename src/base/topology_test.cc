#include "base/topology.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <sched.h>

namespace weir {
namespace {

TEST(Topology, TwoSocketsWithSmt) {
  const Result<Topology> topology =
      synthetic_topology("package:2 [numa(memory=1073741824)] l3:1(size=33554432) core:4 pu:2");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  EXPECT_EQ(topology->packages, 2);
  ASSERT_EQ(topology->cores.size(), 8u);
  EXPECT_EQ(topology->threads_per_core(), 2);
  EXPECT_EQ(topology->cpu_count(), 16);
  EXPECT_EQ(topology->cores[0].package, 0);
  EXPECT_EQ(topology->cores[7].package, 1);
  EXPECT_EQ(topology->cores[0].numa_node, 0);
  EXPECT_EQ(topology->cores[7].numa_node, 1);
  ASSERT_EQ(topology->numa_nodes.size(), 2u);
  EXPECT_EQ(topology->numa_nodes[1].memory_bytes, 1073741824u);
  const auto l3 = std::find_if(topology->caches.begin(), topology->caches.end(),
                               [](const Cache& cache) { return cache.name == "L3"; });
  ASSERT_NE(l3, topology->caches.end());
  EXPECT_EQ(l3->count, 2);
  EXPECT_EQ(l3->size_bytes, 33554432u);
}

TEST(Topology, EveryCpuBelongsToOneCore) {
  const Result<Topology> topology = synthetic_topology("package:1 core:3 pu:2");
  ASSERT_TRUE(topology.ok());
  std::set<int> seen;
  for (const Core& core : topology->cores) seen.insert(core.cpus.begin(), core.cpus.end());
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 4, 5}));
}

TEST(Topology, CpusWithoutCores) {
  const Result<Topology> topology = synthetic_topology("pu:3");
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->cores.size(), 3u);
  EXPECT_EQ(topology->threads_per_core(), 1);
  EXPECT_EQ(topology->packages, 1);
}

TEST(Topology, ABadDescriptionIsAnError) { EXPECT_FALSE(synthetic_topology("nonsense").ok()); }

TEST(Topology, ThisMachine) {
  const Result<Topology> topology = detect_topology();
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  std::set<int> cpus;
  for (const Core& core : topology->cores) cpus.insert(core.cpus.begin(), core.cpus.end());
  EXPECT_EQ(static_cast<int>(cpus.size()), topology->cpu_count());
  for (const int cpu : allowed_cpus()) EXPECT_TRUE(cpus.contains(cpu)) << cpu;
}

TEST(Topology, AllowedCpusFollowTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int last = allowed_cpus().back();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_cpus(), std::vector<int>{last});
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Topology, FlatHasACorePerCpu) {
  const Topology topology = flat_topology({3, 5});
  ASSERT_EQ(topology.cores.size(), 2u);
  EXPECT_EQ(topology.cores[1].cpus, std::vector<int>{5});
}

TEST(Topology, ModelNameOfAMissingFileIsEmpty) { EXPECT_EQ(cpu_model_name("/nowhere"), ""); }

}  // namespace
}  // namespace weir
