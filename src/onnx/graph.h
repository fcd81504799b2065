// A graph's nodes and tensors in plain types, for those who look at what it computes. The schema's classes stay inside
// the source file.
//
// A value; tensors point into the Model or into files that the Graph keeps mapped. One thread. Bytes are foreign: what
// is here is well formed by itself (a tensor has the bytes that its shape needs), but names may be missing, stand twice
// or lead in circles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace weir::onnx {

enum class DataType {
  kFloat,
  kFloat16,
  kBFloat16,
  kDouble,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool,
  kOther,  ///< Strings, complex numbers, elements of less than a byte; never of a TensorData.
};

/// The type of a number in a Cast's `to`.
DataType data_type_of(std::int64_t number);
/// 0 for kOther.
std::size_t data_type_bytes(DataType type);

struct TensorData {
  DataType type = DataType::kOther;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;              ///< Little-endian, row-major; not aligned.
  std::shared_ptr<const std::string> own_bytes;  ///< What `bytes` points into, where the file spells numbers out.
};

/// Bodies of If and Loop, types and strings in lists are kept as std::monostate.
using NodeAttribute = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                   std::vector<double>, TensorData>;

struct GraphNode {
  std::string op;
  std::string domain;  ///< "" for the standard operators, however the file spells it.
  std::string name;
  std::vector<std::string> inputs;  ///< "" where an optional one is left out.
  std::vector<std::string> outputs;
  std::map<std::string, NodeAttribute, std::less<>> attributes;
};

struct Graph {
  std::vector<GraphNode> nodes;
  /// Without those of types or with bytes that cannot be read; `unreadable` says why.
  std::map<std::string, TensorData, std::less<>> initializers;
  std::map<std::string, std::string, std::less<>> unreadable;
  std::int64_t opset = 0;             ///< Of the standard operators.
  std::shared_ptr<const void> files;  ///< Keeps external data mapped.
};

}  // namespace weir::onnx
