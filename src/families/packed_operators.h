// Nodes of packed encoders (docs/operators.md) in one precision: which operator, and in which form rows pass from one
// to the next. The writers of families' packed graphs say what follows what; this says how it is called.
//
// One thread; lives as long as the graph is being written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "onnx/graph_builder.h"

namespace weir::families {

/// Names of the tensors that hold rows: what linear layers read, and the same in fp32 where a residual needs it.
struct PackedRows {
  std::string values;
  std::string narrow;  ///< uint8 or bfloat16; empty in fp32.
  std::string scales;  ///< Of uint8.
};

enum class PackedPrecision : std::uint8_t { kFp32, kBf16, kInt8 };

/// "fp32", "bf16" or "int8"; kUnsupported names what else.
Result<PackedPrecision> read_packed_precision(const std::string& name);

class PackedOperators {
 public:
  PackedOperators(onnx::GraphBuilder& graph, PackedPrecision precision) : graph_(graph), precision_(precision) {}

  /// An initializer of packed weights [channels][inputs]; `bias` may be empty. Returns its name.
  Result<std::string> weights(const std::string& name, std::span<const float> values, std::span<const float> bias,
                              std::size_t inputs, std::size_t channels);

  /// `inputs` as PackedEmbedding has them.
  PackedRows embedding(const std::string& name, const std::vector<std::string>& inputs,
                       const onnx::Attributes& attributes);

  /// Returns fp32 values, without activation.
  std::string linear(const std::string& name, const PackedRows& input, const std::string& weights);

  /// `activation` as the operators name it.
  PackedRows linear(const std::string& name, const PackedRows& input, const std::string& weights,
                    const std::string& activation);

  struct ResidualNorm {
    std::string weights;
    std::string residual;
    std::string gamma;
    std::string beta;
    float epsilon = 0;
    bool last = false;  ///< Nothing but pooling follows: fp32 values only.
  };
  PackedRows residual_norm(const std::string& name, const PackedRows& input, const ResidualNorm& step);

  PackedRows attention(const std::string& name, const std::string& query_key_value, const std::string& offsets,
                       std::size_t heads, std::size_t head_size);

 private:
  PackedRows rows(const std::string& name) const;
  std::vector<std::string> outputs(const PackedRows& rows, bool with_values) const;
  static std::vector<std::string> inputs(const PackedRows& rows, const std::vector<std::string>& more);
  std::string op(const char* end) const;

  onnx::GraphBuilder& graph_;
  PackedPrecision precision_;
};

}  // namespace weir::families
