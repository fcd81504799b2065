// The rows that pass from operator to operator, in the form that the next linear layer takes: fp32, bf16, or 8-bit with
// a step and a center per row (kernels/quantize). Internal to this folder.
//
// Every operator that gives rows has the same four outputs, of which it writes those that its attribute "rows" asks
// for:
//
//   0  values   float [tokens, columns]            fp32: always; else where the graph takes them
//   1  rows     uint8 [tokens, stride]             int8
//   2  scales   float [tokens, 2]: step, center    int8
//   3  rows     bfloat16 [tokens, stride]          bf16
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/bf16/bf16_rows.h"
#include "kernels/matmul/matmul.h"
#include "kernels/quantize/quantize_rows.h"
#include "ops/call.h"
#include "ops/node.h"
#include "ops/port.h"

namespace weir::ops {

enum class RowsFormat : std::uint8_t { kFp32, kBf16, kInt8 };

/// The attribute "rows".
Result<RowsFormat> read_rows_format(const Node& node);

inline constexpr std::array kRowsPorts = {optional(kFloatPort), optional(kBytesPort), optional(kFloatPort),
                                          optional(kBf16Port)};

/// The strides of the rows that operators write: whole tiles plus a cache line, so that rows a power of two wide do not
/// share cache sets.
constexpr std::size_t bytes_stride(std::size_t columns) { return kernels::padded_columns(columns) + 64; }
constexpr std::size_t bf16_stride(std::size_t columns) { return kernels::padded_bf16_columns(columns) + 32; }

/// What an operator writes; null what it does not.
struct RowsOutput {
  std::size_t columns = 0;
  float* values = nullptr;
  std::uint8_t* bytes = nullptr;
  kernels::RowScale* scales = nullptr;
  std::uint16_t* halves = nullptr;

  /// As results of a linear layer.
  void attach(kernels::MatmulEpilogue& epilogue) const;
};

/// Makes the outputs that the format asks for, and the values where the graph takes them. kInvalidArgument: it does not
/// take what the format asks for, or, with `needs_values`, the values.
Result<RowsOutput> make_rows(Call& call, RowsFormat format, bool needs_values, std::size_t rows, std::size_t columns);

/// Brings fp32 rows into the narrow forms.
class RowsWriter {
 public:
  explicit RowsWriter(cpu::Features features)
      : quantize_(&kernels::choose_quantize_rows(features)), round_(&kernels::choose_bf16_rows(features)) {}

  /// `values` [tokens, columns] to whichever narrow form the output has, on `threads` threads.
  void write(const Call& call, const float* values, std::size_t rows, const RowsOutput& out, std::size_t threads) const;

  /// Some rows of the output, of `values` that begin with the first of them.
  void write_range(const float* values, kernels::IndexRange rows, const RowsOutput& out) const;

 private:
  const kernels::QuantizeRowsVariant* quantize_;
  const kernels::Bf16RowsVariant* round_;
};

}  // namespace weir::ops
