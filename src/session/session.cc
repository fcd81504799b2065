#include "session/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <onnxruntime_run_options_config_keys.h>
#include <onnxruntime_session_options_config_keys.h>

#include "ops/domain.h"
#include "session/runtime.h"
#include "session/shared_weights.h"

namespace weir::session {

struct Tensor::Impl {
  Ort::Value value;
};

Tensor::Tensor() = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;

struct Session::Impl {
  std::string path;
  std::optional<Ort::Session> session;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  Ort::RunOptions plain;
  Ort::RunOptions shrinking;
};

namespace {

std::string type_name(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return "float";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return "float16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return "bfloat16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return "double";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return "int64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return "int32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return "int8";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return "uint8";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return "bool";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
      return "string";
    default:
      return "type " + std::to_string(static_cast<int>(type));
  }
}

TensorInfo tensor_info(std::string name, const Ort::TypeInfo& type) {
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return {std::move(name), "not a tensor", {}};
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  return {std::move(name), type_name(tensor.GetElementType()), tensor.GetShape()};
}

void describe(const Ort::Session& session, std::vector<TensorInfo>& inputs, std::vector<TensorInfo>& outputs) {
  Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    inputs.push_back(tensor_info(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  }
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    outputs.push_back(tensor_info(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
  }
}

/// One processor per intra-op thread but the caller's, counted from 1: "2;3".
std::string thread_affinities(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 1; i < cpus.size(); ++i) {
    if (!text.empty()) text += ';';
    text += std::to_string(cpus[i] + 1);
  }
  return text;
}

Status check(const Options& options) {
  if (options.intra_op_threads < 1) {
    return Error(ErrorKind::kInvalidArgument,
                 "intra_op_threads is " + std::to_string(options.intra_op_threads) + "; it must be at least 1",
                 "intra_op_threads");
  }
  if (!options.cpus.empty() && options.cpus.size() != static_cast<std::size_t>(options.intra_op_threads)) {
    return Error(ErrorKind::kInvalidArgument,
                 std::to_string(options.cpus.size()) + " CPUs for " + std::to_string(options.intra_op_threads) +
                     " threads; pinning needs one each",
                 "cpus");
  }
  return {};
}

Ort::SessionOptions session_options(const Options& options) {
  Ort::SessionOptions made;
  made.Add(ops::domain(options.intra_op_threads));
  made.SetGraphOptimizationLevel(ORT_ENABLE_ALL);
  made.SetExecutionMode(options.parallel_execution ? ORT_PARALLEL : ORT_SEQUENTIAL);
  made.SetIntraOpNumThreads(options.intra_op_threads);
  if (!options.memory_pattern) made.DisableMemPattern();
  if (options.arena == Arena::kNone) made.DisableCpuMemArena();
  if (options.arena == Arena::kProcess) made.AddConfigEntry(kOrtSessionOptionsConfigUseEnvAllocators, "1");
  const char* spinning = options.spinning == Spinning::kNever ? "0" : "1";
  made.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, spinning);
  made.AddConfigEntry(kOrtSessionOptionsConfigAllowInterOpSpinning, spinning);
  if (options.spinning == Spinning::kDuringRuns) made.AddConfigEntry(kOrtSessionOptionsConfigForceSpinningStop, "1");
  const std::string affinities = thread_affinities(options.cpus);
  if (!affinities.empty()) made.AddConfigEntry(kOrtSessionOptionsConfigIntraOpThreadAffinities, affinities.c_str());
  return made;
}

/// The batch's values by the graph's input names; empty where it has none.
std::span<const std::int64_t> values_of(const Batch& batch, const std::string& input) {
  if (input == "input_ids") return batch.input_ids;
  if (input == "attention_mask") return batch.attention_mask;
  if (input == "token_type_ids") return batch.token_type_ids;
  if (input == "offsets") return batch.offsets;
  if (input == "keys") return batch.keys;
  return {};
}

/// The shape of an input; empty when the batch does not have as many values.
std::vector<std::int64_t> shape_of(const Batch& batch, const std::string& input) {
  const auto size = static_cast<std::int64_t>(values_of(batch, input).size());
  const auto rows = static_cast<std::int64_t>(batch.rows);
  const auto columns = static_cast<std::int64_t>(batch.columns);
  if (batch.offsets.empty() && size == rows * columns) return {rows, columns};
  const std::int64_t wanted = input == "offsets" ? rows + 1
                              : input == "keys"  ? rows
                                                 : static_cast<std::int64_t>(batch.input_ids.size());
  if (!batch.offsets.empty() && size == wanted) return {size};
  return {};
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::load(const std::string& model_path, const Options& options,
                                               SharedWeights* shared) {
  WEIR_RETURN_IF_ERROR(check(options));
  WEIR_ASSIGN_OR_RETURN(Ort::Env * env, environment());
  return catching(model_path, [&]() -> Result<std::unique_ptr<Session>> {
    if (options.arena == Arena::kProcess) make_process_arena(*env, options.arena_limit_bytes);
    Ort::SessionOptions session_settings = session_options(options);
    auto impl = std::make_unique<Impl>();
    impl->path = model_path;
    impl->shrinking.AddConfigEntry(kOrtRunOptionsConfigEnableMemoryArenaShrinkage, "cpu:0");
    if (shared == nullptr) {
      impl->session.emplace(*env, model_path.c_str(), session_settings);
    } else {
      auto& weights = *shared->impl_;
      const std::lock_guard lock(weights.mutex);
      WEIR_RETURN_IF_ERROR(weights.prepare(model_path));
      for (std::size_t i = 0; i < weights.names.size(); ++i) {
        session_settings.AddInitializer(weights.names[i].c_str(), weights.values[i]);
      }
      impl->session.emplace(*env, model_path.c_str(), session_settings, weights.packed);
      weights.release_pages();
    }
    describe(*impl->session, impl->inputs, impl->outputs);
    return std::unique_ptr<Session>(new Session(std::move(impl)));
  });
}

const std::vector<TensorInfo>& Session::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& Session::outputs() const { return impl_->outputs; }

Result<Tensor> Session::run(const Batch& batch, const std::string& output_name, bool shrink) {
  WEIR_ASSIGN_OR_RETURN(auto tensors, run(batch, std::span(&output_name, 1), shrink));
  return std::move(tensors.front());
}

Result<std::vector<Tensor>> Session::run(const Batch& batch, std::span<const std::string> output_names, bool shrink) {
  std::vector<const char*> wanted;
  for (const std::string& name : output_names) {
    const auto output = std::find_if(impl_->outputs.begin(), impl_->outputs.end(),
                                     [&](const TensorInfo& info) { return info.name == name; });
    if (output == impl_->outputs.end() || output->type != "float") {
      return Error(ErrorKind::kInvalidArgument, impl_->path + ": has no float output '" + name + "'", name);
    }
    wanted.push_back(name.c_str());
  }
  return catching(impl_->path, [&]() -> Result<std::vector<Tensor>> {
    std::vector<const char*> names;
    std::vector<Ort::Value> values;
    for (const auto& input : impl_->inputs) {
      const auto span = values_of(batch, input.name);
      const std::vector<std::int64_t> shape = shape_of(batch, input.name);
      if (input.type != "int64" || shape.empty()) {
        return Error(ErrorKind::kInvalidArgument,
                     impl_->path + ": input '" + input.name + "' (" + input.type + ") is not in the batch", input.name);
      }
      names.push_back(input.name.c_str());
      // ONNX Runtime takes a pointer to what it only reads.
      values.push_back(Ort::Value::CreateTensor<std::int64_t>(impl_->memory, const_cast<std::int64_t*>(span.data()),
                                                              span.size(), shape.data(), shape.size()));
    }
    auto results = impl_->session->Run(shrink ? impl_->shrinking : impl_->plain, names.data(), values.data(),
                                       values.size(), wanted.data(), wanted.size());
    std::vector<Tensor> tensors(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto info = results[i].GetTensorTypeAndShapeInfo();
      tensors[i].shape_ = info.GetShape();
      tensors[i].values_ = {results[i].GetTensorData<float>(), info.GetElementCount()};
      tensors[i].impl_ = std::make_unique<Tensor::Impl>(Tensor::Impl{std::move(results[i])});
    }
    return tensors;
  });
}

}  // namespace weir::session
