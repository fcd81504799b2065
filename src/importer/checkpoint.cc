#include "safetensors/checkpoint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "families/family.h"
#include "importer/conversion.h"
#include "importer/task.h"
#include "onnx/graph_builder.h"
#include "torch_file/checkpoint.h"

namespace weir::importer {
namespace {

/// The names of a packed graph's outputs are its own.
Result<families::PackedOutputs> write_graph(const families::Architecture& architecture,
                                            const safetensors::Checkpoint& checkpoint, const ConversionRequest& request,
                                            const bundle::Manifest& manifest, const families::HeadForm& head) {
  WEIR_ASSIGN_OR_RETURN(onnx::WeightsFile file,
                        onnx::WeightsFile::create(request.folder + "/model.weights", request.cancelled));
  families::Weights weights(checkpoint);
  onnx::GraphBuilder graph(architecture.facts().family, &file);
  families::PackedOutputs outputs;
  if (request.packed) {
    const families::PackedForm form{request.precision, std::string(bundle::pooling_name(manifest.pooling)), head,
                                    request.attention};
    WEIR_ASSIGN_OR_RETURN(outputs, architecture.build_packed(weights, graph, form));
  } else {
    WEIR_RETURN_IF_ERROR(architecture.build(weights, graph, head));
  }
  WEIR_RETURN_IF_ERROR(file.finish());
  WEIR_RETURN_IF_ERROR(graph.save(request.folder + "/model.onnx"));
  return outputs;
}

Status check_dimensions(const huggingface::Layout& layout, const families::Facts& facts) {
  if (!layout.pooling_dimensions || *layout.pooling_dimensions == facts.hidden_size) return {};
  return Error(ErrorKind::kCorrupt,
               "the Pooling module's embedding dimension is " + std::to_string(*layout.pooling_dimensions) +
                   ", but config.json's hidden_size is " + std::to_string(facts.hidden_size),
               "config.json");
}

/// A tokenizer that does not list token_type_ids among what it gives leaves them all 0.
Status apply_tokenizer_settings(const std::vector<std::string>& folders, families::Architecture& architecture) {
  const auto path = huggingface::find_file(folders, "tokenizer_config.json");
  if (!path) return {};
  WEIR_ASSIGN_OR_RETURN(const auto config, huggingface::JsonObject::read(*path));
  WEIR_ASSIGN_OR_RETURN(const auto names, config.texts("model_input_names"));
  if (names && std::find(names->begin(), names->end(), families::kTokenTypeIds) == names->end()) {
    architecture.without_token_type_ids();
  }
  return {};
}

/// Some families have fewer positions than their config's max_position_embeddings.
Status limit_tokens(const ConversionRequest& request, const families::Facts& facts, huggingface::Layout& layout) {
  if (layout.max_tokens <= facts.max_positions) return {};
  if (request.overrides.max_tokens) {
    return Error(ErrorKind::kInvalidArgument,
                 "--max-tokens " + std::to_string(layout.max_tokens) + ": the model takes from 1 to " +
                     std::to_string(facts.max_positions) + " tokens",
                 "--max-tokens");
  }
  layout.max_tokens = facts.max_positions;
  return {};
}

/// The model's folder and what it is for; pooling and normalization only matter once that is an embedding.
struct Plan {
  std::string folder;
  huggingface::Layout layout;
  std::optional<huggingface::JsonObject> config;
  ModelTask task;
};

Result<Plan> make_plan(const ConversionRequest& request) {
  const Source& source = *request.source;
  Plan plan;
  huggingface::Overrides overrides = request.overrides;
  overrides.normalize = false;
  WEIR_ASSIGN_OR_RETURN(plan.layout, huggingface::read_layout({source.folders, overrides, false}));
  const std::string& path = plan.layout.transformer_path;
  plan.folder = path.empty() ? source.root : source.root + "/" + path;
  // What import made of another form has the original's tokenizer beside the original.
  if (!source.checkpoint_folder.empty()) plan.folder = source.checkpoint_folder;
  WEIR_ASSIGN_OR_RETURN(plan.config, huggingface::JsonObject::read(plan.folder + "/config.json"));
  WEIR_ASSIGN_OR_RETURN(plan.task, read_task(*plan.config, plan.layout, request.overrides, source.folders));
  if (plan.task.task == bundle::Task::kEmbedding) {
    WEIR_ASSIGN_OR_RETURN(plan.layout, huggingface::read_layout({source.folders, request.overrides, true}));
  }
  return plan;
}

/// Of a padded graph.
void describe_output(const Plan& plan, const families::Facts& facts, bundle::Manifest& manifest) {
  using bundle::Output;
  manifest.task = plan.task.task;
  manifest.labels = plan.task.labels;
  manifest.score_function = plan.task.score_function;
  switch (plan.task.head.kind) {
    case families::HeadKind::kNone:
    case families::HeadKind::kTokenHeads:
      manifest.dimensions = facts.hidden_size;
      manifest.output = Output::kTokenVectors;
      manifest.output_name = families::kLastHiddenState;
      return;
    case families::HeadKind::kTextLabels:
    case families::HeadKind::kTokenLabels:
      manifest.dimensions = plan.task.head.labels;
      manifest.output =
          plan.task.head.kind == families::HeadKind::kTextLabels ? Output::kTextVectors : Output::kTokenVectors;
      manifest.output_name = families::kLogits;
      return;
    case families::HeadKind::kWords:
      manifest.dimensions = facts.vocabulary_size;
      manifest.output = Output::kTextVectors;
      manifest.output_name = families::kWordWeights;
  }
}

void describe_packed_output(const families::PackedOutputs& outputs, bundle::Manifest& manifest) {
  manifest.layout = bundle::Layout::kPacked;
  const bool has_texts = !outputs.texts.empty();
  manifest.output = has_texts ? bundle::Output::kTextVectors : bundle::Output::kTokenVectors;
  manifest.output_name = has_texts ? outputs.texts : outputs.tokens;
  if (has_texts) manifest.token_output_name = outputs.tokens;
}

}  // namespace

Result<Conversion> convert_checkpoint(const ConversionRequest& request) {
  const Source& source = *request.source;
  Conversion conversion;
  WEIR_ASSIGN_OR_RETURN(Plan plan, make_plan(request));
  WEIR_ASSIGN_OR_RETURN(families::Architecture architecture, families::read_architecture(*plan.config));
  const bool is_made = !source.checkpoint_folder.empty();
  WEIR_RETURN_IF_ERROR(apply_tokenizer_settings(is_made ? source.folders : std::vector{plan.folder}, architecture));
  const families::Facts& facts = architecture.facts();
  WEIR_RETURN_IF_ERROR(limit_tokens(request, facts, plan.layout));
  WEIR_RETURN_IF_ERROR(check_dimensions(plan.layout, facts));
  WEIR_ASSIGN_OR_RETURN(conversion.tokenizer_path, find_tokenizer(source.folders, plan.layout.transformer_path));
  WEIR_ASSIGN_OR_RETURN(const auto checkpoint, torch_file::open_checkpoint(plan.folder));

  bundle::Manifest& manifest = conversion.manifest;
  apply_layout(plan.layout, manifest);
  manifest.family = facts.family;
  manifest.vocabulary_size = facts.vocabulary_size;
  manifest.pad_token_id = facts.pad_token_id;
  manifest.has_token_type_ids = facts.has_token_type_ids;
  manifest.precision = request.precision;
  const bool is_embedding = plan.task.task == bundle::Task::kEmbedding;
  describe_output(plan, facts, manifest);
  WEIR_ASSIGN_OR_RETURN(const auto lengths, plan.config->counts("matryoshka_dimensions", manifest.dimensions));
  if (lengths && is_embedding) manifest.matryoshka_dimensions = *lengths;
  std::optional<families::TokenHeads> beside;
  if (is_embedding) {
    WEIR_ASSIGN_OR_RETURN(beside, read_token_heads(plan.folder, facts.hidden_size, conversion.files));
  }
  if (beside) {
    plan.task.head = {families::HeadKind::kTokenHeads, 0, &*beside};
    manifest.multi_vector_dimensions = beside->vector_dimensions;
    manifest.lexical_weights = true;
  }
  WEIR_ASSIGN_OR_RETURN(const auto outputs, write_graph(architecture, checkpoint, request, manifest, plan.task.head));
  if (request.packed) describe_packed_output(outputs, manifest);
  const bool is_attention_ordered = request.attention != "auto" && request.attention != request.precision;
  manifest.lineage.steps = {"import: " + facts.family + ", " + request.precision + (request.packed ? ", packed" : "") +
                            (request.packed && is_attention_ordered ? ", attention in " + request.attention : "") +
                            (is_embedding ? "" : ", " + std::string(bundle::task_name(manifest.task)))};
  conversion.files.insert(conversion.files.end(), plan.layout.files.begin(), plan.layout.files.end());
  for (const std::string& name : checkpoint.files()) conversion.files.push_back(plan.folder + "/" + name);
  return conversion;
}

}  // namespace weir::importer
