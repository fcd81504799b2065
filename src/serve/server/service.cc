#include "serve/server/service.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/log.h"
#include "base/utf8.h"
#include "bundle/bundle.h"
#include "serve/front/http/request_headers.h"
#include "serve/front/http/request_target.h"
#include "serve/respond/openai.h"
#include "serve/respond/tei.h"
#include "serve/server/call.h"

namespace weir::serve::server {

using front::http::Exchange;
using front::http::Response;

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

Response json(std::string body, int status = 200) {
  Response response;
  response.status = status;
  response.content_type = kJson;
  response.body = std::move(body);
  return response;
}

std::string_view state_name(ModelState state) {
  switch (state) {
    case ModelState::kLoading:
      return "loading";
    case ModelState::kReady:
      return "ready";
    case ModelState::kFailed:
      return "failed";
  }
  return "failed";
}

respond::Dialect dialect_of(const Route* route) {
  return route != nullptr ? route->dialect : respond::Dialect::kOpenAi;
}

/// What a client sent, in a message or a log line: no longer than somebody wants to read.
std::string shown(std::string_view sent) { return std::string(cut_utf8(sent, 100)); }

Error no_such_route(const Exchange& exchange) {
  return {ErrorKind::kNotFound, "there is no route " + shown(exchange.head.path) + "; there are " + list_of_routes()};
}

Error wrong_method(const Exchange& exchange, const Route& route) {
  return {ErrorKind::kMethodNotAllowed, std::string(route.path) + " does not take " + shown(exchange.head.method) +
                                            "; it takes " + std::string(route.allow())};
}

}  // namespace

Service::Service(const ServerOptions& options, Backend& backend, metrics::Registry& registry)
    : options_(options), backend_(backend), registry_(registry), metrics_(registry), workers_(options.worker_threads) {}

std::optional<Response> Service::on_head(Exchange& exchange) {
  exchange.request_id = front::http::request_id(exchange.head);
  const Route* const route = find_route(exchange.head.path);
  Outcome outcome;
  outcome.route = route;

  const bool needs_key = !options_.api_keys.empty() && (route == nullptr || route->needs_key);
  if (needs_key && !front::http::has_valid_key(exchange.head, options_.api_keys)) {
    const Error error(ErrorKind::kUnauthorized, "a valid key is needed: send 'Authorization: Bearer KEY'");
    return error_response(exchange, error, outcome);
  }
  if (exchange.head.method == "OPTIONS" && (route != nullptr || exchange.head.path == "*")) {
    Response response;
    response.status = 204;
    response.fields.emplace_back("Allow", route != nullptr ? route->allow() : "GET, HEAD, POST, OPTIONS");
    return finish(exchange, std::move(response), outcome);
  }
  if (route == nullptr) return error_response(exchange, no_such_route(exchange), outcome);
  if (!route->allows(exchange.head.method)) return error_response(exchange, wrong_method(exchange, *route), outcome);
  if (route->method == "POST") {
    if (const Status type = front::http::check_json_media_type(exchange.head); !type.ok()) {
      return error_response(exchange, type.error(), outcome);
    }
  }
  return std::nullopt;
}

void Service::on_request(const std::shared_ptr<Exchange>& exchange) {
  const Route& route = *find_route(exchange->head.path);  // on_head has let only known ones pass.
  if (route.method == "POST") {
    Call::start(*this, exchange, route);
  } else {
    exchange->respond(answer_now(*exchange, route));
  }
}

Response Service::on_refused(Exchange& exchange, const Error& error) {
  if (exchange.request_id.empty()) exchange.request_id = front::http::request_id(exchange.head);
  Outcome outcome;
  outcome.route = find_route(exchange.head.path);
  return error_response(exchange, error, outcome);
}

Response Service::answer_now(const Exchange& exchange, const Route& route) {
  Outcome outcome;
  outcome.route = &route;
  Response response;
  switch (route.action) {
    case Action::kLive:
      response = json(R"({"status":"live"})");
      break;
    case Action::kHealth:
    case Action::kReady:
      response = health();
      break;
    case Action::kTeiInfo:
      response = info();
      break;
    case Action::kOpenAiModels:
      response = models();
      break;
    case Action::kMetrics:
      response.content_type = kPrometheusText;
      response.body = registry_.text();
      break;
    default: {
      auto found = model(path_parameter(route, exchange.head.path));
      if (!found.ok()) return error_response(exchange, found.error(), outcome);
      response = std::move(found).value();
    }
  }
  return finish(exchange, std::move(response), outcome);
}

Response Service::health() {
  const bool draining = draining_;
  const bool ready = !draining && backend_.ready();
  std::string body = R"({"status":)";
  append_json_string(body, ready ? "ready" : draining ? "draining" : "loading");
  body.append(R"(,"models":[)");
  bool first = true;
  bool failed = false;
  for (const ModelViewPtr& view : backend_.models()) {
    const ModelState state = backend_.state(view->name);
    failed |= state == ModelState::kFailed;
    body.append(std::exchange(first, false) ? R"({"name":)" : R"(,{"name":)");
    append_json_string(body, view->name);
    body.append(R"(,"state":)");
    append_json_string(body, state_name(state));
    body.push_back('}');
  }
  body.push_back(']');
  if (!ready) {
    body.append(R"(,"reason":)");
    append_json_string(body, draining ? "the server is shutting down"
                             : failed ? "a model could not be loaded; the log says why"
                                      : "not every model is loaded, warmed up and tested yet");
  }
  return json(body.append("}"), ready ? 200 : 503);
}

namespace {

/// TEI's words: what makes sparse vectors is an embedding model whose pooling is "splade".
void describe_task(const bundle::Manifest& manifest, respond::Info& info) {
  const bool is_multi_vector = manifest.task == bundle::Task::kMultiVector;
  const bool is_embedding =
      manifest.task == bundle::Task::kEmbedding || manifest.task == bundle::Task::kSparse || is_multi_vector;
  const bool is_reranker = manifest.task == bundle::Task::kRerank;
  info.model_type = is_embedding ? "embedding" : is_reranker ? "reranker" : "classifier";
  info.pooling =
      manifest.task == bundle::Task::kSparse ? "splade" : std::string(bundle::pooling_name(manifest.pooling));
  if (is_multi_vector) info.pooling = "none";
  info.labels = manifest.labels;
  if (is_reranker) info.labels = {"LABEL_0"};
}

}  // namespace

Response Service::info() {
  const PipelineOptions& pipeline = options_.pipeline;
  respond::Info info;
  if (const auto found = backend_.find(""); found.ok()) {
    const ModelView& view = **found;
    info.model_id = view.name;
    info.model_dtype = view.manifest.precision;
    describe_task(view.manifest, info);
    info.max_input_length = view.max_tokens;
    for (const auto& source : view.manifest.lineage.sources) {
      if (source.file.ends_with(".safetensors") || source.file.ends_with(".onnx")) info.model_sha = source.sha256;
    }
  }
  info.max_concurrent_requests = pipeline.permits;
  info.max_batch_tokens = pipeline.max_batch_tokens;
  info.max_batch_requests = pipeline.max_batch_requests;
  info.max_client_batch_size = pipeline.max_inputs;
  info.auto_truncate = pipeline.long_text.what != LongText::kReject;
  info.tokenization_workers = static_cast<std::size_t>(pipeline.tokenize_threads);
  info.version = options_.version;
  return json(respond::tei_info(info));
}

Response Service::models() {
  std::vector<respond::ModelCard> cards;
  for (const ModelViewPtr& view : backend_.models()) cards.push_back({view->name, view->created_unix_s});
  return json(respond::openai_models(cards));
}

Result<Response> Service::model(std::string_view id) {
  const auto name = front::http::percent_decode(id);
  if (!name) return Error(ErrorKind::kInvalidArgument, "the model's name in the path has a bad '%' escape", "model");
  auto found = backend_.find(*name);
  if (!found.ok()) return Error(found.error().kind, found.error().message, "model");
  return json(respond::openai_model({(*found)->name, (*found)->created_unix_s}));
}

Response Service::error_response(const Exchange& exchange, const Error& error, Outcome outcome) {
  const respond::Dialect dialect = dialect_of(outcome.route);
  Response response =
      json(respond::error_body(error, dialect), respond::http_status(error.kind, dialect, options_.errors));
  if (error.kind == ErrorKind::kUnauthorized) response.fields.emplace_back("WWW-Authenticate", "Bearer");
  if (error.kind == ErrorKind::kMethodNotAllowed && outcome.route != nullptr) {
    response.fields.emplace_back("Allow", outcome.route->allow());
  }
  response.overloaded = error.kind == ErrorKind::kOverloaded;
  outcome.error = error_kind_name(error.kind);
  return finish(exchange, std::move(response), outcome);
}

Response Service::finish(const Exchange& exchange, Response response, const Outcome& outcome) {
  const Load load = backend_.load();
  response.fields.emplace_back(front::http::kRequestIdField, exchange.request_id);
  response.fields.emplace_back("X-Current-Concurrency", std::to_string(load.concurrency));
  response.fields.emplace_back("X-Waiting-Queue-Size", std::to_string(load.waiting));
  if (respond::passes(response.status)) {
    response.fields.emplace_back("Retry-After", std::to_string(load.retry_after_s));
  }
  const std::chrono::duration<double> duration = Clock::now() - exchange.head.arrived;
  metrics_.observe(outcome.route, response.status, duration.count());
  log(exchange, response, outcome, duration.count() * 1000);
  return response;
}

void Service::log(const Exchange& exchange, const Response& response, const Outcome& outcome,
                  double duration_ms) const {
  const bool routine = outcome.route != nullptr && outcome.route->routine;
  if (!log::enabled(routine ? log::Level::kDebug : log::Level::kInfo)) return;
  const std::string_view route = outcome.route != nullptr ? outcome.route->path : "other";
  const auto write = routine ? log::debug : log::info;
  write("request", {{"request_id", exchange.request_id},
                    {"peer", exchange.head.peer},
                    {"method", shown(exchange.head.method)},
                    {"route", route},
                    {"status", response.status},
                    {"duration_ms", duration_ms},
                    {"texts", outcome.texts},
                    {"tokens", outcome.tokens},
                    {"model", outcome.model},
                    {"error", outcome.error}});
}

}  // namespace weir::serve::server
