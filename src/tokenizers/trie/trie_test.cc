#include "tokenizers/trie/trie.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weir::tokenizers {
namespace {

std::int32_t value_of(const Trie& trie, std::string_view key) {
  const Trie::Node node = trie.find(key);
  return node == Trie::kNone ? Trie::kNoValue : trie.value(node);
}

TEST(Trie, IsEmptyWithoutKeys) {
  EXPECT_TRUE(Trie().empty());
  EXPECT_TRUE(Trie(std::vector<std::pair<std::string_view, std::int32_t>>{}).empty());
  EXPECT_EQ(Trie().find("a"), Trie::kNone);
}

TEST(Trie, FindsKeysPrefixesAndNothingElse) {
  const Trie trie({{"ab", 1}, {"abc", 2}, {"b", 3}, {"", 4}, {std::string_view("a\0b", 3), 5}, {"\xFF\xFE", 6}});
  EXPECT_EQ(value_of(trie, "ab"), 1);
  EXPECT_EQ(value_of(trie, "abc"), 2);
  EXPECT_EQ(value_of(trie, "b"), 3);
  EXPECT_EQ(value_of(trie, ""), 4);
  EXPECT_EQ(value_of(trie, std::string_view("a\0b", 3)), 5);
  EXPECT_EQ(value_of(trie, "\xFF\xFE"), 6);
  EXPECT_NE(trie.find("a"), Trie::kNone);
  EXPECT_EQ(value_of(trie, "a"), Trie::kNoValue);
  for (const char* absent : {"c", "abd", "abcd", "ba", "\xFF\xFF"}) EXPECT_EQ(trie.find(absent), Trie::kNone) << absent;
}

TEST(Trie, OfEqualKeysTheLastCounts) { EXPECT_EQ(value_of(Trie({{"a", 1}, {"a", 2}}), "a"), 2); }

TEST(Trie, AgreesWithAMapOnManyKeys) {
  std::mt19937 random(1);
  std::map<std::string, std::int32_t> map;
  for (std::int32_t i = 0; i < 20000; ++i) {
    std::string key;
    for (std::size_t n = random() % 9; n > 0; --n) key += static_cast<char>(random() % (i % 2 == 0 ? 6 : 256));
    map[key] = i;
  }
  std::vector<std::pair<std::string_view, std::int32_t>> keys(map.begin(), map.end());
  std::shuffle(keys.begin(), keys.end(), random);
  const Trie trie(keys);
  for (const auto& [key, value] : map) {
    ASSERT_EQ(value_of(trie, key), value);
    const std::string longer = key + static_cast<char>(random());
    const auto found = map.find(longer);
    ASSERT_EQ(value_of(trie, longer), found == map.end() ? Trie::kNoValue : found->second);
  }
}

}  // namespace
}  // namespace weir::tokenizers
