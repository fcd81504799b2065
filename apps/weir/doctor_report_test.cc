#include "apps/weir/doctor_report.h"

#include <numeric>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace weir::cli {
namespace {

using cpu::Feature;

DoctorFacts facts_of(const std::string& topology) {
  DoctorFacts facts;
  facts.machine.topology = *synthetic_topology(topology);
  facts.machine.allowed_cpus.resize(static_cast<std::size_t>(facts.machine.topology.cpu_count()));
  std::iota(facts.machine.allowed_cpus.begin(), facts.machine.allowed_cpus.end(), 0);
  facts.machine.cpu_name = "Example CPU";
  facts.machine.features = {Feature::kSse42, Feature::kAvx2, Feature::kFma, Feature::kAvxVnni};
  facts.machine.memory.total_bytes = std::uint64_t{64} << 30;
  facts.machine.open_files_hard = 1 << 20;
  facts.enabled = facts.machine.features;
  facts.sizing = choose_sizing(facts.machine);
  facts.weir_version = "0.1.0";
  facts.runtime_version = "1.32.0";
  facts.allocator = "tcmalloc";
  return facts;
}

/// Runs of spaces count as one: columns may move.
bool has(const std::string& text, const std::string& part) {
  std::string narrow;
  for (const char c : text) {
    if (c != ' ' || !narrow.ends_with(' ')) narrow += c;
  }
  return narrow.find(part) != std::string::npos;
}

TEST(DoctorReport, TextTellsFactsAndRules) {
  const std::string text = doctor_text(facts_of("package:2 [numa] core:16 pu:2"));
  EXPECT_TRUE(has(text, "32 physical, 64 logical; 2 threads per core; 2 packages; 2 NUMA nodes")) << text;
  EXPECT_TRUE(has(text, " instances 6 at most 6")) << text;
  EXPECT_TRUE(has(text, " threads per instance 4 cores 32 / instances 6, at most 4")) << text;
  EXPECT_TRUE(has(text, "instance 5 CPUs ")) << text;
  EXPECT_TRUE(has(text, " missing amx_int8 int8")) << text;
  EXPECT_FALSE(has(text, "avx512_vnni")) << "AVX-VNNI does the same";
  EXPECT_TRUE(has(text, "1.32.0"));
}

TEST(DoctorReport, WarningsStandAtTheEnd) {
  DoctorFacts facts = facts_of("core:4 pu:1");
  facts.machine.cgroup.cpu_quota = 1.5;
  facts.machine.cgroup.cpu_quota_source = "/sys/fs/cgroup/cpu.max";
  facts.sizing = choose_sizing(facts.machine);
  const std::string text = doctor_text(facts);
  EXPECT_TRUE(has(text, "1.5 CPUs /sys/fs/cgroup/cpu.max")) << text;
  EXPECT_TRUE(has(text, "\nWarnings\n - the cgroup quota of 1.5 CPUs")) << text;
  EXPECT_FALSE(has(doctor_text(facts_of("core:4 pu:1")), "Warnings"));
}

TEST(DoctorReport, WhatWeirIsaLeavesIsShown) {
  DoctorFacts facts = facts_of("core:4 pu:1");
  EXPECT_FALSE(has(doctor_text(facts), "WEIR_ISA"));
  facts.enabled = {};
  EXPECT_TRUE(has(doctor_text(facts), "left by WEIR_ISA scalar"));
}

TEST(DoctorReport, JsonHoldsTheSame) {
  DoctorFacts facts = facts_of("core:8 pu:2");
  facts.machine.cpu_name = "quoted \" name";
  facts.machine.cgroup.memory_bytes = 12345678;
  const boost::json::value out = boost::json::parse(doctor_json(facts));
  EXPECT_EQ(out.at("machine").at("cpu").as_string(), "quoted \" name");
  EXPECT_EQ(out.at("machine").at("physical_cores").to_number<int>(), 8);
  EXPECT_EQ(out.at("machine").at("logical_cpus").as_int64(), 16);
  EXPECT_EQ(out.at("machine").at("instruction_sets").as_array().size(), 4u);
  EXPECT_TRUE(out.at("cgroup").at("cpu_quota").is_null());
  EXPECT_EQ(out.at("cgroup").at("memory_bytes").to_number<int>(), 12345678);
  EXPECT_EQ(out.at("choice").at("instances").as_int64(), 4);
  EXPECT_EQ(out.at("choice").at("instance_cpus").as_array().size(), 4u);
  EXPECT_EQ(out.at("choice").at("decisions").at(1).at("rule").as_string(), "cores 8 / 2");
  EXPECT_TRUE(out.at("warnings").is_array());
}

TEST(DoctorReport, AMachineWithoutFactsIsShown) {
  const DoctorFacts facts;
  EXPECT_FALSE(doctor_text(facts).empty());
  EXPECT_NO_THROW(boost::json::parse(doctor_json(facts)));
}

}  // namespace
}  // namespace weir::cli
