// Attention as nodes of a packed graph: the counterpart of padded_attention.h.
//
// One thread; lives as long as the graph is being written.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "families/encoder.h"
#include "families/model_graph.h"
#include "families/packed_disentangled.h"
#include "families/packed_operators.h"
#include "families/packed_parameters.h"

namespace weir::families {

class PackedAttention {
 public:
  /// What is passed by reference must outlive it. `has_keys`: the graph takes kKeys.
  PackedAttention(const Encoder& encoder, ModelGraph& model, PackedOperators& operators, PackedParameters& parameters,
                  bool has_keys)
      : encoder_(encoder),
        model_(model),
        operators_(operators),
        parameters_(parameters),
        disentangled_(encoder, model),
        has_keys_(has_keys) {}

  /// Softmax of the scores times the values, before the output layer.
  PackedRows add(const Attention& attention, const PackedRows& input, const std::string& name);

 private:
  std::string query_key_value(const Attention& attention, const PackedRows& input, const std::string& name);
  std::string normalized(const Linear& linear, const std::optional<Norm>& norm, const PackedRows& input,
                         const std::string& name);
  /// Cosines and sines, once for all layers with these frequencies.
  void add_rotary(std::size_t index, PackedOperators::Attention& node);

  const Encoder& encoder_;
  ModelGraph& model_;
  PackedOperators& operators_;
  PackedParameters& parameters_;
  PackedDisentangled disentangled_;
  bool has_keys_;
  std::set<std::size_t> rotary_;  ///< Whose tables are there.
};

}  // namespace weir::families
