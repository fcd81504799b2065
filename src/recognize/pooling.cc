#include "recognize/pooling.h"

#include <cmath>

namespace weir::recognize {
namespace {

/// The constant as large as the dims.
std::optional<Constant> wide(const Constant& constant, const Dims& dims) {
  const auto selection = broadcast(constant.dims(), dims);
  if (!selection || selection->dims != dims) return std::nullopt;
  auto small = constant.selected(*selection).small();
  if (!small.ok()) return std::nullopt;
  return std::move(*small);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); }

}  // namespace

std::optional<Value> masked_rows(const Call& call, const View& view, const Constant& mask) {
  if (view.dims.size() != 3 || !view.is_plain() || view.dims != view.of->dims) return std::nullopt;
  const auto numbers = wide(mask, view.dims);
  if (!numbers) return std::nullopt;
  for (std::int64_t i = 0; i < numbers->count(); ++i) {
    const std::int64_t token = i / view.dims[2];
    if (numbers->numbers()[static_cast<std::size_t>(i)] != call.sample().mask[static_cast<std::size_t>(token)]) {
      return std::nullopt;
    }
  }
  return Value(call.make(MaskedRows{view.of}, view.dims));
}

std::optional<Value> mean_pooled(const Call& call, const View& view, const Constant& counts) {
  const auto* sum = view.of->as<MaskedSum>();
  if (sum == nullptr || !view.is_plain()) return std::nullopt;
  const auto numbers = wide(counts, view.dims);
  if (!numbers) return std::nullopt;
  const std::int64_t columns = view.of->columns();
  for (std::int64_t i = 0; i < numbers->count(); ++i) {
    const auto length = static_cast<double>(call.sample().length(i / columns));
    if (!near(numbers->numbers()[static_cast<std::size_t>(i)], length)) return std::nullopt;
  }
  View pooled = call.make(MeanPooled{sum->x}, view.of->dims);
  pooled.dims = view.dims;
  return Value(std::move(pooled));
}

std::optional<Value> unit_length(const Call& call, const View& rows, const View& length) {
  const SampledView function = sampled(length);
  const auto* squares = function.x->as<SquaredSum>();
  const auto* root = function.x->as<Length>();
  if (squares == nullptr && root == nullptr) return std::nullopt;
  const View& x = squares != nullptr ? squares->x : root->x;
  if (x.of != rows.of || !same_order(x.map, rows.map) || x.scale != rows.scale || rows.dims != x.dims) {
    return std::nullopt;
  }
  const std::vector<double>& points = sample_points();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] < 0.01) continue;
    if (!near(function.samples[i], squares != nullptr ? std::sqrt(points[i]) : points[i])) return std::nullopt;
  }
  const std::int64_t columns = rows.dims.back();
  const std::int64_t count = element_count(length.dims);
  if (length.map != nullptr && count != element_count(rows.dims)) return std::nullopt;
  for (std::int64_t i = 0; length.map != nullptr && i < count; ++i) {
    if ((*length.map)[static_cast<std::size_t>(i)] != i / columns) return std::nullopt;
  }
  return Value(call.make(UnitLength{rows}, rows.dims));
}

}  // namespace weir::recognize
