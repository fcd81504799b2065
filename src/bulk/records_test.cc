#include "bulk/records.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bulk/csv.h"

namespace weir::bulk {
namespace {

namespace fs = std::filesystem;

class RecordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-records-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& content) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << content;
    return folder_ + "/" + name;
  }

  /// Every record as "LINE:TEXT" or "LINE!PROBLEM".
  std::vector<std::string> all(const std::vector<std::string>& files, const RecordOptions& options = {}) {
    std::vector<std::string> found;
    auto reader = RecordReader::open(files, options);
    EXPECT_TRUE(reader.ok()) << (reader.ok() ? "" : reader.error().message);
    if (!reader.ok()) return found;
    Record record;
    for (;;) {
      const auto more = (*reader)->next(record);
      if (!more.ok()) {
        found.push_back("error: " + more.error().message);
        return found;
      }
      if (!*more) break;
      found.push_back(std::to_string(record.line) +
                      (record.problem.empty() ? ":" + record.text : "!" + record.problem));
    }
    EXPECT_EQ((*reader)->bytes_read(), (*reader)->total_bytes());
    return found;
  }

  std::string folder_;
};

using Found = std::vector<std::string>;

TEST_F(RecordsTest, LinesOfText) {
  const auto file = put("a.txt",
                        "\xEF\xBB\xBF"
                        "first\r\nsecond\n\n last without end ");
  EXPECT_EQ(all({file}), (Found{"1:first", "2:second", "3!the text is empty", "4: last without end "}));
  EXPECT_EQ(all({put("empty.txt", "")}), Found{});
  EXPECT_EQ(all({put("one.txt", "\n")}), Found{"1!the text is empty"});
}

TEST_F(RecordsTest, FilesFollowEachOther) {
  const auto a = put("a.txt", "one");
  const auto b = put("b.jsonl", "{\"text\": \"two\"}\n");
  const auto c = put("c.csv", "id,text\n7,three\n");
  EXPECT_EQ(all({a, b, c}), (Found{"1:one", "1:two", "2:three"}));
}

TEST_F(RecordsTest, LongLinesAreSkippedWhole) {
  RecordOptions options;
  options.max_record_bytes = 100;
  const auto file = put("a.txt", "a\n" + std::string(200'000, 'x') + "\nb\n" + std::string(100, 'y') + "\n");
  EXPECT_EQ(all({file}, options),
            (Found{"1:a", "2!longer than the limit of 100 bytes", "3:b", "4:" + std::string(100, 'y')}));
}

TEST_F(RecordsTest, JsonLines) {
  const auto file = put("a.jsonl",
                        "{\"text\": \"a\\u00e9\\n\", \"id\": 1}\n\"plain\"\n{\"txt\": 1}\n{\"text\": 1}\n[]\n{\n\n"
                        "{\"text\": \"\"}\n{\"text\": \"\xff\"}\n");
  const auto found = all({file});
  ASSERT_EQ(found.size(), 9U);
  EXPECT_EQ(found[0], "1:a\xC3\xA9\n");
  EXPECT_EQ(found[1], "2:plain");
  EXPECT_EQ(found[2], "3!has no field 'text'");
  EXPECT_EQ(found[3], "4!field 'text' is not a string");
  EXPECT_EQ(found[4], "5!neither a JSON object nor a string");
  EXPECT_EQ(found[5].rfind("6!not valid JSON", 0), 0U);
  EXPECT_EQ(found[6].rfind("7!not valid JSON", 0), 0U);
  EXPECT_EQ(found[7], "8!the text is empty");
  EXPECT_EQ(found[8].rfind("9!not valid JSON", 0), 0U);
}

TEST_F(RecordsTest, CsvRowsMayGoOverLines) {
  RecordOptions options;
  options.field = "body";
  const auto file = put("a.csv", "id,\"body\"\r\n1,plain\n2,\"a \"\"b\"\",\nc\"\n3\n4,x,y\n5,a\"b\n6,last");
  EXPECT_EQ(all({file}, options).back(), "8:last") << "the stray quote of row 5 takes no other row";
  EXPECT_EQ(all({put("b.csv", "id,body\n1,plain\n2,\"a \"\"b\"\",\nc\"\n3\n4,x,y\n5,a\"b\"c\n6,last")}, options),
            (Found{"2:plain", "3:a \"b\",\nc", "5!has 1 fields; the header has 2", "6!has 3 fields; the header has 2",
                   "7!not a CSV row: a quote stands inside of a field", "8:last"}));
}

TEST_F(RecordsTest, AQuoteThatIsNotClosedTellsTheLinesItTook) {
  const auto found = all({put("a.csv", "text\n\"open\nnext\nsaid \"so\nlast\n")});
  EXPECT_EQ(found, (Found{"2!not a CSV row: a quote stands inside of a field; the row went on from line 2 to line 4",
                          "5:last"}));
  EXPECT_EQ(all({put("b.csv", "text\na\n\"open\nnext\n")}),
            (Found{"2:a", "3!a quoted field is not closed; the row went on from line 3 to line 4"}));
  EXPECT_EQ(all({put("c.csv", "text\n\"a\nb\",c\nd\n")}),
            (Found{"2!has 2 fields; the header has 1; the row went on from line 2 to line 3", "4:d"}));
}

TEST_F(RecordsTest, ABadRecordKeepsWhatWasRead) {
  auto reader = RecordReader::open({put("a.jsonl", "{\"text\": 1}\n")}, {}).value();
  Record record;
  ASSERT_TRUE(reader->next(record).value());
  EXPECT_FALSE(record.problem.empty());
  EXPECT_EQ(record.text, "{\"text\": 1}");
}

TEST_F(RecordsTest, AnOpenQuoteIsBounded) {
  RecordOptions options;
  options.max_record_bytes = 50;
  const auto found = all({put("a.csv", "text\n\"open\n" + std::string(60, 'x') + "\nafter\n")}, options);
  EXPECT_EQ(found, (Found{"2!a quoted field is not closed; the row went on from line 2 to line 3", "4:after"}));
}

TEST_F(RecordsTest, AMissingColumnNamesThoseThere) {
  const auto found = all({put("a.csv", "id,body\n1,x\n")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("no column 'text'; it has: id, body"), std::string::npos) << found[0];
}

TEST_F(RecordsTest, FilesAreLookedForBeforeWorkBegins) {
  const auto missing = RecordReader::open({put("a.txt", "a"), folder_ + "/none.txt"}, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(RecordReader::open({folder_}, {}).error().kind, ErrorKind::kIo);
  EXPECT_EQ(RecordReader::open({"-", "-"}, {}).error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(RecordsTest, AWaitForAPipeCanBeStopped) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int writer = ::open(pipe.c_str(), O_RDWR);  // stays open, so that the pipe has no end
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::write(writer, "a\n", 2), 2);
  std::stop_source stop;
  RecordOptions options;
  options.stop = stop.get_token();
  const auto reader = RecordReader::open({pipe}, options).value();
  EXPECT_FALSE(reader->total_bytes());
  Record record;
  ASSERT_TRUE(reader->next(record).value());
  EXPECT_EQ(record.text, "a");
  std::thread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(reader->next(record).error().kind, ErrorKind::kCancelled);
  stopper.join();
  ::close(writer);
}

TEST(Csv, Fields) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(csv_fields("").value(), Fields{""});
  EXPECT_EQ(csv_fields(",").value(), (Fields{"", ""}));
  EXPECT_EQ(csv_fields("a,\"\",\"b,c\"").value(), (Fields{"a", "", "b,c"}));
  EXPECT_EQ(csv_fields("\"a\",").value(), (Fields{"a", ""}));
  EXPECT_FALSE(csv_fields("\"a"));
  EXPECT_FALSE(csv_fields("\"a\"b"));
  EXPECT_FALSE(csv_fields("a\"b\""));
}

}  // namespace
}  // namespace weir::bulk
