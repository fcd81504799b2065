// What the engine hands to pooling: a batch's output, one row per text. A view of memory that the engine owns.
#pragma once

#include <cstddef>
#include <span>

namespace weir::serve {

/// Row-major: [rows, columns, hidden], or [rows, hidden] with columns = 0 when the graph has pooled already. Of a row's
/// columns only as many as its text has tokens mean something.
struct HiddenRows {
  std::span<const float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t hidden = 0;
};

}  // namespace weir::serve
