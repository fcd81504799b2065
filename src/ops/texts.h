// The offsets of packed texts, checked, in the form that kernels take. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/call.h"

namespace weir::ops {

/// Text t has the tokens offsets[t] … offsets[t + 1]. Memory of the calling thread's scratch.
struct Texts {
  std::span<const std::uint32_t> offsets;
  std::size_t longest = 0;

  std::size_t count() const { return offsets.size() - 1; }
};

/// Reads input `index`, int64 [texts + 1]. kInvalidArgument unless it begins with 0, ascends (a text has at least one
/// token) and ends with `tokens`.
Result<Texts> read_texts(const Call& call, std::size_t index, std::size_t tokens);

/// kInvalidArgument when the longest text has more tokens than the model has positions for.
Status check_positions(std::size_t longest_text, std::size_t positions);

}  // namespace weir::ops
