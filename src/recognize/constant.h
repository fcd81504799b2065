// Tensors whose numbers are known: weights, shapes, and what follows from the sample inputs.
//
// Values that share their numbers; one thread. Small ones and integers hold them; weights are a recipe that reads them
// from the file when asked, so that a model of gigabytes is looked at without being copied.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "onnx/graph.h"
#include "recognize/dims.h"

namespace weir::recognize {

using onnx::DataType;

bool is_floating(DataType type);
/// Types of quantized weights.
bool is_eight_bit(DataType type);

class Constant {
 public:
  using Numbers = std::vector<double>;
  using Recipe = std::function<std::vector<float>()>;

  Constant(DataType type, Dims dims, Numbers numbers);
  /// `depth`: how many recipes it is made of, one in the other.
  Constant(DataType type, Dims dims, Recipe recipe, int depth = 1);
  static Constant scalar(DataType type, double value) { return {type, {}, Numbers{value}}; }
  /// kUnsupported: too many dimensions, or integers too many to hold.
  static Result<Constant> from(const onnx::TensorData& tensor);

  DataType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  std::int64_t count() const { return element_count(dims_); }
  bool is_small() const { return numbers_ != nullptr; }
  int depth() const { return depth_; }
  /// Of a small one.
  const Numbers& numbers() const { return *numbers_; }
  /// Of any: computed anew on each call for large ones.
  std::vector<float> floats() const;
  /// The only number of a small constant of one element.
  std::optional<double> single() const;

  Constant as(DataType type) const;
  Constant selected(const Selection& selection) const;
  /// f of each number.
  Constant mapped(DataType type, const std::function<double(double)>& f) const;
  /// Numbers for use where many would be too many: large ones are read. kUnsupported beyond kMaxElements.
  Result<Constant> small() const;

 private:
  DataType type_;
  Dims dims_;
  std::shared_ptr<const Numbers> numbers_;
  std::shared_ptr<const Recipe> recipe_;
  int depth_ = 0;
};

/// f of each pair, broadcast. kUnsupported when the shapes do not fit.
Result<Constant> combined(const Constant& a, const Constant& b, DataType type,
                          const std::function<double(double, double)>& f);

/// (q - zero_point) * scale; both are single numbers or one per element of `axis`. `zero_point` may be null.
Result<Constant> dequantized(const Constant& quantized, const Constant& scale, const Constant* zero_point,
                             std::int64_t axis);

}  // namespace weir::recognize
