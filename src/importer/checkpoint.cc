#include "safetensors/checkpoint.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "families/family.h"
#include "huggingface/special_tokens.h"
#include "importer/conversion.h"
#include "importer/dense.h"
#include "importer/late_interaction.h"
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
                                    request.attention, manifest.unattended_tokens()};
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
  if (layout.late_interaction) {
    auto& late = *layout.late_interaction;
    late.query_tokens = std::min(late.query_tokens.value_or(facts.max_positions), facts.max_positions);
    late.document_tokens = std::min(late.document_tokens.value_or(facts.max_positions), facts.max_positions);
  }
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
  if (plan.layout.late_interaction) {
    plan.layout.normalize = request.overrides.normalize.value_or(plan.layout.normalize);
  }
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
      return;
    case families::HeadKind::kTokenDense:
      manifest.dimensions = plan.task.head.dense.back().channels;
      manifest.output = Output::kTokenVectors;
      manifest.output_name = families::kLastHiddenState;
      return;
    case families::HeadKind::kTextDense:
      manifest.dimensions = plan.task.head.dense.back().channels;
      manifest.output = Output::kTextVectors;
      manifest.output_name = families::kSentenceEmbedding;
  }
}

/// What stands behind the encoder in files of its own: layers for tokens, or for texts.
Status add_dense(const ConversionRequest& request, const safetensors::Checkpoint& checkpoint,
                 const families::Facts& facts, Plan& plan, std::vector<std::string>& files) {
  const huggingface::Layout& layout = plan.layout;
  const bool on_tokens = plan.task.task == bundle::Task::kMultiVector;
  if (!on_tokens && (plan.task.task != bundle::Task::kEmbedding || layout.dense_paths.empty())) return {};
  const Source& source = *request.source;
  if (!source.checkpoint_folder.empty()) {
    return Error(ErrorKind::kUnsupported, "modules.json has a Dense, which is not in an ONNX graph's encoder",
                 "modules.json");
  }
  families::HeadForm& head = plan.task.head;
  if (on_tokens && layout.dense_paths.empty()) {
    WEIR_ASSIGN_OR_RETURN(auto layer, read_stanford_linear(checkpoint, facts.hidden_size));
    head.dense.push_back(std::move(layer));
    return {};
  }
  WEIR_ASSIGN_OR_RETURN(head.dense, read_dense({source.root, layout.dense_paths, facts.hidden_size, on_tokens}, files));
  if (on_tokens) return {};
  if (!layout.has_pooling) {
    return Error(
        ErrorKind::kUnsupported,
        "modules.json: its Dense is for vectors of tokens; without --task the model is imported as multi_vector",
        "--task");
  }
  head.kind = families::HeadKind::kTextDense;
  head.reads_mean = layout.pooling == bundle::Pooling::kMean;
  if (head.reads_mean || layout.pooling == bundle::Pooling::kCls) return {};
  return Error(ErrorKind::kUnsupported,
               "modules.json: a Dense behind the pooling " + std::string(bundle::pooling_name(layout.pooling)) +
                   " is not supported; weir has mean and cls",
               "modules.json");
}

/// Markers and lengths, with the ids that the tokenizer has for them.
Status add_late_interaction(const Plan& plan, const std::vector<std::string>& folders,
                            const std::string& tokenizer_path, const families::Facts& facts,
                            bundle::Manifest& manifest) {
  if (manifest.task != bundle::Task::kMultiVector) return {};
  WEIR_ASSIGN_OR_RETURN(const auto tokenizer, tokenizers::Tokenizer::from_file(tokenizer_path));
  LateInteractionRequest request{&*plan.layout.late_interaction, tokenizer.get(), std::nullopt, manifest.pad_token_id,
                                 manifest.max_tokens};
  WEIR_ASSIGN_OR_RETURN(request.mask_token,
                        huggingface::read_special_token(folders, plan.layout.transformer_path, "mask_token"));
  WEIR_ASSIGN_OR_RETURN(manifest.late_interaction, find_tokens(request));
  if (manifest.unattended_tokens() > 0 && facts.masked_tokens_see_none) {
    return Error(ErrorKind::kUnsupported,
                 "config.json: queries whose fillings are not attended to are not supported of " + facts.family +
                     ", where such tokens see none themselves",
                 "config.json");
  }
  add_roles(manifest);
  return {};
}

/// Those that bge-m3's own code leaves out of a text's words, wherever they stand.
Result<std::vector<std::uint32_t>> find_wordless_tokens(const Plan& plan, const std::vector<std::string>& folders,
                                                        const std::string& tokenizer_path) {
  WEIR_ASSIGN_OR_RETURN(const auto tokenizer, tokenizers::Tokenizer::from_file(tokenizer_path));
  std::set<std::uint32_t> ids;
  for (const char* key : {"cls_token", "eos_token", "pad_token", "unk_token"}) {
    WEIR_ASSIGN_OR_RETURN(const auto token,
                          huggingface::read_special_token(folders, plan.layout.transformer_path, key));
    const auto id = token ? tokenizer->token_to_id(*token) : std::nullopt;
    if (id) ids.insert(static_cast<std::uint32_t>(*id));
  }
  return std::vector<std::uint32_t>(ids.begin(), ids.end());
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
  WEIR_RETURN_IF_ERROR(add_dense(request, checkpoint, facts, plan, conversion.files));
  describe_output(plan, facts, manifest);
  WEIR_RETURN_IF_ERROR(add_late_interaction(plan, source.folders, conversion.tokenizer_path, facts, manifest));
  WEIR_ASSIGN_OR_RETURN(const auto lengths, plan.config->counts("matryoshka_dimensions", manifest.dimensions));
  if (lengths && is_embedding) manifest.matryoshka_dimensions = *lengths;
  std::optional<families::TokenHeads> beside;
  if (is_embedding) {
    WEIR_ASSIGN_OR_RETURN(beside, read_token_heads(plan.folder, facts.hidden_size, conversion.files));
  }
  if (beside) {
    if (!plan.task.head.dense.empty()) {
      return Error(ErrorKind::kUnsupported, "modules.json: a Dense beside colbert_linear.pt is not supported",
                   "modules.json");
    }
    plan.task.head.kind = families::HeadKind::kTokenHeads;
    plan.task.head.beside = &*beside;
    manifest.multi_vector_dimensions = beside->vector_dimensions;
    manifest.lexical_weights = true;
    WEIR_ASSIGN_OR_RETURN(manifest.wordless_tokens,
                          find_wordless_tokens(plan, source.folders, conversion.tokenizer_path));
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
