// DeBERTa's tables of positions as the packed attention takes them: projected to keys and queries at import, once and
// for all texts.
//
// One thread; lives as long as the graph is being written.
#pragma once

#include <string>
#include <vector>

#include "families/encoder.h"
#include "families/model_graph.h"

namespace weir::families {

class PackedDisentangled {
 public:
  PackedDisentangled(const Encoder& encoder, ModelGraph& model) : encoder_(encoder), model_(model) {}

  /// An initializer [hidden, positions rounded up to 16] of all positions through a layer; returns its name.
  std::string positions(const Linear& linear, const std::string& name);

  /// The initializer that says which column is a distance's.
  std::string buckets();

 private:
  /// [positions][hidden], normalized where the model does that.
  const std::vector<float>& table();

  const Encoder& encoder_;
  ModelGraph& model_;
  std::vector<float> table_;
};

}  // namespace weir::families
