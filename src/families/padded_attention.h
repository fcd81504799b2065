// Self-attention of a padded graph: masks, biases by position, rotary positions, the products. The values "shape" and
// kAttentionMask are there. One thread; owned by the writer of one graph.
#pragma once

#include <cstdint>
#include <string>

#include "families/encoder.h"
#include "families/model_graph.h"

namespace weir::families {

class PaddedAttention {
 public:
  /// Adds what all layers share.
  PaddedAttention(const Encoder& encoder, ModelGraph& model);

  /// From a layer's input to the heads' weighted values, both [batch * sequence, hidden]. `name` ends in a dot.
  std::string add(const std::string& input, const Attention& attention, const std::string& name);

 private:
  void add_mask();
  void add_distance();
  void add_windows();
  void add_alibi();
  void add_relative_bias();
  void add_rotary(std::size_t index);
  void add_disentangled();

  /// [batch * sequence, hidden] as [batch, heads, sequence, head size].
  std::string heads_of(const std::string& input);
  std::string rotated(const std::string& input, std::size_t rotary);
  std::string halves(const std::string& input, bool first);
  std::string swapped(const std::string& input);
  std::string scores(const std::string& query, const std::string& key, const Attention& attention,
                     const std::string& name);
  std::string position_scores(const std::string& side, const Linear& linear, const std::string& name);

  const Encoder& encoder_;
  ModelGraph& model_;
  onnx::GraphBuilder& graph_;
  std::int64_t head_size_;
};

}  // namespace weir::families
