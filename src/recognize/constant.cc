#include "recognize/constant.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "safetensors/dtype.h"

namespace weir::recognize {
namespace {

/// Floating tensors of more elements are weights.
constexpr std::int64_t kMaxSmallFloats = 16384;

/// Recipes in recipes: each is a call in a call, so chains of them are cut by carrying them out.
constexpr int kMaxDepth = 32;

Error unsupported(const std::string& what) { return {ErrorKind::kUnsupported, what}; }

template <class Stored, class Number>
std::vector<Number> read_as(std::span<const std::byte> bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    numbers[i] = static_cast<Number>(stored);
  }
  return numbers;
}

template <class Number>
std::vector<Number> read_halves(std::span<const std::byte> bytes, float (*convert)(std::uint16_t)) {
  const auto halves = read_as<std::uint16_t, std::uint16_t>(bytes);
  std::vector<Number> numbers(halves.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Number>(convert(halves[i]));
  return numbers;
}

template <class Number>
std::vector<Number> read_numbers(const onnx::TensorData& tensor) {
  switch (tensor.type) {
    case DataType::kFloat:
      return read_as<float, Number>(tensor.bytes);
    case DataType::kDouble:
      return read_as<double, Number>(tensor.bytes);
    case DataType::kFloat16:
      return read_halves<Number>(tensor.bytes, safetensors::float_from_f16);
    case DataType::kBFloat16:
      return read_halves<Number>(tensor.bytes, safetensors::float_from_bf16);
    case DataType::kInt8:
      return read_as<std::int8_t, Number>(tensor.bytes);
    case DataType::kInt16:
      return read_as<std::int16_t, Number>(tensor.bytes);
    case DataType::kUInt16:
      return read_as<std::uint16_t, Number>(tensor.bytes);
    case DataType::kInt32:
      return read_as<std::int32_t, Number>(tensor.bytes);
    case DataType::kUInt32:
      return read_as<std::uint32_t, Number>(tensor.bytes);
    case DataType::kInt64:
      return read_as<std::int64_t, Number>(tensor.bytes);
    case DataType::kUInt64:
      return read_as<std::uint64_t, Number>(tensor.bytes);
    default:
      return read_as<std::uint8_t, Number>(tensor.bytes);
  }
}

/// One number per element of `axis`, or one for all.
struct PerAxis {
  std::vector<double> numbers;
  std::size_t stride = 1;

  double at(std::size_t element) const {
    return numbers.size() == 1 ? numbers[0] : numbers[element / stride % numbers.size()];
  }
};

Result<PerAxis> per_axis(const Constant& values, const Dims& dims, std::int64_t axis) {
  if (!values.is_small() || values.count() < 1) return unsupported("scales that are no list of numbers");
  PerAxis result{values.numbers(), 1};
  if (result.numbers.size() == 1) return result;
  const auto at = axis_of(axis, dims.size());
  // The other form: scales of a product's right side, as [1, columns] or [columns, 1].
  const bool is_list = element_count(values.dims()) == (at ? dims[*at] : -1);
  if (!at || !is_list) return unsupported("scales " + dims_text(values.dims()) + " of a tensor " + dims_text(dims));
  result.stride = static_cast<std::size_t>(strides_of(dims)[*at]);
  return result;
}

}  // namespace

bool is_floating(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBFloat16 ||
         type == DataType::kDouble;
}

bool is_eight_bit(DataType type) { return type == DataType::kInt8 || type == DataType::kUInt8; }

Constant::Constant(DataType type, Dims dims, Numbers numbers)
    : type_(type), dims_(std::move(dims)), numbers_(std::make_shared<const Numbers>(std::move(numbers))) {}

Constant::Constant(DataType type, Dims dims, Recipe recipe, int depth)
    : type_(type), dims_(std::move(dims)), depth_(depth) {
  if (depth_ > kMaxDepth) {
    recipe = [values = std::make_shared<const std::vector<float>>(recipe())] { return *values; };
    depth_ = 1;
  }
  recipe_ = std::make_shared<const Recipe>(std::move(recipe));
}

Result<Constant> Constant::from(const onnx::TensorData& tensor) {
  if (tensor.dims.size() > kMaxRank) return unsupported("a tensor of " + std::to_string(tensor.dims.size()) + " axes");
  const std::int64_t count = element_count(tensor.dims);
  const bool may_be_weight = is_floating(tensor.type) || is_eight_bit(tensor.type);
  if (count < 0 || (!may_be_weight && count > kMaxElements)) {
    return unsupported("a tensor of shape " + dims_text(tensor.dims));
  }
  if (!may_be_weight || count <= kMaxSmallFloats)
    return Constant(tensor.type, tensor.dims, read_numbers<double>(tensor));
  return Constant(tensor.type, tensor.dims, Recipe([tensor] { return read_numbers<float>(tensor); }));
}

std::vector<float> Constant::floats() const {
  if (recipe_ != nullptr) return (*recipe_)();
  return {numbers_->begin(), numbers_->end()};
}

std::optional<double> Constant::single() const {
  if (!is_small() || numbers_->size() != 1) return std::nullopt;
  return numbers_->front();
}

Constant Constant::as(DataType type) const {
  if (type == type_ || (is_floating(type) && is_floating(type_))) {
    Constant same = *this;
    same.type_ = type;
    return same;
  }
  if (type == DataType::kBool) return mapped(type, [](double x) { return x != 0 ? 1.0 : 0.0; });
  if (is_floating(type)) return mapped(type, [](double x) { return x; });
  return mapped(type, [](double x) { return std::trunc(x); });
}

Constant Constant::selected(const Selection& selection) const {
  if (!selection.map) {
    Constant same = *this;
    same.dims_ = selection.dims;
    return same;
  }
  const auto pick = [map = selection.map](const auto& from) {
    const IndexMap indices = map();
    std::decay_t<decltype(from)> picked(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) picked[i] = from[static_cast<std::size_t>(indices[i])];
    return picked;
  };
  if (is_small()) return {type_, selection.dims, pick(*numbers_)};
  return {type_, selection.dims, Recipe([recipe = recipe_, pick] { return pick((*recipe)()); }), depth_ + 1};
}

Constant Constant::mapped(DataType type, const std::function<double(double)>& f) const {
  if (is_small()) {
    Numbers numbers = *numbers_;
    for (double& number : numbers) number = f(number);
    return {type, dims_, std::move(numbers)};
  }
  return {type, dims_, Recipe([recipe = recipe_, f] {
            std::vector<float> values = (*recipe)();
            for (float& value : values) value = static_cast<float>(f(value));
            return values;
          }),
          depth_ + 1};
}

Result<Constant> Constant::small() const {
  if (is_small()) return *this;
  if (count() > kMaxElements) return unsupported("numbers of a tensor of shape " + dims_text(dims_));
  const std::vector<float> values = floats();
  return Constant(type_, dims_, Numbers(values.begin(), values.end()));
}

Result<Constant> combined(const Constant& a, const Constant& b, DataType type,
                          const std::function<double(double, double)>& f) {
  if (const auto number = b.single(); number && b.dims().size() <= a.dims().size()) {
    return a.mapped(type, [f, number = *number](double x) { return f(x, number); });
  }
  if (const auto number = a.single(); number && a.dims().size() <= b.dims().size()) {
    return b.mapped(type, [f, number = *number](double x) { return f(number, x); });
  }
  const auto dims = broadcast_dims(a.dims(), b.dims());
  const auto from_a = dims ? broadcast(a.dims(), *dims) : std::nullopt;
  const auto from_b = dims ? broadcast(b.dims(), *dims) : std::nullopt;
  if (!from_a || !from_b) return unsupported("shapes " + dims_text(a.dims()) + " and " + dims_text(b.dims()));
  WEIR_ASSIGN_OR_RETURN(const Constant left, a.selected(*from_a).small());
  WEIR_ASSIGN_OR_RETURN(const Constant right, b.selected(*from_b).small());
  Constant::Numbers numbers(left.numbers().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = f(left.numbers()[i], right.numbers()[i]);
  return Constant(type, *dims, std::move(numbers));
}

Result<Constant> dequantized(const Constant& quantized, const Constant& scale, const Constant* zero_point,
                             std::int64_t axis) {
  WEIR_ASSIGN_OR_RETURN(const PerAxis scales, per_axis(scale, quantized.dims(), axis));
  PerAxis zeros{{0.0}, 1};
  if (zero_point != nullptr) {
    WEIR_ASSIGN_OR_RETURN(zeros, per_axis(*zero_point, quantized.dims(), axis));
  }
  const auto restore = [scales, zeros](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double steps = static_cast<double>(values[i]) - zeros.at(i);
      values[i] = static_cast<typename decltype(values)::value_type>(static_cast<float>(steps * scales.at(i)));
    }
    return values;
  };
  if (quantized.is_small()) return Constant(DataType::kFloat, quantized.dims(), restore(quantized.numbers()));
  return Constant(DataType::kFloat, quantized.dims(),
                  Constant::Recipe([quantized, restore] { return restore(quantized.floats()); }),
                  quantized.depth() + 1);
}

}  // namespace weir::recognize
