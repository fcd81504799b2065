#include "serve/front/http/dialects.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "serve/front/http/message.h"

namespace weir::serve::front::http {
namespace {

Result<VectorEncoding> encoding_format(const JsonObject& object) {
  WEIR_ASSIGN_OR_RETURN(const auto format, object.string("encoding_format"));
  if (!format || *format == "float") return VectorEncoding::kFloat;
  if (*format == "base64") return VectorEncoding::kBase64;
  return Error(ErrorKind::kInvalidArgument, "'encoding_format' must be 'float' or 'base64'", "encoding_format");
}

Result<tokenizers::Side> truncation_direction(const JsonObject& object) {
  WEIR_ASSIGN_OR_RETURN(const auto direction, object.string("truncation_direction"));
  if (!direction || equals_ignoring_case(*direction, "right")) return tokenizers::Side::kRight;
  if (equals_ignoring_case(*direction, "left")) return tokenizers::Side::kLeft;
  return Error(ErrorKind::kInvalidArgument, "'truncation_direction' must be 'Left' or 'Right'", "truncation_direction");
}

/// `truncate` and `truncation_direction`, which most of TEI's bodies have.
Status read_truncation(const JsonObject& object, ParsedBody& parsed) {
  WEIR_ASSIGN_OR_RETURN(parsed.options.truncate, object.boolean("truncate"));
  WEIR_ASSIGN_OR_RETURN(parsed.options.truncation_side, truncation_direction(object));
  return {};
}

/// Makes a pair of the query and each text.
Status put_query_before(const JsonObject& object, ParsedBody& parsed) {
  WEIR_ASSIGN_OR_RETURN(const auto query, object.string("query"));
  if (!query) return Error(ErrorKind::kInvalidArgument, "the field 'query' is missing", "query");
  if (query->empty()) return Error(ErrorKind::kEmptyInput, "'query' is an empty string", "query");
  for (Input& input : parsed.inputs) input.pair = std::exchange(input.text, *query);
  return {};
}

constexpr const char* kAggregations[] = {"none", "simple", "first", "average", "max"};

Status read_aggregation(const JsonObject& object, ParsedBody& parsed) {
  WEIR_ASSIGN_OR_RETURN(const auto parameters, object.object("parameters", {"aggregation_strategy"}));
  if (!parameters) return {};
  WEIR_ASSIGN_OR_RETURN(const auto name, parameters->string("aggregation_strategy"));
  parsed.aggregation = name.value_or(parsed.aggregation);
  const auto is_name = [&](const char* known) { return parsed.aggregation == known; };
  if (std::any_of(std::begin(kAggregations), std::end(kAggregations), is_name)) return {};
  return Error(ErrorKind::kInvalidArgument, "'aggregation_strategy' must be none, simple, first, average or max",
               "parameters.aggregation_strategy");
}

}  // namespace

Result<ParsedBody> parse_tei_rerank(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(
      const JsonObject object,
      JsonObject::parse(body, {"query", "texts", "truncate", "truncation_direction", "raw_scores", "return_text"}));
  ParsedBody parsed;
  WEIR_RETURN_IF_ERROR(read_truncation(object, parsed));
  WEIR_ASSIGN_OR_RETURN(const auto raw, object.boolean("raw_scores"));
  WEIR_ASSIGN_OR_RETURN(const auto texts, object.boolean("return_text"));
  parsed.raw_scores = raw.value_or(false);
  parsed.return_texts = texts.value_or(false);
  parsed.inputs_field = "texts";
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, object.inputs("texts", {.max_inputs = max_inputs, .allow_ids = false}));
  WEIR_RETURN_IF_ERROR(put_query_before(object, parsed));
  return parsed;
}

Result<ParsedBody> parse_tei_predict(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object, JsonObject::parse(body, {"inputs", "truncate", "truncation_direction",
                                                                          "raw_scores", "parameters"}));
  ParsedBody parsed;
  WEIR_RETURN_IF_ERROR(read_truncation(object, parsed));
  WEIR_ASSIGN_OR_RETURN(const auto raw, object.boolean("raw_scores"));
  parsed.raw_scores = raw.value_or(false);
  WEIR_RETURN_IF_ERROR(read_aggregation(object, parsed));
  parsed.inputs_field = "inputs";
  WEIR_ASSIGN_OR_RETURN(auto pairs, object.pairs("inputs", {.max_inputs = max_inputs, .allow_ids = false}));
  parsed.inputs = std::move(pairs.inputs);
  parsed.is_list = pairs.is_list;
  return parsed;
}

Result<ParsedBody> parse_tei_embed_raw(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object,
                        JsonObject::parse(body, {"inputs", "truncate", "truncation_direction", "prompt_name"}));
  ParsedBody parsed;
  WEIR_RETURN_IF_ERROR(read_truncation(object, parsed));
  WEIR_ASSIGN_OR_RETURN(parsed.options.prompt_name, object.string("prompt_name"));
  parsed.inputs_field = "inputs";
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, object.inputs("inputs", {.max_inputs = max_inputs}));
  return parsed;
}

Result<ParsedBody> parse_tei_similarity(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object, JsonObject::parse(body, {"inputs", "parameters"}));
  WEIR_ASSIGN_OR_RETURN(const auto inputs, object.object("inputs", {"source_sentence", "sentences"}));
  if (!inputs) return Error(ErrorKind::kInvalidArgument, "the field 'inputs' is missing", "inputs");
  ParsedBody parsed;
  WEIR_ASSIGN_OR_RETURN(const auto parameters,
                        object.object("parameters", {"truncate", "truncation_direction", "prompt_name"}));
  if (parameters) {
    WEIR_RETURN_IF_ERROR(read_truncation(*parameters, parsed));
    WEIR_ASSIGN_OR_RETURN(parsed.options.prompt_name, parameters->string("prompt_name"));
  }
  parsed.options.normalize = true;
  parsed.inputs_field = "inputs";
  const InputRules rules{.max_inputs = max_inputs - 1, .allow_ids = false};
  WEIR_ASSIGN_OR_RETURN(const auto source, inputs->string("source_sentence"));
  if (!source || source->empty()) {
    return Error(ErrorKind::kEmptyInput, "'inputs.source_sentence' is missing or empty", "inputs.source_sentence");
  }
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, inputs->inputs("sentences", rules));
  parsed.inputs.insert(parsed.inputs.begin(), Input{*source, {}, false});
  return parsed;
}

Result<ParsedBody> parse_tei_decode(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object, JsonObject::parse(body, {"ids", "skip_special_tokens"}));
  ParsedBody parsed;
  WEIR_ASSIGN_OR_RETURN(const auto skip, object.boolean("skip_special_tokens"));
  parsed.options.skip_special_tokens = skip.value_or(true);
  parsed.inputs_field = "ids";
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, object.inputs("ids", {.max_inputs = max_inputs, .allow_ids = true}));
  for (const Input& input : parsed.inputs) {
    if (!input.is_ids) return Error(ErrorKind::kInvalidArgument, "'ids' must be token ids, but holds a string", "ids");
  }
  return parsed;
}

Result<ParsedBody> parse_cohere_rerank(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object,
                        JsonObject::parse(body, {"model", "query", "documents", "top_n", "return_documents"}));
  ParsedBody parsed;
  WEIR_ASSIGN_OR_RETURN(auto model, object.string("model"));
  parsed.model = std::move(model).value_or("");
  WEIR_ASSIGN_OR_RETURN(parsed.top, object.positive_integer("top_n"));
  WEIR_ASSIGN_OR_RETURN(const auto documents, object.boolean("return_documents"));
  parsed.return_texts = documents.value_or(false);
  parsed.inputs_field = "documents";
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, object.documents("documents", {.max_inputs = max_inputs, .allow_ids = false}));
  WEIR_RETURN_IF_ERROR(put_query_before(object, parsed));
  return parsed;
}

Result<ParsedBody> parse_openai_embeddings(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(
      const JsonObject object,
      JsonObject::parse(body, {"input", "model", "encoding_format", "dimensions", "user", "prompt_name", "truncate"}));
  ParsedBody parsed;
  WEIR_ASSIGN_OR_RETURN(auto model, object.string("model"));
  parsed.model = std::move(model).value_or("");
  WEIR_ASSIGN_OR_RETURN(parsed.encoding, encoding_format(object));
  WEIR_ASSIGN_OR_RETURN(parsed.options.dimensions, object.positive_integer("dimensions"));
  WEIR_ASSIGN_OR_RETURN(parsed.options.prompt_name, object.string("prompt_name"));
  WEIR_ASSIGN_OR_RETURN(parsed.options.truncate, object.boolean("truncate"));
  WEIR_RETURN_IF_ERROR(object.string("user"));
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, object.inputs("input", {.max_inputs = max_inputs}));
  return parsed;
}

Result<ParsedBody> parse_tei_embed(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object, JsonObject::parse(body, {"inputs", "truncate", "truncation_direction",
                                                                          "prompt_name", "normalize", "dimensions"}));
  ParsedBody parsed;
  WEIR_ASSIGN_OR_RETURN(parsed.options.truncate, object.boolean("truncate"));
  WEIR_ASSIGN_OR_RETURN(parsed.options.truncation_side, truncation_direction(object));
  WEIR_ASSIGN_OR_RETURN(parsed.options.prompt_name, object.string("prompt_name"));
  WEIR_ASSIGN_OR_RETURN(const auto normalize, object.boolean("normalize"));
  parsed.options.normalize = normalize.value_or(true);
  WEIR_ASSIGN_OR_RETURN(parsed.options.dimensions, object.positive_integer("dimensions"));
  parsed.inputs_field = "inputs";
  WEIR_ASSIGN_OR_RETURN(parsed.inputs, object.inputs(parsed.inputs_field, {.max_inputs = max_inputs}));
  return parsed;
}

Result<ParsedBody> parse_tei_tokenize(std::string_view body, std::size_t max_inputs) {
  WEIR_ASSIGN_OR_RETURN(const JsonObject object,
                        JsonObject::parse(body, {"inputs", "add_special_tokens", "prompt_name"}));
  ParsedBody parsed;
  WEIR_ASSIGN_OR_RETURN(const auto add_special_tokens, object.boolean("add_special_tokens"));
  parsed.options.add_special_tokens = add_special_tokens.value_or(true);
  WEIR_ASSIGN_OR_RETURN(parsed.options.prompt_name, object.string("prompt_name"));
  parsed.inputs_field = "inputs";
  WEIR_ASSIGN_OR_RETURN(parsed.inputs,
                        object.inputs(parsed.inputs_field, {.max_inputs = max_inputs, .allow_ids = false}));
  return parsed;
}

}  // namespace weir::serve::front::http
