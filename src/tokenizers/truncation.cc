#include "tokenizers/truncation.h"

#include <algorithm>
#include <utility>

namespace weir::tokenizers {
namespace {

/// The shorter text is kept whole if half of the room holds it; else both get half, the longer one the odd token.
Lengths longest_first(Lengths lengths, std::size_t room) {
  const bool swapped = lengths.first > lengths.second;
  if (swapped) std::swap(lengths.first, lengths.second);
  lengths.second = lengths.first > room ? lengths.first : std::max(lengths.first, room - lengths.first);
  if (lengths.first + lengths.second > room) {
    lengths.first = room / 2;
    lengths.second = lengths.first + room % 2;
  }
  if (swapped) std::swap(lengths.first, lengths.second);
  return lengths;
}

}  // namespace

Result<Lengths> truncate(Lengths lengths, bool is_pair, std::size_t room, PairTruncation which) {
  const std::size_t total = lengths.first + lengths.second;
  if (total <= room) return lengths;
  if (room == 0) return Lengths{};
  if (!is_pair) return Lengths{room, 0};
  if (which == PairTruncation::kLongestFirst) return longest_first(lengths, room);
  std::size_t& target = which == PairTruncation::kOnlyFirst ? lengths.first : lengths.second;
  const std::size_t excess = total - room;
  if (target <= excess) {
    return Error(ErrorKind::kInvalidArgument,
                 "the text that may be truncated has " + std::to_string(target) + " tokens, but " +
                     std::to_string(excess) + " are too many: allow more tokens, or truncate the other text too",
                 "max_tokens");
  }
  target -= excess;
  return lengths;
}

}  // namespace weir::tokenizers
