#include "serve/front/http/dialects.h"

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

}  // namespace

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
