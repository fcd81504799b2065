// The vectors of a bulk job, in the order of its records, into a file or to standard output.
//
//   jsonl   {"index":0,"embedding":[0.1,…]}, of texts with a vector per token {"index":0,"embeddings":[[0.1,…],…]}, or
//           {"index":1,"error":"…"} for a record that was skipped
//   npy     NumPy's format 1.0: float32 [records, dimensions]; a skipped record is a row of NaN
//
// `index` counts all records from 0, so that a row can be found again in the input. The file is valid after every
// flush(). One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::bulk {

enum class OutputFormat { kJsonl, kNpy };

std::optional<OutputFormat> output_format_from_name(std::string_view name);  ///< "jsonl", "npy"

class VectorWriter {
 public:
  /// Begins anew. "-" is standard output, which npy, whose header is written last, cannot go to: kInvalidArgument. kIo.
  static Result<std::unique_ptr<VectorWriter>> create(const std::string& path, OutputFormat format,
                                                      std::uint32_t dimensions);
  /// Goes on after `records` records in `bytes` bytes; what follows them is cut off. kInvalidArgument when the file is
  /// shorter; kNotFound, kIo.
  static Result<std::unique_ptr<VectorWriter>> resume(const std::string& path, OutputFormat format,
                                                      std::uint32_t dimensions, std::uint64_t records,
                                                      std::uint64_t bytes);
  ~VectorWriter();
  VectorWriter(const VectorWriter&) = delete;
  VectorWriter& operator=(const VectorWriter&) = delete;

  Status append(std::span<const float> vector);
  /// A text's vectors, [tokens, dimensions]. Not in npy.
  Status append_rows(std::span<const float> vectors);
  Status append_skipped(std::string_view problem);

  /// Brings all to the disk; the file's valid length in bytes. kIo.
  Result<std::uint64_t> flush();

 private:
  VectorWriter(std::string path, int fd, OutputFormat format, std::uint32_t dimensions);
  Status write_out();
  Status write_header();
  Status write_if_large();

  std::string path_;
  int fd_;
  OutputFormat format_;
  std::uint32_t dimensions_;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;  ///< Written, without the buffer.
  std::string buffer_;
};

/// The 128 bytes before the numbers.
std::string npy_header(std::uint64_t records, std::uint32_t dimensions);

}  // namespace weir::bulk
