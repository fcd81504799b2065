// A checkpoint's parameters as the packed operators take them. What several layers share is added once.
//
// One thread; lives as long as the graph is being written. A failure is the model's (ModelGraph::fail).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "families/encoder.h"
#include "families/model_graph.h"
#include "families/packed_operators.h"

namespace weir::families {

class PackedParameters {
 public:
  PackedParameters(ModelGraph& model, PackedOperators& operators) : model_(model), operators_(operators) {}

  /// The packed weights of linear layers with the same input, their channels one after the other; returns their name.
  std::string linear(const std::string& name, const std::vector<const Linear*>& layers);

  /// The packed weights of a convolution over tokens as those of a linear layer that reads neighbours side by side.
  std::string convolution(const std::string& name, const Convolution& convolution, std::uint64_t hidden);

  PackedNorm norm(const Norm& norm);

 private:
  std::string add(const std::string& name, const std::vector<const Linear*>& layers);
  std::string add(const std::string& name, const std::vector<float>& weights, const std::vector<float>& bias);

  ModelGraph& model_;
  PackedOperators& operators_;
  std::map<std::string, std::string> added_;  ///< By the tensors' names.
};

}  // namespace weir::families
