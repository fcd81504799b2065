#include "apps/weir/embed_job.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using serve::RequestPtr;

/// Answers requests on a thread of its own, the latest one first. A text's vector is {its length}; "bad" fails a
/// request.
class Service {
 public:
  Service() : thread_([this] { work(); }) {}
  ~Service() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  void submit(const RequestPtr& request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(request);
    texts_ += request->inputs.size();
    most_texts_ = std::max(most_texts_, texts_);
    changed_.notify_all();
  }
  void cancel(const RequestPtr& request) {
    serve::finish(request, Error(ErrorKind::kCancelled, "cancelled"));
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  /// From now on requests wait, once `count` of them have been answered; below 0: never.
  void hold_after(int count) {
    const std::lock_guard lock(mutex_);
    left_ = count;
    changed_.notify_all();
  }
  std::size_t most_texts() {
    const std::lock_guard lock(mutex_);
    return most_texts_;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || (!waiting_.empty() && left_ != 0); });
      if (ending_) return;
      const RequestPtr request = waiting_.back();
      waiting_.pop_back();
      texts_ -= request->inputs.size();
      if (left_ > 0) --left_;
      lock.unlock();
      answer(request);
      lock.lock();
    }
  }

  static void answer(const RequestPtr& request) {
    for (const auto& input : request->inputs) {
      if (input.text == "bad") {
        serve::finish(request, Error(ErrorKind::kBackend, "NaN"));
        return;
      }
    }
    request->dimensions = 1;
    for (const auto& input : request->inputs) {
      request->vectors.push_back(static_cast<float>(input.text.size()));
      request->tokens += input.text.size();
    }
    serve::finish(request);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RequestPtr> waiting_;
  std::size_t texts_ = 0;
  std::size_t most_texts_ = 0;
  int left_ = -1;  ///< Requests to answer before holding; below 0: all.
  bool ending_ = false;
  std::thread thread_;
};

class EmbedJobTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-embed-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    options_.texts_per_request = 3;
    hooks_.submit = [this](const RequestPtr& request) { service_.submit(request); };
    hooks_.cancel = [this](const RequestPtr& request) { service_.cancel(request); };
    hooks_.wait = [this](Clock::duration timeout) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, timeout, [&] { return woken_ || interrupt_; });
      woken_ = false;
      return interrupt_;
    };
    hooks_.wake = [this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    };
    hooks_.checkpoint = [this](const bulk::Journal& done) {
      journal_ = done;
      auto bytes = writer_->flush();
      if (!bytes.ok()) return Status(bytes.error());
      journal_.output_bytes = *bytes;
      return Status();
    };
    hooks_.report = [this](const std::string& message) { reports_.push_back(fs::path(message).filename().string()); };
    hooks_.progress = [this](std::uint64_t texts, std::uint64_t, std::uint64_t) {
      if (interrupt_after_ > 0 && texts >= interrupt_after_) interrupt();
    };
  }
  void TearDown() override { fs::remove_all(folder_); }

  void interrupt() {
    const std::lock_guard lock(mutex_);
    interrupt_ = true;
    changed_.notify_all();
  }

  void input(const std::string& content) { std::ofstream(folder_ + "/in.txt") << content; }

  EmbedJobResult run(bool resume = false) {
    bulk::RecordOptions record_options;
    hooks_.stop = {};
    record_options.stop = hooks_.stop.get_token();
    const auto reader = bulk::RecordReader::open({folder_ + "/in.txt"}, record_options).value();
    bulk::RecordHash hash;
    bulk::Journal start;
    if (resume) {
      start = journal_;
      bulk::Record record;
      for (std::uint64_t i = 0; i < start.records; ++i) {
        EXPECT_TRUE(reader->next(record).value());
        hash.add(record.text);
      }
      EXPECT_EQ(hash.hex(), start.input_sha256);
      writer_ =
          bulk::VectorWriter::resume(folder_ + "/out", bulk::OutputFormat::kJsonl, 1, start.records, start.output_bytes)
              .value();
    } else {
      writer_ = bulk::VectorWriter::create(folder_ + "/out", bulk::OutputFormat::kJsonl, 1).value();
    }
    auto result = run_embed_job(*reader, *writer_, options_, hooks_, start, std::move(hash));
    EXPECT_TRUE(writer_->flush().ok());
    return result;
  }

  /// One word per record: its number, or "!" when it was skipped.
  std::string output() const {
    std::ifstream file(folder_ + "/out");
    std::string words;
    std::string line;
    for (int index = 0; std::getline(file, line); ++index) {
      EXPECT_EQ(line.rfind("{\"index\":" + std::to_string(index) + ",", 0), 0U) << line;
      const auto at = line.find('[');
      words +=
          (words.empty() ? "" : " ") + (at == std::string::npos ? "!" : line.substr(at + 1, line.find(']') - at - 1));
    }
    return words;
  }

  std::string folder_;
  EmbedJobOptions options_;
  EmbedJobHooks hooks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool interrupt_ = false;
  std::uint64_t interrupt_after_ = 0;
  bulk::Journal journal_;
  std::vector<std::string> reports_;
  std::unique_ptr<bulk::VectorWriter> writer_;
  Service service_;  // last: its thread uses what the hooks use
};

/// Records of 1, 2, …, `count` letters.
std::string triangle(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::string(static_cast<std::size_t>(i), 'x') + "\n";
  return text;
}

std::string numbers(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += (text.empty() ? "" : " ") + std::to_string(i);
  return text;
}

TEST_F(EmbedJobTest, KeepsTheOrderWithinTheBound) {
  input(triangle(200));
  options_.max_texts_in_flight = 20;
  const auto result = run();
  EXPECT_FALSE(result.error);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.records, 200U);
  EXPECT_EQ(result.tokens, 200U * 201 / 2);
  EXPECT_EQ(output(), numbers(1, 200));
  EXPECT_LE(service_.most_texts(), 20U);
  EXPECT_EQ(journal_.records, 200U);
}

TEST_F(EmbedJobTest, ATextLargerThanTheBoundStillGoesThrough) {
  options_.max_texts_in_flight = 1;
  options_.max_bytes_in_flight = 1;
  input(triangle(7));
  EXPECT_FALSE(run().error);
  EXPECT_EQ(output(), numbers(1, 7));
}

TEST_F(EmbedJobTest, NothingInNothingOut) {
  input("");
  const auto result = run();
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.records, 0U);
  EXPECT_EQ(output(), "");
}

TEST_F(EmbedJobTest, TheFirstBadRecordEndsTheJobAfterAllBeforeIt) {
  input("x\nxx\nxxx\nxxxx\n\nxxxxxx\n");
  const auto result = run();
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("in.txt:5: the text is empty"), std::string::npos) << result.error->message;
  EXPECT_EQ(output(), numbers(1, 4));
  EXPECT_EQ(journal_.records, 4U);

  input("x\nxx\nxxx\nxxxx\nfixed\nxxxxxx\n");
  EXPECT_FALSE(run(true).error);
  EXPECT_EQ(output(), numbers(1, 6));
}

TEST_F(EmbedJobTest, BadRecordsAreSkippedOnRequest) {
  options_.skip_bad_records = true;
  input("\nx\n\nxx\nbad\nxxxx\nbad\n");
  const auto result = run();
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.skipped, 4U);
  EXPECT_EQ(output(), "! 1 ! 2 ! 4 !");
  EXPECT_EQ(reports_, (std::vector<std::string>{"in.txt:1: the text is empty", "in.txt:3: the text is empty",
                                                "in.txt:5: NaN", "in.txt:7: NaN"}));
  EXPECT_EQ(journal_.skipped, 4U);
}

TEST_F(EmbedJobTest, ATextThatFailsIsFoundAmongItsMates) {
  input("x\nxx\nxxx\nxxxx\nbad\nxxxxxx\n");
  const auto result = run();
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("in.txt:5: NaN"), std::string::npos) << result.error->message;
  EXPECT_EQ(output(), numbers(1, 3));
}

TEST_F(EmbedJobTest, AnInterruptionKeepsWhatIsDoneAndResumes) {
  input(triangle(60));
  options_.max_texts_in_flight = 6;
  service_.hold_after(4);  // so that the job cannot end before it is interrupted
  interrupt_after_ = 3;
  const auto result = run();
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.error);
  EXPECT_GE(result.records, 3U);
  EXPECT_EQ(journal_.records, result.records);
  EXPECT_EQ(output(), numbers(1, static_cast<int>(result.records)));

  std::ofstream(folder_ + "/out", std::ios::app) << "{\"index\":";  // what a crash may leave
  interrupt_after_ = 0;
  interrupt_ = false;
  service_.hold_after(-1);
  const auto rest = run(true);
  EXPECT_EQ(rest.records + result.records, 60U);
  EXPECT_EQ(output(), numbers(1, 60));
}

TEST_F(EmbedJobTest, AnInterruptionAmongSkippedRecordsLosesAndRepeatsNone) {
  options_.skip_bad_records = true;
  const std::string pattern = "x\n\nxx\nbad\n";  // every other record has no vector
  std::string text;
  for (int i = 0; i < 25; ++i) text += pattern;
  input(text);
  options_.max_texts_in_flight = 6;
  service_.hold_after(9);
  interrupt_after_ = 6;
  const auto result = run();
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(journal_.skipped, 0U);
  EXPECT_LT(journal_.records, 100U);

  interrupt_after_ = 0;
  interrupt_ = false;
  service_.hold_after(-1);
  const auto rest = run(true);
  EXPECT_FALSE(rest.error);
  EXPECT_EQ(result.records + rest.records, 100U);
  EXPECT_EQ(result.skipped + rest.skipped, 50U);
  EXPECT_EQ(journal_.skipped, 50U);
  std::string expected;
  for (int i = 0; i < 25; ++i) expected += std::string(i == 0 ? "" : " ") + "1 ! 2 !";
  EXPECT_EQ(output(), expected);
}

TEST_F(EmbedJobTest, AnInterruptionEndsAWaitForTheEngine) {
  input(triangle(60));
  service_.hold_after(0);
  std::thread user([this] { interrupt(); });
  const auto result = run();
  user.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.records, 0U);
}

TEST_F(EmbedJobTest, AFullDiskEndsTheJob) {
  input(triangle(10));
  hooks_.checkpoint = [](const bulk::Journal&) { return Status(Error(ErrorKind::kIo, "disk full")); };
  const auto result = run();
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->message, "disk full");
}

TEST_F(EmbedJobTest, AMissingColumnEndsTheJob) {
  std::ofstream(folder_ + "/in.csv") << "id\n1\n";
  hooks_.stop = {};
  const auto reader = bulk::RecordReader::open({folder_ + "/in.csv"}, {}).value();
  writer_ = bulk::VectorWriter::create(folder_ + "/out", bulk::OutputFormat::kJsonl, 1).value();
  const auto result = run_embed_job(*reader, *writer_, options_, hooks_, {}, {});
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("no column 'text'"), std::string::npos);
}

}  // namespace
}  // namespace weir::cli
