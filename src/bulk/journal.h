// How far an interrupted bulk job came: a small JSON file beside its output (docs/formats/bulk-journal.md), written
// after the output it speaks of is on the disk, removed when the job is done.
//
// A job is resumed only if it is the same one: its settings are compared by name, and the records already done are read
// again and must hash to the same value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::bulk {

/// SHA-256 over records in their order. One thread.
class RecordHash {
 public:
  RecordHash();
  RecordHash(RecordHash&&) noexcept;
  RecordHash& operator=(RecordHash&&) noexcept;
  ~RecordHash();

  /// Records that differ in where a text ends hash to different values.
  void add(std::string_view text);
  std::string hex() const;  ///< Of all added so far, lower case.

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Journal {
  std::map<std::string, std::string> job;  ///< Setting → value: all that the output depends on.
  std::uint64_t records = 0;               ///< Records done, skipped ones included.
  std::uint64_t skipped = 0;               ///< Of these.
  std::uint64_t output_bytes = 0;          ///< Of the output, up to here valid.
  std::string input_sha256;                ///< RecordHash of the records done.
};

/// Where the journal of an output stands.
std::string journal_path(const std::string& output);

/// kNotFound, kCorrupt (names the field), kUnsupported (a newer format), kIo.
Result<Journal> read_journal(const std::string& path);
/// The path holds the old journal or the new one, whatever happens. kIo.
Status write_journal(const std::string& path, const Journal& journal);

/// kInvalidArgument names the first setting that differs.
Status check_same_job(const Journal& journal, const std::map<std::string, std::string>& job, const std::string& path);

}  // namespace weir::bulk
