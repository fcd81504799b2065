#include "loadgen/dialects/dialect.h"

#include <utility>

#include <simdjson.h>

#include "bundle/json_writer.h"

namespace weir::loadgen {
namespace {

struct Row {
  Dialect dialect;
  std::string_view name;
  std::string_view path;
};

constexpr Row kDialects[] = {
    {Dialect::kOpenAi, "openai", "/v1/embeddings"},
    {Dialect::kTei, "tei", "/embed"},
    {Dialect::kOip, "oip", "/v2/models/"},
    {Dialect::kOipGrpc, "oip-grpc", ""},
};

const Row& row_of(Dialect dialect) { return kDialects[static_cast<std::size_t>(dialect)]; }

std::string json_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ',';
    append_json_string(list, text);
  }
  return list + "]";
}

/// A single text stands alone, as most clients send it.
std::string text_or_list(const std::vector<std::string>& texts) {
  if (texts.size() != 1) return json_list(texts);
  std::string text;
  append_json_string(text, texts[0]);
  return text;
}

bool is_vector(simdjson::dom::element element) {
  if (element.is_string()) return !element.get_string().value_unsafe().empty();  // base64
  simdjson::dom::array numbers;
  if (element.get_array().get(numbers) != simdjson::SUCCESS || numbers.size() == 0) return false;
  return (*numbers.begin()).is_number();
}

bool is_openai_answer(simdjson::dom::element root, std::size_t texts) {
  simdjson::dom::array data;
  if (root["data"].get_array().get(data) != simdjson::SUCCESS || data.size() != texts) return false;
  for (const simdjson::dom::element entry : data) {
    simdjson::dom::element vector;
    if (entry["embedding"].get(vector) != simdjson::SUCCESS || !is_vector(vector)) return false;
  }
  return true;
}

bool is_tei_answer(simdjson::dom::element root, std::size_t texts) {
  simdjson::dom::array vectors;
  if (root.get_array().get(vectors) != simdjson::SUCCESS || vectors.size() != texts) return false;
  for (const simdjson::dom::element vector : vectors) {
    if (!is_vector(vector)) return false;
  }
  return true;
}

bool is_oip_answer(simdjson::dom::element root, std::size_t texts) {
  simdjson::dom::array outputs;
  if (root["outputs"].get_array().get(outputs) != simdjson::SUCCESS || outputs.size() == 0) return false;
  simdjson::dom::array shape;
  const simdjson::dom::element output = *outputs.begin();
  if (output["shape"].get_array().get(shape) != simdjson::SUCCESS || shape.size() == 0) return false;
  std::uint64_t rows = 0;
  return (*shape.begin()).get_uint64().get(rows) == simdjson::SUCCESS && rows == texts;
}

}  // namespace

std::optional<Dialect> dialect_from_name(std::string_view name) {
  for (const Row& row : kDialects) {
    if (row.name == name) return row.dialect;
  }
  return std::nullopt;
}

std::string_view dialect_name(Dialect dialect) { return row_of(dialect).name; }

std::string request_body(const DialectOptions& options, const std::vector<std::string>& texts) {
  std::string body;
  if (options.dialect == Dialect::kOpenAi) {
    body = "{\"model\":";
    append_json_string(body, options.model);
    return body + ",\"input\":" + text_or_list(texts) + "}";
  }
  if (options.dialect == Dialect::kTei) return "{\"inputs\":" + text_or_list(texts) + "}";
  body = "{\"inputs\":[{\"name\":";
  append_json_string(body, options.input_name);
  const std::string count = std::to_string(texts.size());
  return body + ",\"shape\":[" + count + "],\"datatype\":\"BYTES\",\"data\":" + json_list(texts) + "}]}";
}

bool is_answer(Dialect dialect, std::string_view body, const RequestSize& request, bool thoroughly) {
  while (!body.empty() && (body.back() == '\n' || body.back() == ' ')) body.remove_suffix(1);
  const bool is_list = dialect == Dialect::kTei;
  if (!body.starts_with(is_list ? '[' : '{') || !body.ends_with(is_list ? ']' : '}')) return false;
  if (!is_list && body.find(dialect == Dialect::kOpenAi ? "\"embedding\"" : "\"outputs\"") == std::string_view::npos) {
    return false;
  }
  if (!thoroughly) return true;
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) return false;
  if (dialect == Dialect::kOpenAi) return is_openai_answer(root, request.texts);
  return is_list ? is_tei_answer(root, request.texts) : is_oip_answer(root, request.texts);
}

HttpRequests http_requests(const DialectOptions& options, Url url, const Workload& workload) {
  HttpRequests requests;
  if (url.path.empty()) {
    url.path = row_of(options.dialect).path;
    if (options.dialect == Dialect::kOip) url.path += options.model + "/infer";
  }
  requests.description = std::string(dialect_name(options.dialect)) + " http://" + url.authority() + url.path;
  requests.url = std::move(url);
  if (!options.api_key.empty()) requests.headers.push_back("Authorization: Bearer " + options.api_key);
  for (const auto& texts : workload.requests) requests.bodies.push_back(request_body(options, texts));
  requests.sizes = workload.sizes;
  requests.check = [dialect = options.dialect](std::string_view body, const RequestSize& request, bool thoroughly) {
    return is_answer(dialect, body, request, thoroughly);
  };
  return requests;
}

}  // namespace weir::loadgen
