#include "importer/onnx_interface.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "families/family.h"

namespace weir::importer {
namespace {

/// An output that weir can make text vectors of.
struct KnownOutput {
  const char* name;
  bundle::Output kind;
  std::size_t rank;
};

constexpr KnownOutput kOutputs[] = {
    {"sentence_embedding", bundle::Output::kTextVectors, 2},
    {"last_hidden_state", bundle::Output::kTokenVectors, 3},
    {"token_embeddings", bundle::Output::kTokenVectors, 3},
};

std::string list(const std::vector<onnx::ValueInfo>& values) {
  std::string text;
  for (const onnx::ValueInfo& value : values) {
    text += (text.empty() ? "" : ", ") + value.name + " (" + (value.type.empty() ? "no tensor" : value.type) + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

const onnx::ValueInfo* find_value(const std::vector<onnx::ValueInfo>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name == name; });
  return found == values.end() ? nullptr : &*found;
}

Status check_inputs(const onnx::Model& model, const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    return Error(ErrorKind::kUnsupported,
                 path + ": " + what + "; found the inputs " + list(model.inputs()) +
                     ", but needed are input_ids, attention_mask and, if the model has them, token_type_ids, all int64 "
                     "[batch, sequence]",
                 path);
  };
  for (const char* name : {families::kInputIds, families::kAttentionMask}) {
    if (find_value(model.inputs(), name) == nullptr) return refuse(std::string("no input '") + name + "'");
  }
  for (const onnx::ValueInfo& input : model.inputs()) {
    const bool known = input.name == families::kInputIds || input.name == families::kAttentionMask ||
                       input.name == families::kTokenTypeIds;
    if (!known) return refuse("input '" + input.name + "' is not one that weir can fill");
    if (input.type != "int64") return refuse("input '" + input.name + "' is " + input.type);
    if (input.has_shape && input.shape.size() != 2) {
      return refuse("input '" + input.name + "' has " + std::to_string(input.shape.size()) + " dimensions");
    }
    if (std::any_of(input.shape.begin(), input.shape.end(), [](std::int64_t size) { return size >= 0; })) {
      return refuse("input '" + input.name + "' has a fixed size; batch and sequence must be free");
    }
  }
  return {};
}

Result<OutputChoice> choose_output(const onnx::Model& model, const std::string& path, bool pools_itself) {
  for (const KnownOutput& choice : kOutputs) {
    const onnx::ValueInfo* output = find_value(model.outputs(), choice.name);
    if (output == nullptr || (choice.kind == bundle::Output::kTextVectors && pools_itself)) continue;
    if (output->type == "float" && (!output->has_shape || output->shape.size() == choice.rank)) {
      return OutputChoice{choice.name, choice.kind};
    }
    return Error(ErrorKind::kUnsupported,
                 path + ": output '" + choice.name + "' is " + output->type + " with " +
                     std::to_string(output->shape.size()) + " dimensions, but float with " +
                     std::to_string(choice.rank) + " is needed",
                 path);
  }
  return Error(ErrorKind::kUnsupported,
               path + ": found the outputs " + list(model.outputs()) +
                   ", but needed is last_hidden_state or token_embeddings (float [batch, sequence, hidden]), or "
                   "sentence_embedding (float [batch, hidden])",
               path);
}

bool has_logits(const onnx::Model& model) { return find_value(model.outputs(), families::kLogits) != nullptr; }

Result<std::string> choose_logits(const onnx::Model& model, const std::string& path, std::size_t rank,
                                  std::uint32_t labels) {
  const onnx::ValueInfo* output = find_value(model.outputs(), families::kLogits);
  if (output == nullptr && model.outputs().size() == 1) output = &model.outputs().front();
  const std::string form =
      std::string("float [batch, ") + (rank == 3 ? "sequence, " : "") + std::to_string(labels) + "]";
  if (output == nullptr) {
    return Error(ErrorKind::kNotFound,
                 path + ": found the outputs " + list(model.outputs()) + ", but needed is logits (" + form + ")", path);
  }
  const bool fits =
      output->type == "float" &&
      (!output->has_shape ||
       (output->shape.size() == rank && (output->shape.back() < 0 || output->shape.back() == std::int64_t{labels})));
  if (fits) return output->name;
  std::string shape;
  for (const std::int64_t size : output->shape) {
    shape += (shape.empty() ? "" : ", ") + (size < 0 ? std::string("?") : std::to_string(size));
  }
  return Error(ErrorKind::kUnsupported,
               path + ": output '" + output->name + "' is " + output->type + " [" + shape +
                   "], but for the task and the " + "labels of config.json " + form + " is needed",
               path);
}

}  // namespace weir::importer
