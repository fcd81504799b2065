// Types of an operator's inputs and outputs. Internal to this folder.
#pragma once

#include "ops/node.h"

namespace weir::ops {

struct Port {
  ONNXTensorElementDataType type;
  bool optional = false;
};

inline constexpr Port kFloatPort{ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT};
inline constexpr Port kBytesPort{ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8};
inline constexpr Port kBf16Port{ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16};
inline constexpr Port kInt64Port{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64};
inline constexpr Port kWeightsPort{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8};

/// Any type: the operator checks.
inline constexpr Port kAnyPort{ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED};

constexpr Port optional(Port port) { return {port.type, true}; }

}  // namespace weir::ops
