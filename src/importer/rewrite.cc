#include "importer/rewrite.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "huggingface/json_object.h"
#include "recognize/checkpoint.h"

namespace weir::importer {
namespace {

constexpr std::uint32_t kMaxVocabulary = 1u << 24;

/// What config.json says; without one, RoBERTa and its kin, which count positions from after it, show it.
Result<std::uint32_t> pad_token(const recognize::Encoder& encoder, const std::vector<std::string>& folders) {
  if (const auto path = huggingface::find_file(folders, "config.json")) {
    WEIR_ASSIGN_OR_RETURN(const auto config, huggingface::JsonObject::read(*path));
    WEIR_ASSIGN_OR_RETURN(const auto pad, config.count("pad_token_id", kMaxVocabulary));
    if (pad && static_cast<std::int64_t>(*pad) < encoder.vocabulary_size()) return *pad;
  }
  const std::int64_t before_first = encoder.first_position - 1;
  const bool is_id = before_first > 0 && before_first < encoder.vocabulary_size();
  return is_id ? static_cast<std::uint32_t>(before_first) : 0;
}

std::string describe(const recognize::Encoder& encoder) {
  return std::to_string(encoder.layers.size()) + " layers of " + std::to_string(encoder.hidden_size) + ", " +
         std::to_string(encoder.heads) + " heads, " + encoder.activation;
}

huggingface::Overrides with_graph_pooling(huggingface::Overrides overrides, const recognize::Encoder& encoder) {
  using recognize::GraphPooling;
  if (encoder.pooling == GraphPooling::kMean) overrides.pooling = bundle::Pooling::kMean;
  if (encoder.pooling == GraphPooling::kCls) overrides.pooling = bundle::Pooling::kCls;
  if (encoder.normalizes) overrides.normalize = true;
  return overrides;
}

Source checkpoint_source(const Source& onnx, const std::string& folder) {
  Source source = onnx;
  source.kind = Source::Kind::kCheckpoint;
  source.checkpoint_folder = folder;
  source.folders.insert(source.folders.begin(), folder);
  return source;
}

}  // namespace

Result<Recognition> recognize_onnx(const ConversionRequest& request) {
  const Source& onnx = *request.source;
  WEIR_ASSIGN_OR_RETURN(const onnx::Model model, onnx::Model::read(onnx.onnx_path));
  WEIR_RETURN_IF_ERROR(check_inputs(model, onnx.onnx_path));
  const auto& task = request.overrides.task;
  if (task ? *task != bundle::Task::kEmbedding : has_logits(model)) {
    return Error(ErrorKind::kUnsupported, "heads of labels are not recognized in ONNX graphs, only embedding models");
  }
  Recognition result;
  WEIR_ASSIGN_OR_RETURN(result.output, choose_output(model, onnx.onnx_path, request.overrides.pooling.has_value()));
  WEIR_ASSIGN_OR_RETURN(const auto recognized, recognize::recognize(model, result.output.name));
  const recognize::Encoder& encoder = recognized.encoder;
  const bool pools = encoder.pooling != recognize::GraphPooling::kNone;
  if (pools != (result.output.kind == bundle::Output::kTextVectors)) {
    return Error(ErrorKind::kUnsupported,
                 "output '" + std::string(result.output.name) + "' holds rows of another kind than its name says");
  }
  result.vocabulary_size = static_cast<std::uint32_t>(encoder.vocabulary_size());
  result.max_positions = static_cast<std::uint32_t>(encoder.max_positions());
  WEIR_ASSIGN_OR_RETURN(result.pad_token_id, pad_token(encoder, onnx.folders));
  const std::string folder = request.folder + "/recognized";
  std::error_code code;
  std::filesystem::create_directory(folder, code);
  WEIR_RETURN_IF_ERROR(recognize::write_checkpoint(encoder, result.pad_token_id, folder, request.cancelled));
  result.source = checkpoint_source(onnx, folder);
  result.overrides = with_graph_pooling(request.overrides, encoder);
  WEIR_ASSIGN_OR_RETURN(const auto external_files, model.external_files());
  result.files.push_back(onnx.onnx_path);
  for (const std::string& file : external_files) result.files.push_back(onnx.folders.front() + "/" + file);
  result.is_half = recognized.is_half;
  result.rounding = recognized.rounding;
  result.description = describe(encoder);
  return result;
}

}  // namespace weir::importer
