// The texts of a bulk job: lines of text, JSON objects a line, or CSV rows, from files one after another or from
// standard input. A record that cannot be read is given as such, with its file and line, and reading goes on. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::bulk {

enum class InputFormat {
  kText,   ///< A line is a text.
  kJsonl,  ///< A line is a JSON object; its field is the text. Or a JSON string, the text itself.
  kCsv,    ///< RFC 4180 with a header; its column is the text.
};

std::optional<InputFormat> input_format_from_name(std::string_view name);  ///< "txt", "jsonl", "csv"

struct Record {
  std::string text;     ///< With a problem: what was read of the record; nothing of one that is too long.
  std::string problem;  ///< Why it cannot be used; empty when it can.
  std::string file;
  std::uint64_t line = 0;  ///< Where the record begins, from 1.

  /// "FILE:LINE", for messages.
  std::string place() const { return file + ":" + std::to_string(line); }
};

struct RecordOptions {
  std::optional<InputFormat> format;  ///< Empty: by the file's name (.jsonl, .ndjson, .csv), else text.
  std::string field = "text";
  std::size_t max_record_bytes = 16 << 20;
  std::stop_token stop;  ///< Ends the wait for a slow pipe.
};

class RecordReader {
 public:
  /// Opens every file once, so that a missing one is known before work begins; "-" or no file at all is standard input.
  /// kNotFound, kIo, kInvalidArgument.
  static Result<std::unique_ptr<RecordReader>> open(std::vector<std::string> files, RecordOptions options);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// False at the end. kIo; kInvalidArgument when a CSV file has no such column; kCancelled when asked to stop.
  Result<bool> next(Record& record);

  std::uint64_t bytes_read() const;
  std::optional<std::uint64_t> total_bytes() const;  ///< Known when all inputs are regular files.

 private:
  struct Impl;
  explicit RecordReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::bulk
