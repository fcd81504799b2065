// One operator as ONNX Runtime wants it: names and types of its inputs and outputs, and a kernel per node. Internal to
// this folder.
//
// A Kernel has
//   static constexpr const char* kName;
//   static constexpr Port kInputs[], kOutputs[];
//   static Result<std::unique_ptr<Kernel>> create(const Node& node);    once per node, when a session is made
//   Status compute(Call& call) const;                                   by any threads at once
#pragma once

#include <iterator>
#include <memory>

#include "ops/call.h"
#include "ops/node.h"
#include "ops/port.h"

namespace weir::ops {

/// What a node's kernel is when ONNX Runtime calls it.
template <class Kernel>
struct NodeKernel {
  std::string place;  ///< For messages.
  std::unique_ptr<Kernel> kernel;

  OrtStatusPtr ComputeV2(OrtKernelContext* context) const {
    return to_ort_status(place, [&]() -> Status {
      Call call(context);
      return kernel->compute(call);
    });
  }
};

template <class Kernel>
class Operator : public Ort::CustomOpBase<Operator<Kernel>, NodeKernel<Kernel>, true> {
 public:
  explicit Operator(std::size_t threads) : threads_(threads) {}

  OrtStatusPtr CreateKernelV2(const OrtApi&, const OrtKernelInfo* info, void** op_kernel) const {
    const Node node(info, threads_);
    std::string place = std::string("weir.") + Kernel::kName;
    return to_ort_status(place, [&]() -> Status {
      place += " '" + node.name() + "'";
      WEIR_ASSIGN_OR_RETURN(auto kernel, Kernel::create(node));
      *op_kernel = new NodeKernel<Kernel>{place, std::move(kernel)};
      return {};
    });
  }

  const char* GetName() const { return Kernel::kName; }
  std::size_t GetInputTypeCount() const { return std::size(Kernel::kInputs); }
  ONNXTensorElementDataType GetInputType(std::size_t index) const { return Kernel::kInputs[index].type; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(std::size_t index) const {
    return characteristic(Kernel::kInputs[index]);
  }
  std::size_t GetOutputTypeCount() const { return std::size(Kernel::kOutputs); }
  ONNXTensorElementDataType GetOutputType(std::size_t index) const { return Kernel::kOutputs[index].type; }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(std::size_t index) const {
    return characteristic(Kernel::kOutputs[index]);
  }

 private:
  static OrtCustomOpInputOutputCharacteristic characteristic(const Port& port) {
    return port.optional ? INPUT_OUTPUT_OPTIONAL : INPUT_OUTPUT_REQUIRED;
  }

  std::size_t threads_;
};

}  // namespace weir::ops
