// A Manifest and golden texts into JSON for people: two spaces a level, a fixed order, one line for a list of numbers.
#include <charconv>
#include <utility>

#include "bundle/json_writer.h"
#include "bundle/manifest.h"

namespace weir::bundle {
namespace {

void append_number(std::string& out, float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

void append_whole(std::string& out, std::uint32_t value) { out += std::to_string(value); }

void write_lineage(JsonWriter& json, const Lineage& lineage) {
  json.key("lineage");
  json.open('{');
  json.field("weir_version", lineage.weir_version);
  json.field("created", lineage.created);
  json.key("sources");
  json.open('[');
  for (const auto& source : lineage.sources) {
    json.open('{');
    json.field("file", source.file);
    json.field("sha256", source.sha256);
    json.field("bytes", source.bytes);
    json.close('}');
  }
  json.close(']');
  json.key("steps");
  json.open('[');
  for (const auto& step : lineage.steps) json.text(step);
  json.close(']');
  json.close('}');
}

void write_prompts(JsonWriter& json, const Manifest& manifest) {
  json.key("prompts");
  json.open('{');
  for (const auto& [name, text] : manifest.prompts) json.field(name, text);
  json.close('}');
  json.key("default_prompt");
  if (manifest.default_prompt) {
    json.text(*manifest.default_prompt);
  } else {
    json.raw("null");
  }
}

void write_token_heads(JsonWriter& json, const Manifest& manifest) {
  if (manifest.more_numbers() == 0) return;
  json.field("multi_vector_dimensions", manifest.multi_vector_dimensions);
  json.key("lexical_weights");
  json.boolean(manifest.lexical_weights);
  json.key("wordless_tokens");
  json.line_of_numbers(manifest.wordless_tokens, append_whole);
}

void write_late_interaction(JsonWriter& json, const Manifest& manifest) {
  if (!manifest.late_interaction) return;
  const LateInteraction& late = *manifest.late_interaction;
  json.key("late_interaction");
  json.open('{');
  json.field("query_tokens", late.query_tokens);
  json.field("document_tokens", late.document_tokens);
  if (late.query_marker) json.field("query_marker", *late.query_marker);
  if (late.document_marker) json.field("document_marker", *late.document_marker);
  if (late.expansion_token) json.field("expansion_token", *late.expansion_token);
  json.key("attend_to_expansion");
  json.boolean(late.attend_to_expansion);
  json.key("skipped_tokens");
  json.line_of_numbers(late.skipped_tokens, append_whole);
  json.key("length_normalized");
  json.boolean(late.length_normalized);
  json.close('}');
}

void write_scores(JsonWriter& json, const Manifest& manifest) {
  if (!gives_scores(manifest.task)) return;
  json.field("score_function", score_function_name(manifest.score_function));
  json.key("labels");
  json.open('[');
  for (const auto& label : manifest.labels) json.text(label);
  json.close(']');
}

}  // namespace

std::string manifest_json(const Manifest& manifest) {
  JsonWriter json;
  json.open('{');
  json.field("format_version", kFormatVersion);
  json.field("name", manifest.name);
  json.field("family", manifest.family);
  json.field("task", task_name(manifest.task));
  json.field("precision", manifest.precision);
  json.field("dimensions", manifest.dimensions);
  json.field("max_tokens", manifest.max_tokens);
  json.field("vocabulary_size", manifest.vocabulary_size);
  json.field("pad_token_id", manifest.pad_token_id);
  json.key("has_token_type_ids");
  json.boolean(manifest.has_token_type_ids);
  json.field("layout", layout_name(manifest.layout));
  json.key("output");
  json.open('{');
  json.field("kind", output_kind_name(manifest.output));
  json.field("name", manifest.output_name);
  if (!manifest.token_output_name.empty()) json.field("token_name", manifest.token_output_name);
  json.close('}');
  json.field("pooling", pooling_name(manifest.pooling));
  json.key("normalize");
  json.boolean(manifest.normalize);
  write_prompts(json, manifest);
  json.key("matryoshka_dimensions");
  json.line_of_numbers(manifest.matryoshka_dimensions, append_whole);
  write_token_heads(json, manifest);
  write_late_interaction(json, manifest);
  write_scores(json, manifest);
  write_lineage(json, manifest.lineage);
  json.close('}');
  return std::move(json).take();
}

std::string golden_json(const std::vector<Golden>& golden) {
  JsonWriter json;
  json.open('{');
  json.field("format_version", kFormatVersion);
  json.key("texts");
  json.open('[');
  for (const auto& one : golden) {
    json.open('{');
    json.field("text", one.text);
    if (one.pair) json.field("pair", *one.pair);
    json.key("vector");
    json.line_of_numbers(one.vector, append_number);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return std::move(json).take();
}

}  // namespace weir::bundle
