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
#include "families/activation.h"
#include "onnx/graph_builder.h"

namespace weir::families {

/// Names of the tensors that hold rows: what linear layers read, and the same in fp32 where a residual needs it.
struct PackedRows {
  std::string values;
  std::string narrow;  ///< uint8 or bfloat16; empty in fp32.
  std::string scales;  ///< Of uint8.
};

/// What an operator writes: what linear layers read, fp32 values, or both.
enum class PackedWanted : std::uint8_t { kRows, kValues, kBoth };

/// Names of a norm's tensors.
struct PackedNorm {
  std::string gamma;
  std::string beta;
  float epsilon = 0;
};

enum class PackedPrecision : std::uint8_t { kFp32, kBf16, kInt8 };

/// "fp32", "bf16" or "int8"; kUnsupported names what else.
Result<PackedPrecision> read_packed_precision(const std::string& name);

/// What numbers a packed graph is made of.
struct PackedNumbers {
  PackedPrecision layers = PackedPrecision::kInt8;  ///< Linear layers, and the rows between them.
  std::string attention = "fp32";                   ///< As the attribute "precision" of PackedAttention.
};

/// Of PackedForm; kInvalidArgument or kUnsupported names what else.
Result<PackedNumbers> read_packed_numbers(const std::string& precision, const std::string& attention);

/// As the attribute `activation` of linear layers.
const char* packed_activation_name(Activation activation);

class PackedOperators {
 public:
  PackedOperators(onnx::GraphBuilder& graph, PackedPrecision precision, std::string attention = "fp32")
      : graph_(graph), precision_(precision), attention_precision_(std::move(attention)) {}

  /// An initializer of packed weights [channels][inputs]; `bias` may be empty. Returns its name.
  Result<std::string> weights(const std::string& name, std::span<const float> values, std::span<const float> bias,
                              std::size_t inputs, std::size_t channels);

  /// `inputs` as PackedEmbedding has them.
  PackedRows embedding(const std::string& name, const std::vector<std::string>& inputs,
                       const onnx::Attributes& attributes);

  /// Returns fp32 values, without activation, plus the values `residual` if it is given.
  std::string linear(const std::string& name, const PackedRows& input, const std::string& weights,
                     const std::string& residual = {});

  /// Queries, keys and values side by side, as attention takes them: in bf16 unless the graph is in fp32.
  std::string attention_inputs(const std::string& name, const PackedRows& input, const std::string& weights);

  /// `activation` as the operators name it.
  PackedRows linear(const std::string& name, const PackedRows& input, const std::string& weights,
                    const std::string& activation, PackedWanted wanted);

  struct ResidualNorm {
    std::string weights;
    std::string residual;
    PackedNorm norm;
    PackedWanted wanted = PackedWanted::kBoth;
  };
  PackedRows residual_norm(const std::string& name, const PackedRows& input, const ResidualNorm& step);

  /// Weights of words, of fp32 values.
  void word_weights(const std::string& name, const std::string& values, const std::string& offsets,
                    const std::string& weights);

  struct LayerNorm {
    std::string values;
    std::string residual;  ///< Empty: none.
    PackedNorm norm;
    PackedWanted wanted = PackedWanted::kBoth;
  };
  PackedRows layer_norm(const std::string& name, const LayerNorm& step);

  /// The tokens beside each token, side by side, `width` of them.
  PackedRows neighbors(const std::string& name, const std::string& values, const std::string& offsets,
                       std::uint32_t width);

  /// Inputs of PackedAttention and its attributes; empty names: the family does not have them.
  struct Attention {
    std::string query_key_value;
    std::string offsets;
    std::size_t heads = 1;
    std::size_t head_size = 1;
    float scale = 1;
    std::string relative_bias;
    std::string alibi_slopes;
    std::string rotary_cos;
    std::string rotary_sin;
    std::string window;
    std::string position_keys;
    std::string position_queries;
    std::string position_buckets;
    std::string keys;
  };
  PackedRows attention(const std::string& name, const Attention& node);

 private:
  PackedRows rows(const std::string& name) const;
  std::vector<std::string> outputs(const PackedRows& rows, PackedWanted wanted) const;
  std::string attribute(PackedWanted wanted) const;
  static std::vector<std::string> inputs(const PackedRows& rows, const std::vector<std::string>& more);
  std::string op(const char* end) const;

  onnx::GraphBuilder& graph_;
  PackedPrecision precision_;
  std::string attention_precision_;
};

}  // namespace weir::families
