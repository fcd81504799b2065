#include <algorithm>
#include <cmath>

#include "bundle/json_fields.h"
#include "bundle/manifest.h"

namespace weir::bundle {
namespace {

constexpr std::string_view kPrecisions[] = {"fp32", "fp16", "bf16", "int8"};

template <std::size_t N>
bool one_of(const std::string& value, const std::string_view (&values)[N]) {
  return std::find(std::begin(values), std::end(values), value) != std::end(values);
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool has_control_character(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
}

/// Fields that parse_manifest has already held to a range, but a caller of write_manifest may not have.
Status check_ranges(const Manifest& manifest, const std::string& file) {
  if (manifest.name.empty() || has_control_character(manifest.name)) {
    return field_error(file, "name", "must not be empty or hold control characters");
  }
  if (manifest.family.empty()) return field_error(file, "family", "must not be empty");
  if (manifest.output_name.empty()) return field_error(file, "output.name", "must not be empty");
  if (manifest.dimensions == 0 || manifest.dimensions > kMaxDimensions) {
    return field_error(file, "dimensions", "must be from 1 to " + std::to_string(kMaxDimensions));
  }
  if (manifest.max_tokens == 0 || manifest.max_tokens > kMaxTokens) {
    return field_error(file, "max_tokens", "must be from 1 to " + std::to_string(kMaxTokens));
  }
  if (manifest.vocabulary_size == 0 || manifest.vocabulary_size > kMaxVocabulary) {
    return field_error(file, "vocabulary_size", "must be from 1 to " + std::to_string(kMaxVocabulary));
  }
  return {};
}

Status check_matryoshka(const Manifest& manifest, const std::string& file) {
  auto lengths = manifest.matryoshka_dimensions;
  std::sort(lengths.begin(), lengths.end());
  if (std::adjacent_find(lengths.begin(), lengths.end()) != lengths.end()) {
    return field_error(file, "matryoshka_dimensions", "holds the same length twice");
  }
  if (!lengths.empty() && (lengths.front() == 0 || lengths.back() > manifest.dimensions)) {
    return field_error(file, "matryoshka_dimensions",
                       "lengths must be from 1 to dimensions (" + std::to_string(manifest.dimensions) + ")");
  }
  return {};
}

/// That markers and lengths are there for multi-vector models, and only for those.
Status check_late_interaction(const Manifest& manifest, const std::string& file) {
  const bool is_multi_vector = manifest.task == Task::kMultiVector;
  if (is_multi_vector != manifest.late_interaction.has_value()) {
    return field_error(file, "late_interaction",
                       is_multi_vector ? "missing; the task multi_vector needs it" : "is for the task multi_vector");
  }
  if (!is_multi_vector) return {};
  const LateInteraction& late = *manifest.late_interaction;
  const auto check = [&](const char* name, std::uint32_t value, std::uint32_t end) -> Status {
    if (value < end) return {};
    return field_error(file, std::string("late_interaction.") + name,
                       "is " + std::to_string(value) + "; it must be below " + std::to_string(end));
  };
  WEIR_RETURN_IF_ERROR(check("query_marker", late.query_marker.value_or(0), manifest.vocabulary_size));
  WEIR_RETURN_IF_ERROR(check("document_marker", late.document_marker.value_or(0), manifest.vocabulary_size));
  WEIR_RETURN_IF_ERROR(check("expansion_token", late.expansion_token.value_or(0), manifest.vocabulary_size));
  WEIR_RETURN_IF_ERROR(check("query_tokens", late.query_tokens, manifest.max_tokens + 1));
  WEIR_RETURN_IF_ERROR(check("document_tokens", late.document_tokens, manifest.max_tokens + 1));
  for (const char* name : {kQueryPrompt, kDocumentPrompt}) {
    if (!manifest.prompts.contains(name)) return field_error(file, "prompts", std::string("has no '") + name + "'");
  }
  return {};
}

/// Labels and outputs that a task needs, and no others.
Status check_task(const Manifest& manifest, const std::string& file) {
  const bool has_labels = manifest.task == Task::kClassify || manifest.task == Task::kTokenClassify;
  const std::string task(task_name(manifest.task));
  if (has_labels && manifest.labels.size() != manifest.dimensions) {
    return field_error(file, "labels",
                       "holds " + std::to_string(manifest.labels.size()) + ", but dimensions is " +
                           std::to_string(manifest.dimensions));
  }
  if (manifest.task == Task::kRerank && manifest.dimensions != 1) {
    return field_error(file, "dimensions", "must be 1, the score of a pair, where task is rerank");
  }
  if (!has_labels && manifest.task != Task::kRerank &&
      (!manifest.labels.empty() || manifest.score_function != ScoreFunction::kNone)) {
    return field_error(file, "labels", "and score_function are not for the task " + task);
  }
  const bool has_tokens = manifest.output == Output::kTokenVectors || !manifest.token_output_name.empty();
  if (manifest.more_numbers() > 0 && (manifest.task != Task::kEmbedding || !has_tokens)) {
    return field_error(file, "multi_vector_dimensions",
                       "and lexical_weights are for embedding models whose graph gives token_vectors");
  }
  if (manifest.task == Task::kEmbedding) return {};
  const bool per_token = manifest.output == Output::kTokenVectors;
  if (per_token != (manifest.task == Task::kTokenClassify || manifest.task == Task::kMultiVector)) {
    return field_error(file, "output.kind", "does not fit the task " + task);
  }
  if (manifest.normalize && manifest.task != Task::kMultiVector)
    return field_error(file, "normalize", "is for embeddings, but task is " + task);
  return {};
}

}  // namespace

bool gives_scores(Task task) {
  return task == Task::kRerank || task == Task::kClassify || task == Task::kTokenClassify;
}

Status check_manifest(const Manifest& manifest, const std::string& file) {
  WEIR_RETURN_IF_ERROR(check_ranges(manifest, file));
  WEIR_RETURN_IF_ERROR(check_task(manifest, file));
  WEIR_RETURN_IF_ERROR(check_late_interaction(manifest, file));
  if (!one_of(manifest.precision, kPrecisions)) {
    return field_error(file, "precision", "is '" + manifest.precision + "'; this weir knows: fp32, fp16, bf16, int8",
                       ErrorKind::kUnsupported);
  }
  if (!manifest.token_output_name.empty() && manifest.lexical_weights && manifest.multi_vector_dimensions == 0) {
    return field_error(file, "multi_vector_dimensions", "is 0, but output.token_name has lexical weights");
  }
  const bool has_second_output = !manifest.token_output_name.empty();
  const bool may_have_one = manifest.layout == Layout::kPacked && manifest.output == Output::kTextVectors &&
                            manifest.task == Task::kEmbedding && manifest.token_output_name != manifest.output_name;
  if (has_second_output && !may_have_one) {
    return field_error(file, "output.token_name",
                       "is for packed embedding models whose output is text_vectors, and is not that output");
  }
  if (manifest.pad_token_id >= manifest.vocabulary_size) {
    return field_error(file, "pad_token_id",
                       "is " + std::to_string(manifest.pad_token_id) + ", outside the vocabulary of " +
                           std::to_string(manifest.vocabulary_size));
  }
  if (manifest.default_prompt && !manifest.prompts.contains(*manifest.default_prompt)) {
    return field_error(file, "default_prompt", "'" + *manifest.default_prompt + "' is not one of prompts");
  }
  WEIR_RETURN_IF_ERROR(check_matryoshka(manifest, file));
  for (const auto& source : manifest.lineage.sources) {
    if (!is_sha256(source.sha256)) {
      return field_error(file, "lineage.sources", "'" + source.file + "': sha256 is not 64 lower-case hex digits");
    }
  }
  return {};
}

Status check_golden(const std::vector<Golden>& golden, const std::string& file) {
  if (golden.empty() || golden.size() > kMaxGoldenTexts) {
    return field_error(file, "texts", "must hold 1 to " + std::to_string(kMaxGoldenTexts) + " texts");
  }
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const auto& vector = golden[i].vector;
    const std::string path = "texts[" + std::to_string(i) + "]";
    if (golden[i].text.empty()) return field_error(file, path + ".text", "must not be empty");
    if (vector.empty() || vector.size() != golden.front().vector.size()) {
      return field_error(file, path + ".vector", "is empty or not as long as the first one");
    }
    if (!std::all_of(vector.begin(), vector.end(), [](float value) { return std::isfinite(value); })) {
      return field_error(file, path + ".vector", "holds NaN or Inf");
    }
  }
  return {};
}

}  // namespace weir::bundle
