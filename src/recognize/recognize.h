// Finds the BERT-family encoder that an ONNX graph computes, by its structure: names of nodes and weights do not
// matter, nor which of many nodes a layer norm, a GELU, a mask or a quantized product is made of.
//
//   graph (onnx) → evaluate: with sample inputs, shapes and masks become numbers, the rest gets a meaning
//                → read_encoder: from the output's meaning back to the embeddings
//                → write_checkpoint: as families take it
//
// That it computes the same is for the caller to verify: what is found here is what the graph says, not what it does in
// every case. One thread. Graphs are foreign bytes: nothing crashes, and work is bounded by the file's size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "onnx/model.h"
#include "recognize/encoder.h"

namespace weir::recognize {

/// How a graph in 8 bits rounds its activations.
enum class Rounding {
  kNone,     ///< The graph is not in 8 bits.
  kDynamic,  ///< By the numbers of each batch (MatMulInteger and its kin).
  kStatic,   ///< By scales found beforehand, with operators on 8-bit numbers (QLinearMatMul).
  kPairs,    ///< So, with QuantizeLinear and DequantizeLinear around operators in floating point; or weights alone.
};

/// An encoder with the graph that its weights are read from.
struct Recognized {
  Encoder encoder;
  bool is_half = false;  ///< The graph has 16-bit numbers.
  Rounding rounding = Rounding::kNone;
  std::shared_ptr<const onnx::Graph> graph;
};

/// `model` must outlive the result, its weights where they are. kUnsupported names the node that stopped the match.
Result<Recognized> recognize(const onnx::Model& model, const std::string& output);

}  // namespace weir::recognize
