#include "hub/cache.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir::hub {
namespace {

namespace fs = std::filesystem;

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";

class CacheTest : public testing::Test {
 protected:
  CacheTest() : folder_(testing::TempDir() + "/hub_cache_" + std::to_string(getpid())) { fs::remove_all(folder_); }
  ~CacheTest() override { fs::remove_all(folder_); }

  std::string folder_;
  Cache cache_{folder_, "org/name"};
};

TEST_F(CacheTest, RemembersCommits) {
  EXPECT_EQ(cache_.known_commit("main"), std::nullopt);
  ASSERT_TRUE(cache_.remember_commit("refs/pr/1", kCommit).ok());
  EXPECT_EQ(cache_.known_commit("refs/pr/1"), kCommit);
  EXPECT_TRUE(fs::exists(folder_ + "/models--org--name/refs/refs/pr/1"));
  EXPECT_EQ(cache_.known_commit(kCommit), kCommit);
  ASSERT_TRUE(cache_.remember_commit(kCommit, kCommit).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/models--org--name/refs/" + kCommit));
  std::ofstream(folder_ + "/models--org--name/refs/broken") << "../../x";
  EXPECT_EQ(cache_.known_commit("broken"), std::nullopt);
}

TEST_F(CacheTest, LinksBlobsIntoSnapshots) {
  ASSERT_TRUE(cache_.make_folders().ok());
  std::ofstream(cache_.blob("e1")) << "one";
  std::ofstream(cache_.blob("e2")) << "two";
  ASSERT_TRUE(cache_.link(kCommit, "1_Pooling/config.json", "e1").ok());
  const fs::path place = cache_.snapshot_folder(kCommit) + "/1_Pooling/config.json";
  EXPECT_EQ(fs::read_symlink(place), "../../../blobs/e1");
  EXPECT_TRUE(cache_.has_file(kCommit, "1_Pooling/config.json"));
  ASSERT_TRUE(cache_.link(kCommit, "1_Pooling/config.json", "e2").ok());
  EXPECT_EQ(fs::read_symlink(place), "../../../blobs/e2");
  EXPECT_EQ(cache_.files(kCommit), std::vector<std::string>{"1_Pooling/config.json"});
  fs::remove(cache_.blob("e2"));
  EXPECT_FALSE(cache_.has_file(kCommit, "1_Pooling/config.json"));
}

TEST_F(CacheTest, LocksAreHeldByOneAtATime) {
  ASSERT_TRUE(cache_.make_folders().ok());
  const std::string path = cache_.lock_file("e1");
  int asked = 0;
  bool told = false;
  {
    const auto held = FileLock::take(path, {}, {});
    ASSERT_TRUE(held.ok());
    const auto second = FileLock::take(path, [&] { return ++asked > 2; }, [&] { told = true; });
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().kind, ErrorKind::kCancelled);
    EXPECT_TRUE(told);
  }
  EXPECT_TRUE(FileLock::take(path, {}, {}).ok());
}

TEST_F(CacheTest, SaysWhichFolderCannotBeWritten) {
  std::ofstream(folder_) << "a file";
  const Status status = cache_.make_folders();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find(folder_), std::string::npos);
  fs::remove(folder_);
}

}  // namespace
}  // namespace weir::hub
