#include "ops/packed_neighbors.h"

#include <algorithm>

#include "ops/scratch.h"
#include "ops/texts.h"

namespace weir::ops {
namespace {

constexpr std::int64_t kMostWidth = 255;

/// The neighbours of one text's tokens.
void gather(const Matrix<const float>& values, std::size_t begin, std::size_t end, std::size_t width, float* out) {
  const std::size_t side = width / 2;
  for (std::size_t token = begin; token < end; ++token) {
    for (std::size_t place = 0; place < width; ++place, out += values.columns) {
      const std::size_t shifted = token + place;  // by `side` beyond the neighbour
      if (shifted < begin + side || shifted >= end + side) {
        std::fill_n(out, values.columns, 0.0f);
      } else {
        std::copy_n(values.data + (shifted - side) * values.columns, values.columns, out);
      }
    }
  }
}

}  // namespace

Result<std::unique_ptr<PackedNeighbors>> PackedNeighbors::create(const Node& node) {
  WEIR_ASSIGN_OR_RETURN(const RowsFormat rows, read_rows_format(node));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  auto kernel = std::make_unique<PackedNeighbors>(rows, RowsWriter(features));
  WEIR_ASSIGN_OR_RETURN(const std::int64_t width, node.integer("width", 1, kMostWidth));
  if (width % 2 == 0) {
    return Error(ErrorKind::kInvalidArgument, "attribute 'width' is " + std::to_string(width) + "; it must be odd",
                 "width");
  }
  kernel->width_ = static_cast<std::size_t>(width);
  kernel->threads_ = node.threads();
  return kernel;
}

Status PackedNeighbors::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(const auto values, call.matrix<float>(0, "values"));
  WEIR_ASSIGN_OR_RETURN(const Texts texts, read_texts(call, 1, values.rows));
  const std::size_t columns = width_ * values.columns;
  WEIR_ASSIGN_OR_RETURN(const RowsOutput out, make_rows(call, rows_, false, values.rows, columns));
  float* gathered = out.values;
  if (gathered == nullptr) {
    WEIR_ASSIGN_OR_RETURN(gathered, scratch<float>(Slot::kRows, values.rows * columns));
  }
  for (std::size_t text = 0; text < texts.count(); ++text) {
    const std::size_t begin = texts.offsets[text];
    gather(values, begin, texts.offsets[text + 1], width_, gathered + begin * columns);
  }
  writer_.write(call, gathered, values.rows, out, threads_);
  return {};
}

}  // namespace weir::ops
