// weir.json and golden.json into a Manifest and golden texts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bundle/json_fields.h"
#include "bundle/manifest.h"

namespace weir::bundle {

namespace dom = simdjson::dom;

namespace {

constexpr std::size_t kMaxPrompts = 1000;
constexpr std::size_t kMaxPromptBytes = 64 << 10;
constexpr std::size_t kMaxLabelBytes = 1024;
constexpr std::size_t kMaxSources = 10'000;
constexpr std::size_t kMaxSteps = 1000;
constexpr std::size_t kMaxMatryoshka = 100;
constexpr std::size_t kMaxSkippedTokens = 10'000;
constexpr std::size_t kMaxTextBytes = 1 << 20;
/// The largest float's shortest decimal lies a little above it; from here on a number rounds to infinity.
constexpr double kFloatLimit = 0x1.ffffffp127;

/// Before anything else: a newer format may have changed every other field.
Status check_format_version(dom::object object, const std::string& file) {
  std::uint64_t version = 0;
  dom::element element;
  if (object.at_key("format_version").get(element)) return field_error(file, "format_version", "missing");
  if (element.get(version) || version == 0) {
    return field_error(file, "format_version",
                       "expected a whole number from 1, found " + std::string(simdjson::minify(element)));
  }
  if (version > static_cast<std::uint64_t>(kFormatVersion)) {
    return field_error(file, "format_version",
                       "is " + std::to_string(version) + "; this weir reads up to " + std::to_string(kFormatVersion) +
                           ": take a newer weir, or import the model with this one",
                       ErrorKind::kUnsupported);
  }
  return {};
}

Result<std::string> string_element(dom::element element, const std::string& file, const std::string& path,
                                   std::size_t max_bytes) {
  std::string_view text;
  if (element.get(text)) {
    return field_error(file, path, "expected a string, found " + std::string(json_type_name(element)));
  }
  if (text.size() > max_bytes) {
    return field_error(file, path,
                       "is " + std::to_string(text.size()) + " bytes long; the limit is " + std::to_string(max_bytes));
  }
  return std::string(text);
}

Status read_prompts(dom::object object, const std::string& path, const std::string& file, Manifest& manifest) {
  if (object.size() > kMaxPrompts) {
    return field_error(file, path, "has more than " + std::to_string(kMaxPrompts) + " entries");
  }
  for (const auto field : object) {
    const std::string name(field.key);
    WEIR_ASSIGN_OR_RETURN(std::string text, string_element(field.value, file, path + "." + name, kMaxPromptBytes));
    if (!manifest.prompts.emplace(name, std::move(text)).second) {
      return field_error(file, path + "." + name, "stands there twice");
    }
  }
  return {};
}

Status read_source(dom::element element, const std::string& path, const std::string& file, Lineage& lineage) {
  dom::object object;
  if (element.get(object)) {
    return field_error(file, path, "expected an object, found " + std::string(json_type_name(element)));
  }
  Lineage::Source source;
  Fields fields(object, file, path);
  fields.text("file", source.file, 1, 4096);
  fields.text("sha256", source.sha256, 1, 64);
  fields.number("bytes", source.bytes, 0, std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  lineage.sources.push_back(std::move(source));
  return fields.finish();
}

Status read_lineage(dom::object object, const std::string& path, const std::string& file, Lineage& lineage) {
  Fields fields(object, file, path);
  fields.text("weir_version", lineage.weir_version, 1, 64);
  fields.text("created", lineage.created, 1, 64);
  fields.array("sources", kMaxSources,
               [&](dom::element element, const std::string& at) { return read_source(element, at, file, lineage); });
  fields.array("steps", kMaxSteps, [&](dom::element element, const std::string& at) -> Status {
    WEIR_ASSIGN_OR_RETURN(std::string step, string_element(element, file, at, 4096));
    lineage.steps.push_back(std::move(step));
    return {};
  });
  return fields.finish();
}

Status read_output(dom::object object, const std::string& path, const std::string& file, Manifest& manifest) {
  Fields fields(object, file, path);
  std::string kind;
  fields.text("kind", kind, 1, 64);
  fields.text("name", manifest.output_name, 1, 1024);
  if (fields.present("token_name")) fields.text("token_name", manifest.token_output_name, 1, 1024);
  WEIR_RETURN_IF_ERROR(fields.finish());
  const auto output = output_kind_from_name(kind);
  if (!output) {
    return field_error(file, path + ".kind", "is '" + kind + "'; expected token_vectors or text_vectors");
  }
  manifest.output = *output;
  return {};
}

void read_task(Fields& fields, Manifest& manifest) {
  std::string name;
  fields.text("task", name, 1, 64);
  const auto task = task_from_name(name);
  if (!task) {
    return fields.fail("task",
                       "is '" + name +
                           "'; this weir serves: embedding, rerank, classify, token_classify, sparse, "
                           "multi_vector",
                       ErrorKind::kUnsupported);
  }
  manifest.task = *task;
}

/// Models that give no scores do not say.
void read_scores(Fields& fields, const std::string& file, Manifest& manifest) {
  if (fields.present("score_function")) {
    std::string name;
    fields.text("score_function", name, 1, 64);
    const auto function = score_function_from_name(name);
    if (!function) return fields.fail("score_function", "is '" + name + "'; expected none, sigmoid or softmax");
    manifest.score_function = *function;
  }
  if (!fields.present("labels")) return;
  fields.array("labels", kMaxDimensions, [&](dom::element element, const std::string& at) -> Status {
    WEIR_ASSIGN_OR_RETURN(std::string label, string_element(element, file, at, kMaxLabelBytes));
    manifest.labels.push_back(std::move(label));
    return {};
  });
}

Status read_id(dom::element element, const std::string& file, const std::string& path,
               std::vector<std::uint32_t>& ids) {
  std::uint64_t id = 0;
  if (element.get(id) || id >= kMaxVocabulary) return field_error(file, path, "expected a token's id");
  ids.push_back(static_cast<std::uint32_t>(id));
  return {};
}

Status read_late_interaction(dom::object object, const std::string& path, const std::string& file,
                             LateInteraction& late) {
  Fields fields(object, file, path);
  fields.number("query_tokens", late.query_tokens, kLeastTokensOfARole, kMaxTokens);
  fields.number("document_tokens", late.document_tokens, kLeastTokensOfARole, kMaxTokens);
  const auto read_token = [&](const char* name, std::optional<std::uint32_t>& token) {
    if (fields.present(name)) fields.number(name, token.emplace(), 0, kMaxVocabulary);
  };
  read_token("query_marker", late.query_marker);
  read_token("document_marker", late.document_marker);
  read_token("expansion_token", late.expansion_token);
  fields.boolean("attend_to_expansion", late.attend_to_expansion);
  fields.array("skipped_tokens", kMaxSkippedTokens, [&](dom::element element, const std::string& at) {
    return read_id(element, file, at, late.skipped_tokens);
  });
  fields.boolean("length_normalized", late.length_normalized);
  return fields.finish();
}

void read_pooling(Fields& fields, Manifest& manifest) {
  std::string name;
  fields.text("pooling", name, 1, 64);
  const auto pooling = pooling_from_name(name);
  if (!pooling)
    return fields.fail("pooling", "is '" + name +
                                      "'; expected mean, cls, max, last, mean_sqrt_length or "
                                      "weighted_mean");
  manifest.pooling = *pooling;
}

/// Bundles from before there were packed ones do not say.
void read_layout(Fields& fields, Manifest& manifest) {
  if (!fields.present("layout")) return;
  std::string name;
  fields.text("layout", name, 1, 64);
  const auto layout = layout_from_name(name);
  if (!layout) return fields.fail("layout", "is '" + name + "'; expected padded or packed");
  manifest.layout = *layout;
}

void read_matryoshka(Fields& fields, const std::string& file, Manifest& manifest) {
  fields.array("matryoshka_dimensions", kMaxMatryoshka, [&](dom::element element, const std::string& at) -> Status {
    std::uint64_t length = 0;
    if (element.get(length) || length == 0 || length > kMaxDimensions) {
      return field_error(file, at, "expected a whole number from 1 to " + std::to_string(kMaxDimensions));
    }
    manifest.matryoshka_dimensions.push_back(static_cast<std::uint32_t>(length));
    return {};
  });
}

Status read_vector(dom::element element, const std::string& path, const std::string& file, std::vector<float>& vector) {
  double value = 0;
  if (element.get(value)) {
    return field_error(file, path, "expected a number, found " + std::string(json_type_name(element)));
  }
  if (!(std::abs(value) < kFloatLimit)) {
    return field_error(file, path, "does not fit in a 32-bit float");
  }
  vector.push_back(static_cast<float>(value));
  return {};
}

Result<Golden> read_golden_text(dom::element element, const std::string& path, const std::string& file,
                                std::uint32_t dimensions) {
  dom::object object;
  if (element.get(object)) {
    return field_error(file, path, "expected an object, found " + std::string(json_type_name(element)));
  }
  Golden golden;
  golden.vector.reserve(dimensions);
  Fields fields(object, file, path);
  fields.text("text", golden.text, 1, kMaxTextBytes);
  if (fields.present("pair")) fields.text("pair", golden.pair.emplace(), 1, kMaxTextBytes);
  fields.array("vector", dimensions, [&](dom::element number, const std::string& at) {
    return read_vector(number, at, file, golden.vector);
  });
  WEIR_RETURN_IF_ERROR(fields.finish());
  if (golden.vector.size() != dimensions) {
    return field_error(file, path + ".vector",
                       "has " + std::to_string(golden.vector.size()) + " numbers; weir.json's dimensions are " +
                           std::to_string(dimensions));
  }
  return golden;
}

}  // namespace

Result<Manifest> parse_manifest(const std::string& json, const std::string& file) {
  dom::parser parser;
  WEIR_ASSIGN_OR_RETURN(const dom::object object, parse_object(parser, json, file));
  WEIR_RETURN_IF_ERROR(check_format_version(object, file));
  Manifest manifest;
  Fields fields(object, file);
  fields.present("format_version");
  fields.text("name", manifest.name, 1, 256);
  fields.text("family", manifest.family, 1, 64);
  read_task(fields, manifest);
  fields.text("precision", manifest.precision, 1, 64);
  fields.number("dimensions", manifest.dimensions, 1, kMaxDimensions);
  fields.number("max_tokens", manifest.max_tokens, 1, kMaxTokens);
  fields.number("vocabulary_size", manifest.vocabulary_size, 1, kMaxVocabulary);
  fields.number("pad_token_id", manifest.pad_token_id, 0, kMaxVocabulary);
  fields.boolean("has_token_type_ids", manifest.has_token_type_ids);
  read_layout(fields, manifest);
  fields.object("output",
                [&](dom::object output, const std::string& at) { return read_output(output, at, file, manifest); });
  read_pooling(fields, manifest);
  fields.boolean("normalize", manifest.normalize);
  fields.object("prompts",
                [&](dom::object prompts, const std::string& at) { return read_prompts(prompts, at, file, manifest); });
  if (fields.present("default_prompt")) fields.text("default_prompt", manifest.default_prompt.emplace(), 0, 1024);
  read_matryoshka(fields, file, manifest);
  if (fields.present("multi_vector_dimensions")) {
    fields.number("multi_vector_dimensions", manifest.multi_vector_dimensions, 0, kMaxDimensions);
  }
  if (fields.present("lexical_weights")) fields.boolean("lexical_weights", manifest.lexical_weights);
  if (fields.present("wordless_tokens")) {
    fields.array("wordless_tokens", kMaxSkippedTokens, [&](dom::element element, const std::string& at) {
      return read_id(element, file, at, manifest.wordless_tokens);
    });
  }
  if (fields.present("late_interaction")) {
    fields.object("late_interaction", [&](dom::object late, const std::string& at) {
      return read_late_interaction(late, at, file, manifest.late_interaction.emplace());
    });
  }
  read_scores(fields, file, manifest);
  fields.object("lineage", [&](dom::object lineage, const std::string& at) {
    return read_lineage(lineage, at, file, manifest.lineage);
  });
  WEIR_RETURN_IF_ERROR(fields.finish());
  WEIR_RETURN_IF_ERROR(check_manifest(manifest, file));
  return manifest;
}

Result<std::vector<Golden>> parse_golden(const std::string& json, const std::string& file, std::uint32_t dimensions) {
  dom::parser parser;
  WEIR_ASSIGN_OR_RETURN(const dom::object object, parse_object(parser, json, file));
  WEIR_RETURN_IF_ERROR(check_format_version(object, file));
  std::vector<Golden> golden;
  Fields fields(object, file);
  fields.present("format_version");
  fields.array("texts", kMaxGoldenTexts, [&](dom::element element, const std::string& at) -> Status {
    WEIR_ASSIGN_OR_RETURN(Golden one, read_golden_text(element, at, file, dimensions));
    golden.push_back(std::move(one));
    return {};
  });
  if (golden.empty()) fields.fail("texts", "is empty: the self-test at load needs at least one");
  WEIR_RETURN_IF_ERROR(fields.finish());
  return golden;
}

}  // namespace weir::bundle
