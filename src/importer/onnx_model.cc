#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "families/family.h"
#include "huggingface/json_object.h"
#include "importer/conversion.h"
#include "onnx/model.h"

namespace weir::importer {
namespace {

constexpr std::uint32_t kMaxVocabulary = 1u << 24;

/// An output that weir can make text vectors of.
struct OutputChoice {
  const char* name;
  bundle::Output kind;
  std::size_t rank;
};

constexpr OutputChoice kOutputs[] = {
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

const onnx::ValueInfo* find(const std::vector<onnx::ValueInfo>& values, std::string_view name) {
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
    if (find(model.inputs(), name) == nullptr) return refuse(std::string("no input '") + name + "'");
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

/// What the graph has pooled itself is taken unless the user asks for a pooling of ours.
Result<OutputChoice> choose_output(const onnx::Model& model, const ConversionRequest& request) {
  const std::string& path = request.source->onnx_path;
  for (const OutputChoice& choice : kOutputs) {
    const onnx::ValueInfo* output = find(model.outputs(), choice.name);
    if (output == nullptr || (choice.kind == bundle::Output::kTextVectors && request.overrides.pooling)) continue;
    if (output->type == "float" && (!output->has_shape || output->shape.size() == choice.rank)) return choice;
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

Status read_config(const std::vector<std::string>& folders, const std::string& transformer_path,
                   bundle::Manifest& manifest) {
  const std::string name = transformer_path.empty() ? "config.json" : transformer_path + "/config.json";
  const auto path = huggingface::find_file(folders, name);
  if (!path) return {};
  WEIR_ASSIGN_OR_RETURN(const auto config, huggingface::JsonObject::read(*path));
  WEIR_ASSIGN_OR_RETURN(const auto vocabulary, config.count("vocab_size", kMaxVocabulary));
  WEIR_ASSIGN_OR_RETURN(const auto pad, config.count("pad_token_id", kMaxVocabulary));
  manifest.vocabulary_size = vocabulary.value_or(0);
  manifest.pad_token_id = pad.value_or(0);
  return {};
}

}  // namespace

Result<Conversion> convert_onnx(const ConversionRequest& request) {
  const Source& source = *request.source;
  Conversion conversion;
  WEIR_ASSIGN_OR_RETURN(onnx::Model model, onnx::Model::read(source.onnx_path));
  WEIR_RETURN_IF_ERROR(check_inputs(model, source.onnx_path));
  WEIR_ASSIGN_OR_RETURN(const OutputChoice output, choose_output(model, request));
  const bool needs_pooling = output.kind == bundle::Output::kTokenVectors;
  WEIR_ASSIGN_OR_RETURN(const huggingface::Layout layout,
                        huggingface::read_layout({source.folders, request.overrides, needs_pooling}));
  WEIR_ASSIGN_OR_RETURN(conversion.tokenizer_path, find_tokenizer(source.folders, layout.transformer_path));
  WEIR_ASSIGN_OR_RETURN(const auto external_files, model.external_files());
  conversion.files = layout.files;
  conversion.files.push_back(source.onnx_path);
  for (const std::string& file : external_files) conversion.files.push_back(source.folders.front() + "/" + file);

  WEIR_ASSIGN_OR_RETURN(onnx::WeightsFile weights,
                        onnx::WeightsFile::create(request.folder + "/model.weights", request.cancelled));
  WEIR_RETURN_IF_ERROR(model.move_weights(weights));
  std::error_code code;
  const bool is_empty = weights.size() == 0;
  WEIR_RETURN_IF_ERROR(weights.finish());
  if (is_empty) std::filesystem::remove(request.folder + "/model.weights", code);
  WEIR_RETURN_IF_ERROR(model.save(request.folder + "/model.onnx"));

  bundle::Manifest& manifest = conversion.manifest;
  apply_layout(layout, manifest);
  WEIR_RETURN_IF_ERROR(read_config(source.folders, layout.transformer_path, manifest));
  manifest.family = "onnx";
  manifest.has_token_type_ids = find(model.inputs(), families::kTokenTypeIds) != nullptr;
  manifest.output = output.kind;
  manifest.output_name = output.name;
  manifest.lineage.steps = {"import: onnx, as it is"};
  return conversion;
}

}  // namespace weir::importer
