#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "bulk/journal.h"
#include "bulk/progress.h"
#include "bulk/vector_writer.h"

namespace weir::bulk {
namespace {

namespace fs = std::filesystem;

class BulkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-bulk-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/out";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::string folder_;
  std::string path_;
};

using WriterTest = BulkTest;
using JournalTest = BulkTest;

TEST_F(WriterTest, JsonLines) {
  const auto writer = VectorWriter::create(path_, OutputFormat::kJsonl, 2).value();
  ASSERT_TRUE(writer->append(std::vector<float>{0.1F, -2}).ok());
  ASSERT_TRUE(writer->append_skipped("a \"bad\"\nline").ok());
  ASSERT_TRUE(writer->append(std::vector<float>{1e-20F, 3}).ok());
  const auto bytes = writer->flush();
  ASSERT_TRUE(bytes.ok());
  const std::string expected =
      "{\"index\":0,\"embedding\":[0.1,-2]}\n{\"index\":1,\"error\":\"a \\\"bad\\\"\\nline\"}\n"
      "{\"index\":2,\"embedding\":[1e-20,3]}\n";
  EXPECT_EQ(content(path_), expected);
  EXPECT_EQ(*bytes, expected.size());
}

TEST_F(WriterTest, NpyIsValidAfterEveryFlush) {
  const auto writer = VectorWriter::create(path_, OutputFormat::kNpy, 2).value();
  EXPECT_EQ(content(path_), npy_header(0, 2));
  ASSERT_TRUE(writer->append(std::vector<float>{1, 2}).ok());
  ASSERT_TRUE(writer->append_skipped("bad").ok());
  ASSERT_TRUE(writer->flush().ok());
  const std::string written = content(path_);
  ASSERT_EQ(written.size(), 128U + 2 * 2 * sizeof(float));
  EXPECT_EQ(written.substr(0, 128), npy_header(2, 2));
  float values[4];
  std::memcpy(values, written.data() + 128, sizeof values);
  EXPECT_EQ(values[1], 2);
  EXPECT_NE(values[2], values[2]);
}

TEST_F(WriterTest, TheNpyHeaderIsNumpys) {
  const std::string header = npy_header(12, 384);
  ASSERT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.find("{'descr': '<f4', 'fortran_order': False, 'shape': (12, 384), }"), 10U);
  EXPECT_EQ(header.back(), '\n');
}

TEST_F(WriterTest, ResumeCutsWhatIsNotValid) {
  for (const auto format : {OutputFormat::kJsonl, OutputFormat::kNpy}) {
    std::uint64_t bytes = 0;
    {
      const auto writer = VectorWriter::create(path_, format, 1).value();
      ASSERT_TRUE(writer->append(std::vector<float>{1}).ok());
      bytes = writer->flush().value();
      ASSERT_TRUE(writer->append(std::vector<float>{7}).ok());
      ASSERT_TRUE(writer->flush().ok());
    }
    std::ofstream(path_, std::ios::app) << "half a li";
    {
      const auto writer = VectorWriter::resume(path_, format, 1, 1, bytes).value();
      ASSERT_TRUE(writer->append(std::vector<float>{2}).ok());
      ASSERT_TRUE(writer->flush().ok());
    }
    const std::string resumed = content(path_);
    const auto writer = VectorWriter::create(path_, format, 1).value();
    ASSERT_TRUE(writer->append(std::vector<float>{1}).ok());
    ASSERT_TRUE(writer->append(std::vector<float>{2}).ok());
    ASSERT_TRUE(writer->flush().ok());
    EXPECT_EQ(resumed, content(path_));
  }
}

TEST_F(WriterTest, AnOutputThatIsNotTheJournalsIsRefused) {
  std::ofstream(path_) << "short";
  EXPECT_EQ(VectorWriter::resume(path_, OutputFormat::kJsonl, 1, 1, 6).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(VectorWriter::resume(path_, OutputFormat::kNpy, 1, 1, 5).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(VectorWriter::resume(path_ + "x", OutputFormat::kJsonl, 1, 0, 0).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(content(path_), "short");
}

TEST_F(WriterTest, PlacesThatCannotBeWrittenAreErrors) {
  EXPECT_EQ(VectorWriter::create(folder_ + "/none/out", OutputFormat::kJsonl, 1).error().kind, ErrorKind::kIo);
  EXPECT_EQ(VectorWriter::create("-", OutputFormat::kNpy, 1).error().where, "--output");
  const auto full = VectorWriter::create("/dev/full", OutputFormat::kJsonl, 1).value();
  ASSERT_TRUE(full->append(std::vector<float>{1}).ok());
  EXPECT_EQ(full->flush().error().kind, ErrorKind::kIo);
}

TEST_F(JournalTest, ReadsWhatItWrote) {
  Journal journal;
  journal.job = {{"model", "abc"}, {"prompt \"x\"", "q: \n"}};
  journal.records = 12;
  journal.skipped = 1;
  journal.output_bytes = 1234567890123;
  journal.input_sha256 = RecordHash().hex();
  ASSERT_TRUE(write_journal(path_, journal).ok());
  ASSERT_TRUE(write_journal(path_, journal).ok());
  const auto read = read_journal(path_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->job, journal.job);
  EXPECT_EQ(read->records, 12U);
  EXPECT_EQ(read->skipped, 1U);
  EXPECT_EQ(read->output_bytes, journal.output_bytes);
  EXPECT_EQ(read->input_sha256, journal.input_sha256);
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(JournalTest, BrokenOnesAreRefused) {
  EXPECT_EQ(read_journal(path_).error().kind, ErrorKind::kNotFound);
  std::ofstream(path_) << "{\"format_version\": 1}";
  EXPECT_EQ(read_journal(path_).error().kind, ErrorKind::kCorrupt);
  std::ofstream(path_) << "{\"format_version\": 2}";
  EXPECT_EQ(read_journal(path_).error().kind, ErrorKind::kUnsupported);
}

TEST(SameJob, NamesTheSettingThatDiffers) {
  Journal journal;
  journal.job = {{"a", "1"}, {"b", "2"}};
  EXPECT_TRUE(check_same_job(journal, {{"a", "1"}, {"b", "2"}}, "j").ok());
  EXPECT_EQ(check_same_job(journal, {{"a", "1"}, {"b", "3"}}, "j").error().where, "b");
  EXPECT_EQ(check_same_job(journal, {{"a", "1"}}, "j").error().where, "b");
  EXPECT_EQ(check_same_job(journal, {{"a", "1"}, {"b", "2"}, {"c", "1"}}, "j").error().where, "c");
}

TEST(RecordHash, TellsBoundariesApart) {
  const auto hash = [](std::initializer_list<const char*> texts) {
    RecordHash made;
    for (const char* text : texts) made.add(text);
    return made.hex();
  };
  EXPECT_EQ(hash({"ab", "c"}), hash({"ab", "c"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_NE(hash({""}), hash({}));
  RecordHash going_on;
  going_on.add("a");
  EXPECT_EQ(going_on.hex(), hash({"a"}));
  going_on.add("b");
  EXPECT_EQ(going_on.hex(), hash({"a", "b"}));
}

TEST(Progress, Line) {
  ProgressState state;
  state.texts = 1200;
  state.tokens = 81200;
  state.seconds = 4;
  EXPECT_EQ(progress_line(state), "1,200 texts  300 texts/s  20,300 tokens/s");
  state.bytes = 250;
  state.total_bytes = 1000;
  EXPECT_EQ(progress_line(state),
            "[######                  ]  25 %  1,200 texts  300 texts/s  20,300 tokens/s  ETA 0:12");
  state.texts_before = 100;
  state.bytes_before = 500;
  EXPECT_EQ(progress_line(state),
            "[##################      ]  75 %  1,300 texts  300 texts/s  20,300 tokens/s  ETA 0:04");
}

TEST(Progress, NothingDoneAndMoreThanExpected) {
  ProgressState state;
  state.total_bytes = 10;
  EXPECT_EQ(progress_line(state), "[                        ]   0 %  0 texts  0 texts/s  0 tokens/s");
  state.bytes = 20;
  state.seconds = 1;
  EXPECT_EQ(progress_line(state), "[########################] 100 %  0 texts  0 texts/s  0 tokens/s");
  EXPECT_EQ(with_separators(1234567), "1,234,567");
  EXPECT_EQ(with_separators(999), "999");
}

}  // namespace
}  // namespace weir::bulk
