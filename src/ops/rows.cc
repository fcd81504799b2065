#include "ops/rows.h"

namespace weir::ops {
namespace {

constexpr const char* kFormatNames[] = {"fp32", "bf16", "int8"};
constexpr RowsFormat kFormats[] = {RowsFormat::kFp32, RowsFormat::kBf16, RowsFormat::kInt8};

/// Floats that are worth a thread.
constexpr std::size_t kFloatsWorthAThread = std::size_t{1} << 17;

static_assert(sizeof(kernels::RowScale) == 2 * sizeof(float), "a row of the output 'scales'");

}  // namespace

Result<RowsFormat> read_rows_format(const Node& node) {
  WEIR_ASSIGN_OR_RETURN(const std::size_t format, node.choice("rows", kFormatNames));
  return kFormats[format];
}

void RowsOutput::attach(kernels::MatmulEpilogue& epilogue) const {
  epilogue.out = values;
  epilogue.out_stride = columns;
  epilogue.quantized = bytes;
  epilogue.quantized_stride = bytes_stride(columns);
  epilogue.quantized_scale = scales;
  epilogue.out_bf16 = halves;
  epilogue.out_bf16_stride = bf16_stride(columns);
}

Result<RowsOutput> make_rows(Call& call, RowsFormat format, bool needs_values, std::size_t rows, std::size_t columns) {
  RowsOutput out;
  out.columns = columns;
  out.values = call.output<float>(0, rows, columns);
  bool is_whole = out.values != nullptr || (!needs_values && format != RowsFormat::kFp32);
  if (format == RowsFormat::kInt8) {
    out.bytes = call.output<std::uint8_t>(1, rows, bytes_stride(columns));
    out.scales = reinterpret_cast<kernels::RowScale*>(call.output<float>(2, rows, 2));
    is_whole = is_whole && out.bytes != nullptr && out.scales != nullptr;
  }
  if (format == RowsFormat::kBf16) {
    out.halves = call.output<std::uint16_t>(3, rows, bf16_stride(columns));
    is_whole = is_whole && out.halves != nullptr;
  }
  if (is_whole || rows == 0) return out;  // nothing has no address
  return Error(ErrorKind::kInvalidArgument,
               "the graph does not take all outputs that the attribute 'rows' asks for (docs/operators.md)", "rows");
}

void RowsWriter::write(const Call& call, const float* values, std::size_t rows, const RowsOutput& out,
                       std::size_t threads) const {
  const std::size_t columns = out.columns;
  if (out.bytes == nullptr && out.halves == nullptr) return;
  const std::size_t parts = useful_threads(rows * columns, kFloatsWorthAThread, threads);
  call.parallel()(parts, [&](std::size_t i) {
    const kernels::IndexRange range = share(rows, parts, i);
    write_range(values + range.begin * columns, range, out);
  });
}

void RowsWriter::write_range(const float* values, kernels::IndexRange rows, const RowsOutput& out) const {
  const std::size_t columns = out.columns;
  const std::size_t count = rows.end - rows.begin;
  if (out.bytes != nullptr) {
    const std::size_t stride = bytes_stride(columns);
    quantize_->run({values, columns, count, columns, out.bytes + rows.begin * stride, stride, out.scales + rows.begin});
  }
  if (out.halves != nullptr) {
    const std::size_t stride = bf16_stride(columns);
    round_->run({values, columns, count, columns, out.halves + rows.begin * stride, stride});
  }
}

}  // namespace weir::ops
