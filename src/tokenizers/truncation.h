// How many tokens of each text are kept, as the library counts them.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "tokenizers/tokenizer.h"

namespace weir::tokenizers {

struct Lengths {
  std::size_t first = 0;
  std::size_t second = 0;
  bool operator==(const Lengths&) const = default;
};

/// Shortens texts of these lengths to `room` tokens together. kInvalidArgument when `which` names a text that is too
/// short.
Result<Lengths> truncate(Lengths lengths, bool is_pair, std::size_t room, PairTruncation which);

}  // namespace weir::tokenizers
