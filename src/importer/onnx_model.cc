#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "families/family.h"
#include "huggingface/json_object.h"
#include "importer/conversion.h"
#include "importer/onnx_interface.h"
#include "importer/task.h"
#include "onnx/model.h"

namespace weir::importer {
namespace {

constexpr std::uint32_t kMaxVocabulary = 1u << 24;

/// config.json, if it is there.
Result<std::optional<huggingface::JsonObject>> read_config(const std::vector<std::string>& folders,
                                                           const std::string& transformer_path) {
  const std::string name = transformer_path.empty() ? "config.json" : transformer_path + "/config.json";
  const auto path = huggingface::find_file(folders, name);
  if (!path) return std::optional<huggingface::JsonObject>();
  WEIR_ASSIGN_OR_RETURN(auto config, huggingface::JsonObject::read(*path));
  return std::optional(std::move(config));
}

Status apply_config(const huggingface::JsonObject& config, bundle::Manifest& manifest) {
  WEIR_ASSIGN_OR_RETURN(const auto vocabulary, config.count("vocab_size", kMaxVocabulary));
  WEIR_ASSIGN_OR_RETURN(const auto pad, config.count("pad_token_id", kMaxVocabulary));
  manifest.vocabulary_size = vocabulary.value_or(0);
  manifest.pad_token_id = pad.value_or(0);
  return {};
}

/// What the files say beside the graph.
struct Plan {
  huggingface::Layout layout;
  std::optional<huggingface::JsonObject> config;
  ModelTask task;
};

/// A graph without logits is an embedding model, unless --task says otherwise: checkpoints of classifiers are exported
/// without their heads, too.
Result<Plan> make_plan(const ConversionRequest& request, const onnx::Model& model) {
  const Source& source = *request.source;
  Plan plan;
  huggingface::Overrides overrides = request.overrides;
  overrides.normalize = false;
  WEIR_ASSIGN_OR_RETURN(plan.layout, huggingface::read_layout({source.folders, overrides, false}));
  if (plan.layout.late_interaction) {
    return Error(ErrorKind::kUnsupported,
                 source.onnx_path + ": ONNX graphs are not taken of ColBERT models; import the checkpoint",
                 source.onnx_path);
  }
  WEIR_ASSIGN_OR_RETURN(plan.config, read_config(source.folders, plan.layout.transformer_path));
  const auto& ordered = request.overrides.task;
  const bool has_head = ordered ? *ordered != bundle::Task::kEmbedding : has_logits(model);
  if (!has_head) return plan;
  if (!plan.config) {
    return Error(ErrorKind::kNotFound,
                 source.folders.front() + "/config.json: missing; it says what the numbers of " + source.onnx_path +
                     " mean (id2label)",
                 source.folders.front());
  }
  WEIR_ASSIGN_OR_RETURN(plan.task, read_task(*plan.config, plan.layout, request.overrides, source.folders));
  if (plan.task.task == bundle::Task::kSparse) {
    return Error(ErrorKind::kUnsupported,
                 source.onnx_path + ": ONNX graphs are not taken for the task sparse; import the checkpoint",
                 source.onnx_path);
  }
  return plan;
}

/// An embedding model's output and pooling, or a head's numbers.
Status describe_output(const ConversionRequest& request, const onnx::Model& model, Plan& plan,
                       bundle::Manifest& manifest) {
  const std::string& path = request.source->onnx_path;
  manifest.task = plan.task.task;
  if (plan.task.task != bundle::Task::kEmbedding) {
    const bool per_token = plan.task.task == bundle::Task::kTokenClassify;
    WEIR_ASSIGN_OR_RETURN(manifest.output_name, choose_logits(model, path, per_token ? 3 : 2, plan.task.head.labels));
    manifest.output = per_token ? bundle::Output::kTokenVectors : bundle::Output::kTextVectors;
    manifest.dimensions = plan.task.head.labels;
    manifest.labels = plan.task.labels;
    manifest.score_function = plan.task.score_function;
    return {};
  }
  WEIR_ASSIGN_OR_RETURN(const OutputChoice output, choose_output(model, path, request.overrides.pooling.has_value()));
  const bool needs_pooling = output.kind == bundle::Output::kTokenVectors;
  if (needs_pooling && !plan.layout.dense_paths.empty()) {
    return Error(ErrorKind::kUnsupported,
                 path +
                     ": gives vectors of tokens, and modules.json has a Dense behind their pooling; import the "
                     "checkpoint",
                 path);
  }
  WEIR_ASSIGN_OR_RETURN(plan.layout,
                        huggingface::read_layout({request.source->folders, request.overrides, needs_pooling}));
  manifest.output = output.kind;
  manifest.output_name = output.name;
  return {};
}

}  // namespace

Result<Conversion> convert_onnx(const ConversionRequest& request) {
  const Source& source = *request.source;
  Conversion conversion;
  WEIR_ASSIGN_OR_RETURN(onnx::Model model, onnx::Model::read(source.onnx_path));
  WEIR_RETURN_IF_ERROR(check_inputs(model, source.onnx_path));
  WEIR_ASSIGN_OR_RETURN(Plan plan, make_plan(request, model));
  bundle::Manifest& manifest = conversion.manifest;
  WEIR_RETURN_IF_ERROR(describe_output(request, model, plan, manifest));
  const huggingface::Layout& layout = plan.layout;
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

  apply_layout(layout, manifest);
  if (plan.config) WEIR_RETURN_IF_ERROR(apply_config(*plan.config, manifest));
  manifest.family = "onnx";
  manifest.has_token_type_ids = find_value(model.inputs(), families::kTokenTypeIds) != nullptr;
  const bool is_embedding = manifest.task == bundle::Task::kEmbedding;
  manifest.lineage.steps = {"import: onnx, as it is" +
                            (is_embedding ? "" : ", " + std::string(bundle::task_name(manifest.task)))};
  return conversion;
}

}  // namespace weir::importer
