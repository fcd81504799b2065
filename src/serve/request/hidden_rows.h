// What the engine hands to pooling: a batch's output, one row per text. A view of memory that the engine owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::serve {

/// Row-major. Of padded graphs [rows, columns, hidden], where of a row's columns only as many as its text has tokens
/// mean something. Of graphs that have pooled already [rows, hidden], with columns = 0. Of packed graphs, beside that
/// or instead (hidden = 0): numbers of tokens, [tokens, token_hidden], those of row r from offsets[r] to offsets[r +
/// 1].
struct HiddenRows {
  std::span<const float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t hidden = 0;

  std::span<const float> token_values = {};
  std::size_t token_hidden = 0;
  std::span<const std::int64_t> offsets = {};  ///< [rows + 1]; empty: not packed, or no tokens wanted.

  bool has_text_vectors() const { return columns == 0 && hidden > 0; }
  std::size_t numbers_per_token() const { return offsets.empty() ? hidden : token_hidden; }

  /// The numbers of a row's `tokens` tokens.
  std::span<const float> tokens_of(std::size_t row, std::size_t tokens) const {
    if (offsets.empty()) return values.subspan(row * columns * hidden, tokens * hidden);
    return token_values.subspan(static_cast<std::size_t>(offsets[row]) * token_hidden, tokens * token_hidden);
  }
};

}  // namespace weir::serve
