// Builds an ONNX graph node by node. Weights go to an external file as they are added; constants of a few numbers stay
// in the graph. The schema's classes stay inside the source file.
//
// One thread. Names are the caller's and must be unique; ONNX Runtime checks the graph when it loads it. Nothing fails
// before save(), which returns the first failure of all that was added.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "onnx/weights_file.h"

namespace weir::onnx {

/// The standard operators' version that graphs of ours are written in: the first with Gelu.
inline constexpr std::int64_t kOpset = 20;
/// The file format's version; 9 is the one of opset 20.
inline constexpr std::int64_t kIrVersion = 9;
/// Our own operators.
inline constexpr const char* kWeirDomain = "weir";
inline constexpr std::int64_t kWeirOpset = 1;

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// A fixed size, or the name of a free dimension.
using Dimension = std::variant<std::int64_t, std::string>;

enum class ElementType { kFloat, kInt64 };

class GraphBuilder {
 public:
  /// `weights` must outlive the builder. `name` is the graph's.
  GraphBuilder(std::string name, WeightsFile* weights);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  void input(const std::string& name, ElementType type, const std::vector<Dimension>& shape);
  void output(const std::string& name, ElementType type, const std::vector<Dimension>& shape);

  /// A node of the standard domain with one output; the node has the output's name. Returns `output`.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                   const Attributes& attributes = {});

  /// A node of our own domain (docs/operators.md), named as its first output. An empty name is an input or output
  /// left out.
  void weir_node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                 const Attributes& attributes = {});

  /// An initializer in the weights file. Returns `name`.
  std::string weight(const std::string& name, const std::vector<std::int64_t>& shape, std::span<const float> values);

  /// An opaque initializer in the weights file: int8, of one dimension. Returns `name`.
  std::string bytes(const std::string& name, std::span<const std::byte> values);

  /// Constants in the graph itself. Return `name`. An empty shape is a scalar.
  std::string int64_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                             std::span<const std::int64_t> values);
  std::string float_constant(const std::string& name, float value);

  /// Writes the graph to `path`, which must stand beside the weights file. kIo; kInternal for a bug of the caller's.
  Status save(const std::string& path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::onnx
