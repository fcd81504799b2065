// The texts that requests carry, and how many tokens they have. A value; shared by targets, read by any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

struct WorkloadOptions {
  std::string file;            ///< Texts a line, JSON lines or CSV; empty: texts made up.
  std::string field = "text";  ///< Of JSON lines and CSV.
  std::uint32_t texts_per_request = 1;
  std::string tokenizer;         ///< A tokenizer.json, or a folder with one; empty: tokens are not counted.
  std::uint32_t max_tokens = 0;  ///< Longer texts count as this many: what the server cuts them to. 0: no limit.
};

struct Workload {
  std::string description;                         ///< "2,000 texts of mix.jsonl", for reports.
  std::vector<std::vector<std::string>> requests;  ///< The texts of each.
  std::vector<RequestSize> sizes;                  ///< One for each request.
  double mean_tokens = 0;                          ///< Of a text; 0 when they were not counted, as are the next two.
  double mean_square_tokens = 0;                   ///< What attention costs grows with.
  std::uint32_t longest_tokens = 0;
};

/// kNotFound, kIo, kCorrupt, kInvalidArgument: the file or the tokenizer; at most 100,000 texts and 256 MiB.
Result<Workload> make_workload(const WorkloadOptions& options);

/// `count` English texts whose lengths are spread as real traffic's are (log-normal, median 35 words, mean 55, at most
/// 400). Always the same ones.
std::vector<std::string> made_up_texts(std::size_t count);

}  // namespace weir::loadgen
