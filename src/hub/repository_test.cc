#include "hub/repository.h"

#include <gtest/gtest.h>

namespace weir::hub {
namespace {

TEST(RepositoryTest, ReadsNameAndRevision) {
  const auto plain = parse_repository("BAAI/bge-m3");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->id, "BAAI/bge-m3");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->name(), "bge-m3");
  EXPECT_EQ(plain->text(), "BAAI/bge-m3");
  const auto pinned = parse_repository("org/name@refs/pr/1");
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(pinned->revision, "refs/pr/1");
  EXPECT_EQ(pinned->text(), "org/name@refs/pr/1");
  EXPECT_TRUE(parse_repository("gpt2").ok());
}

TEST(RepositoryTest, RefusesWhatWouldLeadElsewhere) {
  for (const char* text : {"", "/", "a/", "/a", "a/b/c", "../a", "a/..", "a/b@", "a/b@../x", "a/b@/etc", "a/b@x//y",
                           "a/b@x/.y", "a b/c", "a/b@x y", "a/-b", "a/b--c", "a/b\\c"}) {
    EXPECT_FALSE(parse_repository(text).ok()) << text;
  }
  EXPECT_FALSE(parse_repository(std::string(97, 'a') + "/b").ok());
}

TEST(RepositoryTest, IsToldFromAPath) {
  EXPECT_TRUE(looks_like_repository("org/name"));
  EXPECT_TRUE(looks_like_repository("org/name@v1/x"));
  EXPECT_FALSE(looks_like_repository("name"));
  EXPECT_FALSE(looks_like_repository("./name"));
  EXPECT_FALSE(looks_like_repository("/tmp/name"));
  EXPECT_FALSE(looks_like_repository("models/a/b"));
}

TEST(RepositoryTest, KnowsCommits) {
  EXPECT_TRUE(is_commit("0123456789abcdef0123456789abcdef01234567"));
  EXPECT_FALSE(is_commit("0123456789ABCDEF0123456789abcdef01234567"));
  EXPECT_FALSE(is_commit("main"));
}

}  // namespace
}  // namespace weir::hub
