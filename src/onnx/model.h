// An existing ONNX model file: what it takes and gives, and its weights moved into a file of ours.
//
// One thread. Bytes are foreign: sizes are limited, and external data may lie only in the model's own folder. Whether
// the graph computes is ONNX Runtime's to say.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "onnx/graph.h"
#include "onnx/weights_file.h"

namespace weir::onnx {

struct ValueInfo {
  std::string name;
  std::string type;                 ///< "float", "int64", …; empty when it is no tensor.
  std::vector<std::int64_t> shape;  ///< -1: free. Empty with `has_shape` false: not declared.
  bool has_shape = false;
};

class Model {
 public:
  /// kNotFound, kIo, kCorrupt (not an ONNX model), kUnsupported (larger than one protobuf message may be).
  static Result<Model> read(const std::string& path);
  /// `name` is for messages; external data is looked for in `folder`.
  static Result<Model> parse(std::span<const std::byte> bytes, const std::string& name, const std::string& folder);

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// Without those that are initializers, which old files list too.
  const std::vector<ValueInfo>& inputs() const;
  const std::vector<ValueInfo>& outputs() const;
  /// Domain ("" is the standard one) and version.
  std::vector<std::pair<std::string, std::int64_t>> opsets() const;

  /// Nodes and tensors, valid while the Model lives and until move_weights().
  Graph graph() const;

  /// Takes the rounding of activations out: where QuantizeLinear and DequantizeLinear stand in pairs around operators
  /// in floating point, each becomes an Identity. False, and nothing is changed, when something else takes 8-bit
  /// numbers.
  bool drop_activation_rounding();

  /// The external files that tensors refer to, relative to the folder, each once. kCorrupt when one leads out of it.
  Result<std::vector<std::string>> external_files() const;

  /// Moves external tensors, and initializers of 1 KiB or more, to `weights`; nothing external stays behind. kNotFound,
  /// kIo, kCorrupt when a file is missing or shorter than a tensor says. kUnsupported: external strings.
  Status move_weights(WeightsFile& weights);

  /// Writes the graph to `path`, beside the weights file that move_weights() filled. kIo.
  Status save(const std::string& path) const;

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::onnx
