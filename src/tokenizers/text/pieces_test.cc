#include "tokenizers/text/pieces.h"

#include <string>

#include <gtest/gtest.h>

namespace weir::tokenizers {
namespace {

Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  pieces.text.reset(/*keep_spans=*/true);
  pieces.text.append_original(text, 0);
  pieces.list.push_back({0, static_cast<std::uint32_t>(text.size())});
  return pieces;
}

std::vector<std::string> texts(const Pieces& pieces) {
  std::vector<std::string> result;
  for (const Piece& piece : pieces.list) result.emplace_back(pieces.text.view(piece.begin, piece.end));
  return result;
}

std::vector<std::string> split(std::string_view text, SplitBehavior behavior, bool invert = false) {
  Pieces pieces = pieces_of(text);
  pieces.split(behavior, invert, each_character([](char32_t c) { return c == '-'; }));
  return texts(pieces);
}

using Strings = std::vector<std::string>;

TEST(Pieces, SplitInEveryWay) {
  const std::string_view text = "the-final--countdown";
  EXPECT_EQ(split(text, SplitBehavior::kRemoved), (Strings{"the", "final", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kIsolated), (Strings{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kMergedWithPrevious), (Strings{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kMergedWithNext), (Strings{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kContiguous), (Strings{"the", "-", "final", "--", "countdown"}));
}

TEST(Pieces, SplitAtTheEdges) {
  EXPECT_EQ(split("-", SplitBehavior::kRemoved), Strings{});
  EXPECT_EQ(split("-a-", SplitBehavior::kRemoved), (Strings{"a"}));
  EXPECT_EQ(split("-a-", SplitBehavior::kMergedWithNext), (Strings{"-a", "-"}));
  EXPECT_EQ(split("-a-", SplitBehavior::kMergedWithPrevious), (Strings{"-", "a-"}));
  EXPECT_EQ(split("a-é", SplitBehavior::kRemoved, /*invert=*/true), (Strings{"-"}));
}

TEST(Pieces, LeaveAddedTokensAlone) {
  Pieces pieces = pieces_of("a-b-c");
  pieces.list = {{0, 2}, {2, 4, 7}, {4, 5}};
  pieces.split(SplitBehavior::kIsolated, false, each_character([](char32_t c) { return c == '-'; }));
  EXPECT_EQ(pieces.list, (std::vector<Piece>{{0, 1}, {1, 2}, {2, 4, 7}, {4, 5}}));
  pieces.rewrite([](const Segment&, Text& out, std::size_t) { out.append("xy", {0, 1}); });
  EXPECT_EQ(texts(pieces), (Strings{"xy", "xy", "b-", "xy"}));
  EXPECT_EQ(pieces.list[2].added_id, 7);
}

TEST(Pieces, RewriteKeepsAlignmentAndDropsWhatBecomesEmpty) {
  Pieces pieces = pieces_of("éab");
  pieces.list = {{0, 2}, {2, 3}, {3, 4}};
  pieces.rewrite([](const Segment& in, Text& out, std::size_t index) {
    Rewriter rewriter(in, out);
    if (index == 1) return rewriter.skip(1);
    rewriter.replace('x');
    rewriter.add('y');
  });
  EXPECT_EQ(texts(pieces), (Strings{"xy", "xy"}));
  EXPECT_EQ(pieces.text.spans, (std::vector<Span>{{0, 2}, {0, 2}, {3, 4}, {3, 4}}));
}

TEST(Rewriter, PutsWhatIsAddedFirstAtTheOriginOfTheSegment) {
  Text in;
  in.reset(true);
  in.append_original("b", 5);
  Text out;
  out.reset(true);
  const Segment segment = in.whole(5);
  Rewriter rewriter(segment, out);
  rewriter.add('x');
  rewriter.replace('y');
  EXPECT_EQ(out.bytes, "xy");
  EXPECT_EQ(out.spans, (std::vector<Span>{{5, 5}, {5, 6}}));
}

TEST(SplitBehaviorNames, AreThoseOfTheFile) {
  EXPECT_EQ(split_behavior_from_name("MergedWithNext"), SplitBehavior::kMergedWithNext);
  EXPECT_EQ(split_behavior_from_name("merged_with_next"), std::nullopt);
}

}  // namespace
}  // namespace weir::tokenizers
