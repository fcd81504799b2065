#include "base/file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/mapped_file.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-file-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  ASSERT_TRUE(write_file(path("a"), "hello").ok());
  EXPECT_EQ(*read_file(path("a"), 100), "hello");
  EXPECT_EQ(read_file(path("a"), 4).error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(read_file(path("none"), 4).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(read_file(folder_.string(), 4).error().kind, ErrorKind::kIo);
}

TEST_F(FileTest, FullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Status status = write_file("/dev/full", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kIo);
  EXPECT_NE(status.error().message.find("/dev/full"), std::string::npos);
}

TEST_F(FileTest, MapsFiles) {
  ASSERT_TRUE(write_file(path("a"), "hello").ok());
  ASSERT_TRUE(write_file(path("empty"), "").ok());
  const auto file = MappedFile::open(path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()), "hello");
  EXPECT_TRUE(MappedFile::open(path("empty"))->bytes().empty());
  EXPECT_EQ(MappedFile::open(path("none")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(MappedFile::open(folder_.string()).error().kind, ErrorKind::kIo);
}

TEST_F(FileTest, StagedFolderAppearsOnlyWhenCommitted) {
  {
    auto staged = StagedFolder::create(path("bundle"));
    ASSERT_TRUE(staged.ok());
    ASSERT_TRUE(write_file(staged->path() + "/x", "1").ok());
    EXPECT_FALSE(fs::exists(path("bundle")));
  }
  EXPECT_EQ(entries(), 0U);  // dropped without commit: nothing left

  auto staged = StagedFolder::create(path("bundle"));
  ASSERT_TRUE(write_file(staged->path() + "/x", "1").ok());
  ASSERT_TRUE(staged->commit().ok());
  EXPECT_EQ(*read_file(path("bundle/x"), 10), "1");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, StagedFolderReplacesOnlyWhenAsked) {
  fs::create_directory(path("bundle"));
  ASSERT_TRUE(write_file(path("bundle/old"), "1").ok());
  EXPECT_EQ(StagedFolder::create(path("bundle")).error().kind, ErrorKind::kInvalidArgument);

  auto staged = StagedFolder::create(path("bundle"), true);
  ASSERT_TRUE(staged.ok());
  ASSERT_TRUE(write_file(staged->path() + "/new", "2").ok());
  ASSERT_TRUE(staged->commit().ok());
  EXPECT_FALSE(fs::exists(path("bundle/old")));
  EXPECT_EQ(*read_file(path("bundle/new"), 10), "2");
  EXPECT_EQ(entries(), 1U);

  ASSERT_TRUE(write_file(path("file"), "").ok());
  EXPECT_EQ(StagedFolder::create(path("file"), true).error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(FileTest, OfTwoStagedFoldersForOneTargetTheFirstWins) {
  auto first = StagedFolder::create(path("bundle"));
  auto second = StagedFolder::create(path("bundle"));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(write_file(first->path() + "/x", "first").ok());
  ASSERT_TRUE(write_file(second->path() + "/x", "second").ok());
  ASSERT_TRUE(first->commit().ok());
  const Status late = second->commit();
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(*read_file(path("bundle/x"), 10), "first");
}

TEST_F(FileTest, StagedFolderRemovesWhatAKilledProcessLeft) {
  auto busy = StagedFolder::create(path("bundle"));
  fs::create_directory(path(".bundle.partial-aBc123"));
  ASSERT_TRUE(write_file(path(".bundle.partial-aBc123/weights"), "half").ok());
  fs::create_directory(path(".bundle.partial-aBc123.old"));
  fs::create_directory(path(".bundle2.partial-aBc123"));
  {
    const auto staged = StagedFolder::create(path("bundle"));
    ASSERT_TRUE(staged.ok());
    EXPECT_FALSE(fs::exists(path(".bundle.partial-aBc123")));
    EXPECT_TRUE(fs::exists(busy->path()));  // still being written
    EXPECT_TRUE(fs::exists(path(".bundle.partial-aBc123.old")));
    EXPECT_TRUE(fs::exists(path(".bundle2.partial-aBc123")));
  }
  EXPECT_EQ(entries(), 3U);
}

TEST_F(FileTest, StagedFolderFollowsLinks) {
  fs::create_directory(path("real"));
  fs::create_directory_symlink("real", path("link"));
  auto staged = StagedFolder::create(path("link"));
  ASSERT_TRUE(staged.ok());
  ASSERT_TRUE(write_file(staged->path() + "/x", "1").ok());
  ASSERT_TRUE(staged->commit().ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("real/x"), 10), "1");

  fs::create_directory_symlink("nowhere", path("broken"));
  EXPECT_EQ(StagedFolder::create(path("broken")).error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(FileTest, APipeIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(path("pipe"), 10).error().kind, ErrorKind::kIo);
  EXPECT_EQ(MappedFile::open(path("pipe")).error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace weir
