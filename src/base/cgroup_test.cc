#include "base/cgroup.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace weir {
namespace {

namespace fs = std::filesystem;
using Version = CgroupLimits::Version;

/// A machine's /proc and /sys in a folder of the test's own.
class CgroupTest : public ::testing::Test {
 protected:
  CgroupTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "weir_cgroup_" + info->name() + "_" + std::to_string(getpid());
    fs::remove_all(root_);
  }
  ~CgroupTest() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& content) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
  }

  void mount_v2(const std::string& group, const std::string& mount_root = "/") {
    put("/proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n30 23 0:26 " + mount_root +
                                    " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/proc/self/cgroup", "0::" + group + "\n");
  }

  void mount_v1(const std::string& group, const std::string& mount_root = "/") {
    put("/proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
        "32 31 0:29 " +
            mount_root +
            " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
            "33 31 0:30 " +
            mount_root +
            " /sys/fs/cgroup/cpuset rw shared:9 master:1 - cgroup cgroup rw,cpuset\n"
            "34 31 0:31 " +
            mount_root + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put("/proc/self/cgroup",
        "4:memory:" + group + "\n3:cpuset:" + group + "\n2:cpu,cpuacct:" + group + "\n1:name=systemd:/x\n");
  }

  CgroupLimits read() const { return read_cgroup_limits(root_); }

  std::string root_;
};

TEST(CpuList, ParsesWhatTheKernelWrites) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (std::vector<int>{5}));
  EXPECT_EQ(parse_cpu_list("3,1-2,2"), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(parse_cpu_list(" \n"), (std::vector<int>{}));
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,,2", "1,", "1 2", "0-99999999", "99999999999999999999", "1-2-3"}) {
    EXPECT_EQ(parse_cpu_list(bad), std::nullopt) << bad;
  }
  std::string hostile = "0-65535";
  for (int i = 0; i < 10000; ++i) hostile += ",0-65535";
  EXPECT_EQ(parse_cpu_list(hostile), std::nullopt);
}

TEST(CpuList, FormatIsTheInverse) {
  EXPECT_EQ(format_cpu_list({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(format_cpu_list({}), "");
  EXPECT_EQ(format_cpu_list({4, 6, 7}), "4,6-7");
}

TEST_F(CgroupTest, NothingMounted) {
  const CgroupLimits limits = read();
  EXPECT_EQ(limits.version, Version::kNone);
  EXPECT_FALSE(limits.cpu_quota || limits.cpuset || limits.memory_bytes);
  EXPECT_TRUE(limits.warnings.empty());
}

TEST_F(CgroupTest, V2WithoutLimits) {
  mount_v2("/");
  put("/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
  put("/sys/fs/cgroup/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/memory.max", "max\n");
  const CgroupLimits limits = read();
  EXPECT_EQ(limits.version, Version::kV2);
  EXPECT_EQ(limits.cpu_quota, std::nullopt);
  EXPECT_EQ(limits.memory_bytes, std::nullopt);
  EXPECT_EQ(format_cpu_list(limits.cpuset.value()), "0-7");
  EXPECT_TRUE(limits.warnings.empty());
}

TEST_F(CgroupTest, V2TakesTheSmallestOfTheAncestors) {
  mount_v2("/pod/container");
  put("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  put("/sys/fs/cgroup/pod/container/cpu.max", "400000 100000\n");
  put("/sys/fs/cgroup/pod/memory.max", "8589934592\n");
  put("/sys/fs/cgroup/pod/container/memory.max", "3221225472\n");
  put("/sys/fs/cgroup/pod/container/cpuset.cpus.effective", "3-5\n");
  put("/sys/fs/cgroup/pod/cpuset.cpus.effective", "0-7\n");
  const CgroupLimits limits = read();
  EXPECT_DOUBLE_EQ(limits.cpu_quota.value(), 1.5);
  EXPECT_EQ(limits.cpu_quota_source, "/sys/fs/cgroup/pod/cpu.max");
  EXPECT_EQ(limits.memory_bytes, 3221225472u);
  EXPECT_EQ(limits.memory_source, "/sys/fs/cgroup/pod/container/memory.max");
  EXPECT_EQ(format_cpu_list(limits.cpuset.value()), "3-5");
  EXPECT_EQ(limits.cpuset_source, "/sys/fs/cgroup/pod/container/cpuset.cpus.effective");
}

TEST_F(CgroupTest, V2MountShowsOnlyTheContainersPart) {
  mount_v2("/docker/4f/inner", "/docker/4f");
  put("/sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value(), 0.5);
}

TEST_F(CgroupTest, GroupOutsideTheMountFallsBackToTheMountPoint) {
  mount_v2("/../other");
  put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  put("/sys/fs/other/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value(), 2);
}

TEST_F(CgroupTest, V1) {
  mount_v1("/kubepods/pod1/c1");
  put("/sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/cpu.cfs_quota_us", "250000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpuset/kubepods/pod1/c1/cpuset.effective_cpus", "3-5\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/kubepods/pod1/memory.limit_in_bytes", "3221225472\n");
  const CgroupLimits limits = read();
  EXPECT_EQ(limits.version, Version::kV1);
  EXPECT_DOUBLE_EQ(limits.cpu_quota.value(), 2.5);
  EXPECT_EQ(format_cpu_list(limits.cpuset.value()), "3-5");
  EXPECT_EQ(limits.memory_bytes, 3221225472u);
}

TEST_F(CgroupTest, V1OldKernelHasNoEffectiveCpus) {
  mount_v1("/");
  put("/sys/fs/cgroup/cpuset/cpuset.cpus", "1,3\n");
  EXPECT_EQ(format_cpu_list(read().cpuset.value()), "1,3");
}

TEST_F(CgroupTest, V1UnlimitedMemoryIsNoLimit) {
  mount_v1("/");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read().memory_bytes, std::nullopt);
}

TEST_F(CgroupTest, HybridReadsEachControllerWhereItLives) {
  put("/proc/self/mountinfo",
      "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  put("/proc/self/cgroup", "4:memory:/a\n0::/b\n");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  put("/sys/fs/cgroup/unified/b/memory.max", "5\n");
  put("/sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n");
  const CgroupLimits limits = read();
  EXPECT_EQ(limits.version, Version::kHybrid);
  EXPECT_EQ(limits.memory_bytes, 1073741824u);
  EXPECT_DOUBLE_EQ(limits.cpu_quota.value(), 3);
}

TEST_F(CgroupTest, TheFirstMountIsTheProcesssOwn) {
  put("/proc/self/mountinfo",
      "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
      "54 44 0:38 / /other/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  put("/other/sys/fs/cgroup/cpu.max", "700000 100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value(), 1);
}

TEST_F(CgroupTest, MountPointWithSpaces) {
  put("/proc/self/mountinfo", "41 31 0:38 / /sys/my\\040group rw - cgroup2 cgroup2 rw\n");
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/my group/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value(), 1);
}

TEST_F(CgroupTest, GarbageSetsNoLimitAndIsNamed) {
  mount_v2("/a");
  put("/sys/fs/cgroup/a/cpu.max", "lots 100000\n");
  put("/sys/fs/cgroup/a/memory.max", "-7\n");
  put("/sys/fs/cgroup/a/cpuset.cpus.effective", "all\n");
  put("/sys/fs/cgroup/cpu.max", "100000\n");
  const CgroupLimits limits = read();
  EXPECT_FALSE(limits.cpu_quota || limits.cpuset || limits.memory_bytes);
  ASSERT_EQ(limits.warnings.size(), 4u);
  EXPECT_NE(limits.warnings[0].find("/sys/fs/cgroup/a/cpu.max: 'lots 100000'"), std::string::npos);
}

TEST_F(CgroupTest, ZeroesAndEmptyFilesDoNotDivide) {
  mount_v2("/a");
  put("/sys/fs/cgroup/a/cpu.max", "0 0\n");
  put("/sys/fs/cgroup/cpu.max", "");
  put("/sys/fs/cgroup/a/memory.max", "");
  put("/sys/fs/cgroup/a/cpuset.cpus.effective", "\n");
  const CgroupLimits limits = read();
  EXPECT_FALSE(limits.cpu_quota || limits.cpuset || limits.memory_bytes);
  EXPECT_EQ(limits.warnings.size(), 3u);
}

TEST_F(CgroupTest, BrokenProcFiles) {
  put("/proc/self/mountinfo", "x\n- - -\n\n1 2 3 4 5 - cgroup2\n" + std::string(1000, ' '));
  put("/proc/self/cgroup", "nonsense\n:\n::\n0:\n");
  EXPECT_EQ(read().version, Version::kNone);
}

TEST(Cgroup, ThisMachineReadsWithoutWarnings) {
  const CgroupLimits limits = read_cgroup_limits();
  EXPECT_TRUE(limits.warnings.empty()) << limits.warnings.front();
  if (limits.cpu_quota) {
    EXPECT_GT(*limits.cpu_quota, 0);
  }
}

}  // namespace
}  // namespace weir
