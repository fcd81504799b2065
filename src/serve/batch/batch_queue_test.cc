#include "serve/batch/batch_queue.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace weir::serve::batch {
namespace {

using std::chrono::milliseconds;

const Clock::time_point kStart{std::chrono::seconds(1000)};
constexpr std::size_t kAnyTokens = std::numeric_limits<std::size_t>::max();

/// A tokenized request with texts of these lengths.
RequestPtr request_of(const std::vector<std::size_t>& lengths) {
  auto request = std::make_shared<Request>();
  request->encodings.resize(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) request->encodings[i].ids.resize(lengths[i], 1);
  request->tokenized = kStart;
  return request;
}

std::vector<std::size_t> lengths_of(const Batch& batch) {
  std::vector<std::size_t> lengths;
  for (const Item& item : batch) lengths.push_back(item.tokens());
  return lengths;
}

using Lengths = std::vector<std::size_t>;

TEST(BatchQueue, EmptyGivesNothing) {
  BatchQueue queue(Options{});
  EXPECT_TRUE(queue.take(kAnyTokens, kStart).empty());
  EXPECT_FALSE(queue.due(0, kStart).has_value());
  queue.add(request_of({}), kStart);
  EXPECT_FALSE(queue.due(0, kStart).has_value());
}

TEST(BatchQueue, BatchesSimilarLengthsSortedAndLeavesTheOthers) {
  BatchQueue queue(Options{});
  for (const std::size_t length : {40, 200, 44, 38, 5}) queue.add(request_of({length}), kStart);
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{38, 40, 44}));
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{200}));
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{5}));
  EXPECT_EQ(queue.texts(), 0u);
  EXPECT_EQ(queue.tokens(), 0u);
}

TEST(BatchQueue, StartsFromTheOldestWhateverItsLength) {
  BatchQueue queue(Options{});
  queue.add(request_of({500}), kStart);
  for (int i = 0; i < 20; ++i) queue.add(request_of({10}), kStart);
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{500}));
}

TEST(BatchQueue, KeepsToTheBounds) {
  Options options;
  options.max_texts = 4;
  options.max_tokens = 100;
  BatchQueue queue(options);
  queue.add(request_of({30, 30, 30, 30, 30, 10, 10, 10, 10, 10, 10, 400}), kStart);
  std::vector<Lengths> batches;
  while (queue.texts() > 0) batches.push_back(lengths_of(queue.take(kAnyTokens, kStart)));
  EXPECT_EQ(batches, (std::vector<Lengths>{{400}, {30, 30, 30}, {30, 30}, {10, 10, 10, 10}, {10, 10}}))
      << "a text over the bound goes by itself";
}

TEST(BatchQueue, TheCallerMayLowerTheTokenBound) {
  BatchQueue queue(Options{});
  queue.add(request_of({20, 20, 20, 20}), kStart);
  EXPECT_EQ(queue.take(40, kStart).size(), 2u);
  EXPECT_EQ(queue.take(1, kStart).size(), 1u) << "at least one text";
}

Options packed_options(std::size_t max_tokens) {
  Options options;
  options.packed = true;
  options.max_tokens = max_tokens;
  return options;
}

TEST(BatchQueue, PackedTextsOfAnyLengthsFillTheBudget) {
  BatchQueue queue(packed_options(100));
  for (const std::size_t length : {40, 200, 44, 16, 5}) queue.add(request_of({length}), kStart);
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{16, 40, 44}));
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{200})) << "over the budget: by itself";
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{5}));
  EXPECT_EQ(queue.tokens(), 0u);
}

TEST(BatchQueue, PackedMatesAreThoseThatFillTheBudgetBest) {
  BatchQueue queue(packed_options(100));
  queue.add(request_of({60, 50, 41, 39, 10}), kStart);
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{39, 60}));
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{41, 50}));
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{10}));
}

TEST(BatchQueue, PackedBatchesNeverExceedTheirBounds) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> length(1, 120);
  Options options = packed_options(256);
  options.max_texts = 8;
  BatchQueue queue(options);
  for (int i = 0; i < 200; ++i) queue.add(request_of({length(random), length(random)}), kStart);
  std::size_t texts = 0;
  std::size_t tokens = 0;
  std::size_t batches = 0;
  for (; queue.texts() > 0; ++batches) {
    const Lengths lengths = lengths_of(queue.take(kAnyTokens, kStart));
    ASSERT_LE(lengths.size(), 8u);
    std::size_t sum = 0;
    for (const std::size_t one : lengths) sum += one;
    ASSERT_LE(sum, 256u);
    texts += lengths.size();
    tokens += sum;
  }
  EXPECT_EQ(texts, 400u);
  EXPECT_GT(tokens, batches * 200) << "batches are nearly full";
}

TEST(BatchQueue, ALongRequestTakesTurns) {
  Options options;
  options.max_tokens = 80;  // two texts of forty
  BatchQueue queue(options);
  const auto large = request_of(Lengths(2048, 40));
  queue.add(large, kStart);
  queue.take(kAnyTokens, kStart);
  std::vector<RequestPtr> small;
  for (int i = 0; i < 4; ++i) {
    small.push_back(request_of({40}));
    queue.add(small.back(), kStart);
  }
  std::set<Request*> served;
  for (int i = 0; i < 3; ++i) {
    for (const Item& item : queue.take(kAnyTokens, kStart)) served.insert(item.request.get());
  }
  for (const auto& request : small) EXPECT_TRUE(served.contains(request.get())) << "within three batches";
}

TEST(BatchQueue, ASmallRequestOfAnotherLengthWaitsForOneTurn) {
  BatchQueue queue(Options{});
  queue.add(request_of(Lengths(2048, 40)), kStart);
  queue.take(kAnyTokens, kStart);
  queue.add(request_of({200}), kStart);
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)).front(), 40u);
  EXPECT_EQ(lengths_of(queue.take(kAnyTokens, kStart)), (Lengths{200}));
}

TEST(BatchQueue, DropsFinishedRequests) {
  BatchQueue queue(Options{});
  const auto gone = request_of({10, 11, 12});
  const auto stays = request_of({10});
  queue.add(gone, kStart);
  queue.add(stays, kStart);
  finish(gone, Error(ErrorKind::kCancelled, "gone"));
  queue.drop_finished();
  EXPECT_EQ(queue.texts(), 1u);
  EXPECT_EQ(queue.tokens(), 10u);
  const Batch batch = queue.take(kAnyTokens, kStart);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].request, stays);
}

TEST(BatchQueue, RecordsWhenTheFirstAndTheLastTextWent) {
  Options options;
  options.max_texts = 1;
  BatchQueue queue(options);
  const auto request = request_of({10, 20});
  request->tokenized = kStart;
  queue.add(request, kStart);
  queue.take(kAnyTokens, kStart + milliseconds(3));
  EXPECT_EQ(request->first_batch_ns, (kStart + milliseconds(3)).time_since_epoch().count());
  EXPECT_EQ(request->timings.queue, Clock::duration::zero());
  queue.take(kAnyTokens, kStart + milliseconds(7));
  EXPECT_EQ(request->first_batch_ns, (kStart + milliseconds(3)).time_since_epoch().count());
  EXPECT_EQ(request->timings.queue, milliseconds(7));
  EXPECT_EQ(request->stage, Stage::kEngine);
}

TEST(BatchQueue, DueAtOnceUnlessMoreAreComing) {
  Options options;
  options.window = milliseconds(5);
  options.max_tokens = 100;
  options.max_texts = 3;
  BatchQueue queue(options);
  queue.add(request_of({10}), kStart);
  const auto later = kStart + milliseconds(1);
  EXPECT_EQ(queue.due(0, later), later) << "a lone client does not wait";
  EXPECT_EQ(queue.due(1, later), kStart + milliseconds(5)) << "at most the window, from the oldest";
  queue.add(request_of({10}), later);
  EXPECT_EQ(queue.due(1, later), kStart + milliseconds(5));
  queue.add(request_of({10}), later);
  EXPECT_EQ(queue.due(1, later), later) << "as many texts as a batch takes";
}

TEST(BatchQueue, DueAtOnceWhenTheTokensFillABatch) {
  Options options;
  options.max_tokens = 100;
  BatchQueue queue(options);
  queue.add(request_of({60}), kStart);
  EXPECT_GT(queue.due(5, kStart), kStart);
  queue.add(request_of({60}), kStart);
  EXPECT_EQ(queue.due(5, kStart), kStart);
}

/// Whatever comes: each text goes exactly once, in batches within the bounds.
TEST(BatchQueue, RandomTrafficKeepsEveryPromise) {
  std::mt19937 random(7);
  Options options;
  BatchQueue queue(options);
  std::size_t added = 0;
  std::size_t taken = 0;
  std::set<std::pair<Request*, std::size_t>> seen;
  std::vector<RequestPtr> alive;
  for (int round = 0; round < 400; ++round) {
    Lengths lengths(1 + random() % 20);
    for (auto& length : lengths) length = 1 + random() % 600;
    alive.push_back(request_of(lengths));
    queue.add(alive.back(), kStart);
    added += lengths.size();
    for (int i = 0; i < 6; ++i) {
      const Batch batch = queue.take(kAnyTokens, kStart);
      taken += batch.size();
      const Lengths sorted = lengths_of(batch);
      EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
      EXPECT_LE(batch.size(), options.max_texts);
      if (batch.size() > 1) {
        EXPECT_LE(batch.size() * sorted.back(), options.max_tokens);
        const auto share = static_cast<std::size_t>(options.spread_share * static_cast<double>(sorted.back()));
        EXPECT_LE(sorted.back() - sorted.front(), std::max(options.spread_tokens, share));
      }
      for (const Item& item : batch) EXPECT_TRUE(seen.insert({item.request.get(), item.index}).second);
    }
    EXPECT_EQ(added, taken + queue.texts());
  }
  while (queue.texts() > 0) taken += queue.take(kAnyTokens, kStart).size();
  EXPECT_EQ(added, taken);
}

}  // namespace
}  // namespace weir::serve::batch
