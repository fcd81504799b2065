// Linear layers (kernels/matmul_q8, matmul_bf16, matmul_f32), with what follows them up to the next layer's input.
//
//   LinearX              input, weights, residual [tokens, channels] (optional)
//                        → rows (rows.h) of activation(input * weights + bias) + residual
//   LinearXResidualNorm  input, weights, residual [tokens, channels], gamma, beta [channels]
//                        → values and rows of layer_norm(input * weights + bias + residual)
//
// A gated activation has two halves of channels: activation(first) * second, half as many, and no residual.
//
// X and `input`: F32, values; Bf16, rows bfloat16; Q8, rows uint8 and scales. `weights` is an initializer that
// packed_weights/linear.h describes.
#pragma once

#include <memory>

#include "kernels/matmul_bf16/matmul_bf16.h"
#include "kernels/matmul_f32/matmul_f32.h"
#include "kernels/matmul_q8/matmul_q8.h"
#include "ops/operator.h"
#include "ops/rows.h"

namespace weir::ops {

// What an operator of each precision is called, takes and computes with. A format F has
//   using Args, Weights;
//   static constexpr const char *kLinear, *kResidualNorm;     the operators' names
//   static constexpr std::array kInputs;                      the ports of `input` and `weights`
//   static Result<Weights> view(std::span<const std::byte>);
//   static const kernels::MatmulVariant<Args>& choose(cpu::Features);
//   static Result<Args> read(const Call&, const Weights&);    `input`, checked

struct FormatF32 {
  using Args = kernels::MatmulF32;
  using Weights = kernels::PackedWeightsF32;
  static constexpr const char* kLinear = "LinearF32";
  static constexpr const char* kResidualNorm = "LinearF32ResidualNorm";
  static constexpr std::array kInputs = {kFloatPort, kWeightsPort};
  static Result<Weights> view(std::span<const std::byte> bytes);
  static const kernels::MatmulF32Variant& choose(cpu::Features features);
  static Result<Args> read(const Call& call, const Weights& weights);
};

struct FormatBf16 {
  using Args = kernels::MatmulBf16;
  using Weights = kernels::PackedWeightsBf16;
  static constexpr const char* kLinear = "LinearBf16";
  static constexpr const char* kResidualNorm = "LinearBf16ResidualNorm";
  static constexpr std::array kInputs = {kBf16Port, kWeightsPort};
  static Result<Weights> view(std::span<const std::byte> bytes);
  static const kernels::MatmulBf16Variant& choose(cpu::Features features);
  static Result<Args> read(const Call& call, const Weights& weights);
};

struct FormatQ8 {
  using Args = kernels::MatmulQ8;
  using Weights = kernels::PackedWeightsQ8;
  static constexpr const char* kLinear = "LinearQ8";
  static constexpr const char* kResidualNorm = "LinearQ8ResidualNorm";
  static constexpr std::array kInputs = {kBytesPort, kFloatPort, kWeightsPort};
  static Result<Weights> view(std::span<const std::byte> bytes);
  static const kernels::MatmulQ8Variant& choose(cpu::Features features);
  static Result<Args> read(const Call& call, const Weights& weights);
};

/// What both operators of a format hold.
template <class Format>
struct LinearLayer {
  typename Format::Weights weights;
  const kernels::MatmulVariant<typename Format::Args>* variant = nullptr;
  RowsFormat rows = RowsFormat::kFp32;
  std::size_t threads = 1;

  static Result<LinearLayer> create(const Node& node);
  Status run(const Call& call, const typename Format::Args& args) const;
};

/// The inputs of LinearX: those of its format, then the residual.
template <std::size_t count>
constexpr std::array<Port, count + 1> with_residual(const std::array<Port, count>& inputs) {
  std::array<Port, count + 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i < count ? inputs[i] : optional(kFloatPort);
  return all;
}

template <class Format>
class Linear {
 public:
  static constexpr const char* kName = Format::kLinear;
  static constexpr auto kInputs = with_residual(Format::kInputs);
  static constexpr auto& kOutputs = kRowsPorts;

  static Result<std::unique_ptr<Linear>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  LinearLayer<Format> layer_;
  kernels::Activation activation_ = kernels::Activation::kNone;
  bool gated_ = false;
};

/// The inputs of LinearXResidualNorm behind those of LinearX.
template <std::size_t count>
constexpr std::array<Port, count + 3> with_residual_norm(const std::array<Port, count>& inputs) {
  std::array<Port, count + 3> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i < count ? inputs[i] : kFloatPort;
  return all;
}

template <class Format>
class LinearResidualNorm {
 public:
  static constexpr const char* kName = Format::kResidualNorm;
  static constexpr auto kInputs = with_residual_norm(Format::kInputs);
  static constexpr auto& kOutputs = kRowsPorts;

  static Result<std::unique_ptr<LinearResidualNorm>> create(const Node& node);
  Status compute(Call& call) const;

 private:
  LinearLayer<Format> layer_;
  float epsilon_ = 0;
};

}  // namespace weir::ops
