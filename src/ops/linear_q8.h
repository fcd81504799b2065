// Linear layers in 8 bits (kernels/matmul_q8), with what follows them up to the next layer's input.
//
//   LinearQ8              rows u8 [tokens, stride], scales [tokens], weights → out [tokens, channels]
//                                                                     or   rows u8, scales
//   LinearQ8ResidualNorm  rows, scales, residual [tokens, channels], weights, gamma, beta
//                         → out = layer_norm(linear + residual), and rows u8, scales of it if `quantize`
//
// `weights` is an initializer: packed_weights/linear_q8.h.
#pragma once

#include <memory>

#include "kernels/matmul_q8/matmul_q8.h"
#include "ops/operator.h"

namespace weir::ops {

class LinearQ8 {
 public:
  static constexpr const char* kName = "LinearQ8";
  static constexpr Port kInputs[] = {kBytesPort, kFloatPort, kWeightsPort};
  static constexpr Port kOutputs[] = {optional(kFloatPort), optional(kBytesPort), optional(kFloatPort)};

  static Result<std::unique_ptr<LinearQ8>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  kernels::PackedWeightsQ8 weights_;
  kernels::Activation activation_ = kernels::Activation::kNone;
  bool quantize_ = false;
  const kernels::MatmulQ8Variant* variant_ = nullptr;
  std::size_t threads_ = 1;
};

class LinearQ8ResidualNorm {
 public:
  static constexpr const char* kName = "LinearQ8ResidualNorm";
  static constexpr Port kInputs[] = {kBytesPort, kFloatPort, kFloatPort, kWeightsPort, kFloatPort, kFloatPort};
  static constexpr Port kOutputs[] = {kFloatPort, optional(kBytesPort), optional(kFloatPort)};

  static Result<std::unique_ptr<LinearQ8ResidualNorm>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  kernels::PackedWeightsQ8 weights_;
  float epsilon_ = 0;
  bool quantize_ = false;
  const kernels::MatmulQ8Variant* variant_ = nullptr;
  std::size_t threads_ = 1;
};

}  // namespace weir::ops
