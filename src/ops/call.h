// One call of an operator: its inputs as checked views, its outputs, and the threads to compute on. Internal to this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/matmul/parallel.h"
#include "ops/node.h"

namespace weir::ops {

/// A tensor of two dimensions, row-major.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

class Call {
 public:
  explicit Call(OrtKernelContext* context) : context_(context) {}

  bool has_input(std::size_t index) const { return context_.GetInput(index) != nullptr; }
  /// Of an input that is there.
  ONNXTensorElementDataType element_type(std::size_t index) const {
    return context_.GetInput(index).GetTensorTypeAndShapeInfo().GetElementType();
  }

  /// Inputs by index; `name` is for messages. kInvalidArgument when the shape is not the one asked for.
  template <class T>
  Result<std::span<const T>> vector(std::size_t index, const char* name) const {
    WEIR_ASSIGN_OR_RETURN(const Shape shape, shape_of(index, name, 1));
    return std::span<const T>(static_cast<const T*>(shape.data), shape.sizes[0]);
  }
  template <class T>
  Result<std::span<const T>> vector(std::size_t index, const char* name, std::size_t size) const {
    WEIR_ASSIGN_OR_RETURN(const std::span<const T> values, vector<T>(index, name));
    WEIR_RETURN_IF_ERROR(check_size(name, "elements", values.size(), size));
    return values;
  }
  template <class T>
  Result<Matrix<const T>> matrix(std::size_t index, const char* name) const {
    WEIR_ASSIGN_OR_RETURN(const Shape shape, shape_of(index, name, 2));
    return Matrix<const T>{static_cast<const T*>(shape.data), shape.sizes[0], shape.sizes[1]};
  }
  template <class T>
  Result<Matrix<const T>> matrix(std::size_t index, const char* name, std::size_t columns) const {
    WEIR_ASSIGN_OR_RETURN(const Matrix<const T> values, matrix<T>(index, name));
    WEIR_RETURN_IF_ERROR(check_size(name, "columns", values.columns, columns));
    return values;
  }
  template <class T>
  Result<Matrix<const T>> matrix(std::size_t index, const char* name, std::size_t columns, std::size_t rows) const {
    WEIR_ASSIGN_OR_RETURN(const Matrix<const T> values, matrix<T>(index, name, columns));
    WEIR_RETURN_IF_ERROR(check_size(name, "rows", values.rows, rows));
    return values;
  }

  /// Makes output `index`; null where the graph does not take it. T is what an element is stored as.
  template <class T>
  T* output(std::size_t index, std::size_t rows, std::size_t columns) {
    return static_cast<T*>(output_data(index, rows, columns));
  }

  /// ONNX Runtime's threads.
  kernels::ParallelFor parallel() const;

 private:
  struct Shape {
    const void* data = nullptr;
    std::size_t sizes[2] = {};
  };
  void* output_data(std::size_t index, std::size_t rows, std::size_t columns);
  Result<Shape> shape_of(std::size_t index, const char* name, std::size_t rank) const;
  static Status check_size(const char* name, const char* what, std::size_t found, std::size_t wanted);

  Ort::KernelContext context_;
};

/// `count` / `unit` rounded up, at least 1 and at most `most`: how many threads a piece of work is worth.
std::size_t useful_threads(std::size_t count, std::size_t unit, std::size_t most);

/// Part `index` of `parts` equal ones of 0 … total.
inline kernels::IndexRange share(std::size_t total, std::size_t parts, std::size_t index) {
  return kernels::equal_share(total, parts, index);
}

}  // namespace weir::ops
