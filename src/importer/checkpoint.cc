#include "safetensors/checkpoint.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "families/family.h"
#include "importer/conversion.h"
#include "onnx/graph_builder.h"

namespace weir::importer {
namespace {

Status write_graph(const families::Architecture& architecture, const safetensors::Checkpoint& checkpoint,
                   const ConversionRequest& request, const huggingface::Layout& layout) {
  WEIR_ASSIGN_OR_RETURN(onnx::WeightsFile file,
                        onnx::WeightsFile::create(request.folder + "/model.weights", request.cancelled));
  families::Weights weights(checkpoint);
  onnx::GraphBuilder graph(architecture.facts().family, &file);
  const families::PackedForm form{request.precision, std::string(bundle::pooling_name(layout.pooling))};
  WEIR_RETURN_IF_ERROR(request.packed ? architecture.build_packed(weights, graph, form)
                                      : architecture.build(weights, graph));
  WEIR_RETURN_IF_ERROR(file.finish());
  return graph.save(request.folder + "/model.onnx");
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

}  // namespace

Result<Conversion> convert_checkpoint(const ConversionRequest& request) {
  const Source& source = *request.source;
  Conversion conversion;
  WEIR_ASSIGN_OR_RETURN(huggingface::Layout layout,
                        huggingface::read_layout({source.folders, request.overrides, true}));
  std::string folder = layout.transformer_path.empty() ? source.root : source.root + "/" + layout.transformer_path;
  // What import made of another form has the original's tokenizer beside the original.
  const bool is_made = !source.checkpoint_folder.empty();
  if (is_made) folder = source.checkpoint_folder;
  WEIR_ASSIGN_OR_RETURN(const auto config, huggingface::JsonObject::read(folder + "/config.json"));
  WEIR_ASSIGN_OR_RETURN(families::Architecture architecture, families::read_architecture(config));
  WEIR_RETURN_IF_ERROR(apply_tokenizer_settings(is_made ? source.folders : std::vector{folder}, architecture));
  const families::Facts& facts = architecture.facts();
  WEIR_RETURN_IF_ERROR(limit_tokens(request, facts, layout));
  WEIR_RETURN_IF_ERROR(check_dimensions(layout, facts));
  WEIR_ASSIGN_OR_RETURN(conversion.tokenizer_path, find_tokenizer(source.folders, layout.transformer_path));
  WEIR_ASSIGN_OR_RETURN(const auto checkpoint, safetensors::Checkpoint::open(folder));
  WEIR_RETURN_IF_ERROR(write_graph(architecture, checkpoint, request, layout));

  bundle::Manifest& manifest = conversion.manifest;
  apply_layout(layout, manifest);
  manifest.family = facts.family;
  manifest.dimensions = facts.hidden_size;
  manifest.vocabulary_size = facts.vocabulary_size;
  manifest.pad_token_id = facts.pad_token_id;
  manifest.has_token_type_ids = facts.has_token_type_ids;
  manifest.precision = request.precision;
  if (request.packed) {
    manifest.layout = bundle::Layout::kPacked;
    manifest.output = bundle::Output::kTextVectors;
    manifest.output_name = families::kSentenceEmbedding;
  } else {
    manifest.output = bundle::Output::kTokenVectors;
    manifest.output_name = families::kLastHiddenState;
  }
  manifest.lineage.steps = {"import: " + facts.family + ", " + request.precision + (request.packed ? ", packed" : "")};
  conversion.files = layout.files;
  for (const std::string& name : checkpoint.files()) conversion.files.push_back(folder + "/" + name);
  return conversion;
}

}  // namespace weir::importer
