#include "importer/dense.h"

#include <optional>
#include <utility>

#include "families/weights.h"
#include "huggingface/json_object.h"
#include "torch_file/checkpoint.h"

namespace weir::importer {
namespace {

using families::Activation;
using families::DenseLayer;
using huggingface::JsonObject;

constexpr std::uint32_t kMostChannels = 1u << 17;

/// Names of PyTorch modules; empty: the identity.
Result<std::optional<Activation>> read_activation(const JsonObject& config, const std::string& otherwise) {
  const char* key = "activation_function";
  WEIR_ASSIGN_OR_RETURN(const auto given, config.text(key));
  const std::string name = given.value_or(otherwise);
  const std::string kind = name.substr(name.rfind('.') + 1);
  if (kind == "Identity") return std::optional<Activation>();
  if (kind == "Tanh") return std::optional(Activation::kTanh);
  if (kind == "ReLU") return std::optional(Activation::kRelu);
  if (kind == "GELU") return std::optional(Activation::kGelu);
  if (kind == "SiLU") return std::optional(Activation::kSilu);
  return config.error(key, "'" + name + "' is not supported; weir has Identity, Tanh, ReLU, GELU and SiLU",
                      ErrorKind::kUnsupported);
}

Result<std::uint32_t> read_size(const JsonObject& config, const char* key) {
  WEIR_ASSIGN_OR_RETURN(const auto size, config.count(key, kMostChannels));
  if (!size) return config.error(key, "missing");
  if (*size == 0) return config.error(key, "must not be 0");
  return *size;
}

Status check_names(const JsonObject& config, const std::string& usual) {
  for (const char* key : {"module_input_name", "module_output_name"}) {
    WEIR_RETURN_IF_ERROR(config.expect_text(key, usual));
  }
  return {};
}

class DenseReader {
 public:
  DenseReader(const JsonObject& config, families::Weights& weights) : config_(config), weights_(weights) {}

  Result<DenseLayer> read(const DenseRequest& request, std::uint32_t inputs) {
    WEIR_RETURN_IF_ERROR(check_names(config_, request.on_tokens ? "token_embeddings" : "sentence_embedding"));
    WEIR_ASSIGN_OR_RETURN(layer_.inputs, read_size(config_, "in_features"));
    WEIR_ASSIGN_OR_RETURN(layer_.channels, read_size(config_, "out_features"));
    if (layer_.inputs != inputs) {
      return config_.error("in_features", "is " + std::to_string(layer_.inputs) + ", but what it works on has " +
                                              std::to_string(inputs) + " numbers");
    }
    WEIR_ASSIGN_OR_RETURN(layer_.activation, read_activation(config_, request.on_tokens ? "Identity" : "Tanh"));
    WEIR_ASSIGN_OR_RETURN(const auto has_bias, config_.boolean("bias"));
    WEIR_ASSIGN_OR_RETURN(layer_.weights, weights_.take({"linear.weight"}, {layer_.channels, layer_.inputs}));
    layer_.bias.assign(layer_.channels, 0.0F);
    if (has_bias.value_or(true)) {
      WEIR_ASSIGN_OR_RETURN(layer_.bias, weights_.take({"linear.bias"}, {layer_.channels}));
    }
    WEIR_RETURN_IF_ERROR(add_residual());
    return std::move(layer_);
  }

 private:
  /// W x + x is (W + 1) x, and W x + R x is (W + R) x.
  Status add_residual() {
    const char* key = "use_residual";
    WEIR_ASSIGN_OR_RETURN(const auto is_residual, config_.boolean(key));
    if (!is_residual.value_or(false)) return {};
    if (layer_.activation) {
      return config_.error(key, "true is not supported with an activation_function", ErrorKind::kUnsupported);
    }
    if (layer_.inputs == layer_.channels) {
      for (std::size_t i = 0; i < layer_.channels; ++i) layer_.weights[i * layer_.inputs + i] += 1;
      return {};
    }
    WEIR_ASSIGN_OR_RETURN(const auto residual, weights_.take({"residual.weight"}, {layer_.channels, layer_.inputs}));
    for (std::size_t i = 0; i < residual.size(); ++i) layer_.weights[i] += residual[i];
    return {};
  }

  const JsonObject& config_;
  families::Weights& weights_;
  DenseLayer layer_;
};

}  // namespace

Result<std::vector<DenseLayer>> read_dense(const DenseRequest& request, std::vector<std::string>& files) {
  std::vector<DenseLayer> layers;
  for (const std::string& path : request.paths) {
    const std::string folder = path.empty() ? request.root : request.root + "/" + path;
    WEIR_ASSIGN_OR_RETURN(const JsonObject config, JsonObject::read(folder + "/config.json"));
    WEIR_ASSIGN_OR_RETURN(const auto checkpoint, torch_file::open_checkpoint(folder));
    families::Weights weights(checkpoint);
    const std::uint32_t inputs = layers.empty() ? request.inputs : layers.back().channels;
    WEIR_ASSIGN_OR_RETURN(DenseLayer layer, DenseReader(config, weights).read(request, inputs));
    if (const auto left = weights.left_over(); !left.empty()) {
      return Error(ErrorKind::kCorrupt,
                   folder + ": tensor '" + left.front() + "' does not belong to what its config.json describes",
                   folder);
    }
    layers.push_back(std::move(layer));
    files.push_back(config.file());
    for (const std::string& name : checkpoint.files()) files.push_back(folder + "/" + name);
  }
  return layers;
}

Result<DenseLayer> read_stanford_linear(const safetensors::Checkpoint& checkpoint, std::uint32_t inputs) {
  const char* name = "linear.weight";
  DenseLayer layer;
  layer.inputs = inputs;
  const safetensors::Tensor* tensor = checkpoint.find(name);
  const bool has_rows = tensor != nullptr && !tensor->shape.empty() && tensor->shape.front() <= kMostChannels;
  layer.channels = has_rows ? static_cast<std::uint32_t>(tensor->shape.front()) : 1;
  WEIR_ASSIGN_OR_RETURN(layer.weights, families::Weights(checkpoint).take({name}, {layer.channels, inputs}));
  layer.bias.assign(layer.channels, 0.0F);
  return layer;
}

}  // namespace weir::importer
