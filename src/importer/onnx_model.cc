#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "families/family.h"
#include "huggingface/json_object.h"
#include "importer/conversion.h"
#include "importer/onnx_interface.h"
#include "onnx/model.h"

namespace weir::importer {
namespace {

constexpr std::uint32_t kMaxVocabulary = 1u << 24;

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
  WEIR_ASSIGN_OR_RETURN(const OutputChoice output,
                        choose_output(model, source.onnx_path, request.overrides.pooling.has_value()));
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
  manifest.has_token_type_ids = find_value(model.inputs(), families::kTokenTypeIds) != nullptr;
  manifest.output = output.kind;
  manifest.output_name = output.name;
  manifest.lineage.steps = {"import: onnx, as it is"};
  return conversion;
}

}  // namespace weir::importer
