#include "ops/texts.h"

#include <algorithm>
#include <limits>

#include "ops/scratch.h"

namespace weir::ops {
namespace {

Error bad_offsets(const std::string& what) {
  return {ErrorKind::kInvalidArgument, "input 'offsets' " + what, "offsets"};
}

}  // namespace

Result<Texts> read_texts(const Call& call, std::size_t index, std::size_t tokens) {
  WEIR_ASSIGN_OR_RETURN(const std::span<const std::int64_t> given, call.vector<std::int64_t>(index, "offsets"));
  if (given.empty()) return bad_offsets("is empty; it holds 0 and the end of each text");
  if (tokens > std::numeric_limits<std::uint32_t>::max()) return bad_offsets("cannot address so many tokens");
  if (given.front() != 0) return bad_offsets("begins with " + std::to_string(given.front()) + " instead of 0");
  if (given.back() != static_cast<std::int64_t>(tokens)) {
    return bad_offsets("ends with " + std::to_string(given.back()) + "; there are " + std::to_string(tokens) +
                       " tokens");
  }
  WEIR_ASSIGN_OR_RETURN(std::uint32_t * offsets, scratch<std::uint32_t>(Slot::kOffsets, given.size()));
  Texts texts;
  offsets[0] = 0;
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (given[i] <= given[i - 1] || given[i] > given.back()) {
      return bad_offsets("does not ascend: " + std::to_string(given[i]) + " follows " + std::to_string(given[i - 1]) +
                         " at text " + std::to_string(i - 1) + "; each text has at least one token");
    }
    offsets[i] = static_cast<std::uint32_t>(given[i]);
    texts.longest = std::max<std::size_t>(texts.longest, offsets[i] - offsets[i - 1]);
  }
  texts.offsets = {offsets, given.size()};
  return texts;
}

Status check_positions(std::size_t longest_text, std::size_t positions) {
  if (longest_text <= positions) return {};
  return Error(ErrorKind::kInvalidArgument,
               "a text has " + std::to_string(longest_text) + " tokens; the model has positions for " +
                   std::to_string(positions),
               "offsets");
}

}  // namespace weir::ops
