#include "onnx/weights_file.h"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/file.h"

namespace weir::onnx {
namespace {

std::string test_path(const std::string& name) { return ::testing::TempDir() + "/weir_weights_" + name; }

std::vector<std::byte> some_bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, std::byte(value));
}

TEST(WeightsFile, TensorsBeginOnPages) {
  const std::string path = test_path("pages");
  auto file = WeightsFile::create(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->name(), "weir_weights_pages");
  const Location first = file->append(some_bytes(10, 1));
  const Location second = file->append(some_bytes(4096, 2));
  const Location third = file->append(some_bytes(3, 3));
  ASSERT_TRUE(file->finish().ok());
  EXPECT_EQ(first.offset, 0u);
  EXPECT_EQ(first.length, 10u);
  EXPECT_EQ(second.offset, 4096u);
  EXPECT_EQ(third.offset, 8192u);
  const auto content = read_file(path, 1 << 20);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content, std::string(10, '\1') + std::string(4086, '\0') + std::string(4096, '\2') + "\3\3\3");
  std::filesystem::remove(path);
}

TEST(WeightsFile, CannotBeCreated) {
  const auto file = WeightsFile::create(test_path("none") + "/x");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kIo);
}

// A full disk shows itself to a program as a write that fails; a limit on file sizes does so on any machine.
TEST(WeightsFile, FirstFailedWriteIsReported) {
  const std::string path = test_path("full");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 8192;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  auto file = WeightsFile::create(path);
  ASSERT_TRUE(file.ok());
  setrlimit(RLIMIT_FSIZE, &small);
  file->append(some_bytes(4096, 1));
  file->append(some_bytes(100000, 2));
  file->append(some_bytes(1, 3));
  const Status status = file->finish();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kIo);
  EXPECT_EQ(status.error().where, path);
  EXPECT_NE(status.error().message.find("cannot be written"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(WeightsFile, CancelledBetweenTensors) {
  const std::string path = test_path("cancelled");
  int asked = 0;
  auto file = WeightsFile::create(path, [&] { return ++asked > 1; });
  ASSERT_TRUE(file.ok());
  file->append(some_bytes(1, 1));
  file->append(some_bytes(1, 1));
  const Status status = file->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kCancelled);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace weir::onnx
