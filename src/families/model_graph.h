// A graph in the making and the checkpoint it takes its tensors from: what the writers of both forms share. Tensors are
// added under their own names (without the checkpoint's prefix); one that several layers share is added once.
//
// One thread. The first failure sticks, and what follows adds nothing.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "families/encoder.h"
#include "families/weights.h"
#include "onnx/graph_builder.h"

namespace weir::families {

class ModelGraph {
 public:
  ModelGraph(const Encoder& encoder, Weights& weights, onnx::GraphBuilder& graph);

  onnx::GraphBuilder& graph() { return graph_; }
  /// Whether the checkpoint has a tensor of this name.
  bool has(const std::string& name) const { return weights_.has(full_name(name)); }
  bool ok() const { return status_.ok(); }
  void fail(Error error);
  /// The first failure; else whether the checkpoint holds a piece of encoder that the config does not have.
  Status finish() const;

  // Tensors; the values are empty once something has failed.
  std::vector<float> values(const std::vector<std::string>& names, const std::vector<std::uint64_t>& shape);
  /// [channels, inputs], as stored.
  std::vector<float> linear_weights(const Linear& linear);
  std::vector<float> linear_bias(const Linear& linear);
  std::pair<std::vector<float>, std::vector<float>> norm_values(const Norm& norm);
  /// Encoder::relative_bias by distance: [heads][2 * max_distance + 1], of key - query + max_distance.
  std::vector<float> relative_bias();
  /// Rows of Encoder::disentangled's table by distance: [2 * max_positions - 1], of query - key + max_positions - 1.
  std::vector<std::int64_t> position_rows() const;

  // Initializers and nodes; each returns its name.
  std::string weight(const std::string& name, const std::vector<std::int64_t>& shape, std::span<const float> values);
  std::string table(const Table& table);
  std::string linear(const Linear& linear, const std::string& input, const std::string& output);
  std::string layer_norm(const Norm& norm, const std::string& input, const std::string& output);
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values);

 private:
  const Encoder& encoder_;
  Weights& weights_;
  onnx::GraphBuilder& graph_;
  std::string full_name(const std::string& name) const;

  std::string prefix_;
  std::set<std::string> added_;
  Status status_;
};

}  // namespace weir::families
