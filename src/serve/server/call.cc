#include "serve/server/call.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/front/http/request_headers.h"
#include "serve/request/late_interaction.h"
#include "serve/server/render.h"

namespace weir::serve::server {

using front::http::Exchange;
using front::http::ParsedBody;
using front::http::Response;

namespace {

// About a millisecond of work on a network thread; what is larger goes to the workers.
constexpr std::size_t kLargeBodyBytes = 256u << 10;
constexpr std::size_t kLargeAnswerFloats = 16u << 10;

struct ActionRow {
  Action action;
  Task task;
  Result<ParsedBody> (*parse)(std::string_view body, std::size_t max_inputs);
};

constexpr ActionRow kActions[] = {
    {Action::kOpenAiEmbeddings, Task::kEmbed, front::http::parse_openai_embeddings},
    {Action::kTeiEmbed, Task::kEmbed, front::http::parse_tei_embed},
    {Action::kTeiEmbedAll, Task::kTokenVectors, front::http::parse_tei_embed_raw},
    {Action::kTeiEmbedSparse, Task::kSparse, front::http::parse_tei_embed_raw},
    {Action::kTeiRerank, Task::kRerank, front::http::parse_tei_rerank},
    {Action::kCohereRerank, Task::kRerank, front::http::parse_cohere_rerank},
    {Action::kTeiPredict, Task::kClassify, front::http::parse_tei_predict},
    {Action::kTeiSimilarity, Task::kEmbed, front::http::parse_tei_similarity},
    {Action::kTeiDecode, Task::kDecode, front::http::parse_tei_decode},
    {Action::kTeiTokenize, Task::kTokenize, front::http::parse_tei_tokenize},
};

Result<ActionRow> row_of(Action action) {
  for (const ActionRow& row : kActions) {
    if (row.action == action) return row;
  }
  return Error(ErrorKind::kInternal, "the route takes no body");
}

std::string milliseconds(Clock::duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::size_t characters(const std::vector<Input>& inputs) {
  std::size_t count = 0;
  for (const Input& input : inputs) {
    const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    for (const std::string& text : {input.text, input.pair.value_or("")}) {
      count += static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts));
    }
    count += input.ids.size();
  }
  return count;
}

}  // namespace

Call::Call(Service& service, std::shared_ptr<Exchange> exchange, const Route& route)
    : service_(service), exchange_(std::move(exchange)), route_(route), request_(std::make_shared<Request>()) {}

void Call::start(Service& service, const std::shared_ptr<Exchange>& exchange, const Route& route) {
  const auto call = std::make_shared<Call>(service, exchange, route);
  exchange->set_on_abandoned([call] { call->abandon(); });
  if (exchange->body.size() < kLargeBodyBytes) {
    call->parse_and_submit();
  } else {
    service.workers().run([call] { call->parse_and_submit(); });
  }
}

void Call::parse_and_submit() {
  if (const Status prepared = prepare(); !prepared.ok()) {
    respond_error(prepared.error());
  } else if (abandoned_) {
    respond_error(Error(ErrorKind::kCancelled, "the client closed the connection"));
  } else {
    submit();
  }
}

Status Call::prepare() {
  const auto& options = service_.options();
  WEIR_ASSIGN_OR_RETURN(const auto timeout, front::http::request_timeout(exchange_->head));
  const std::string body = std::move(exchange_->body);  // Freed once parsed.
  WEIR_ASSIGN_OR_RETURN(const ActionRow row, row_of(route_.action));
  WEIR_ASSIGN_OR_RETURN(form_, row.parse(body, options.pipeline.max_inputs));
  auto found = service_.backend().find(form_.model);
  if (!found.ok()) return Error(found.error().kind, found.error().message, "model");
  view_ = std::move(found).value();

  // One route for what labels texts and what labels tokens.
  const bool labels_tokens = row.task == Task::kClassify && view_->manifest.task == bundle::Task::kTokenClassify;
  const bool ranks_late = row.task == Task::kRerank && interacts_late(view_->manifest);
  request_->task = labels_tokens ? Task::kTokenLabels : ranks_late ? Task::kTokenVectors : row.task;
  request_->id = exchange_->request_id;
  request_->model = form_.model;
  request_->inputs = std::move(form_.inputs);
  if (ranks_late) part_from_query(request_->inputs);
  request_->inputs_field = form_.inputs_field;
  request_->options = std::move(form_.options);
  request_->arrived = exchange_->head.arrived;
  const Clock::duration wait = timeout ? std::min<Clock::duration>(*timeout, options.max_wait) : options.max_wait;
  request_->deadline = Deadline::after(wait, request_->arrived);
  return {};
}

// The client may go at any moment, and the pipeline only cancels what was submitted. Whichever of submit() and
// abandon() comes second sees what the other has set, and cancels; both may, which does no harm.
void Call::submit() {
  request_->done = [call = shared_from_this()](const RequestPtr&) { call->on_done(); };
  service_.backend().submit(request_);
  submitted_ = true;
  if (abandoned_) service_.backend().cancel(request_);
}

void Call::abandon() {
  abandoned_ = true;
  if (submitted_) service_.backend().cancel(request_);
}

void Call::on_done() {
  const bool large = !request_->error && (!computes(request_->task) || !request_->token_rows.empty() ||
                                          request_->vectors.size() > kLargeAnswerFloats);
  if (large) {
    service_.workers().run([call = shared_from_this()] { call->answer(); });
  } else {
    exchange_->post([call = shared_from_this()] { call->answer(); });
  }
}

void Call::answer() {
  if (request_->error) {
    respond_error(*request_->error);
    return;
  }
  Response response = render();
  if (exchange_->has_room_for(response.body.size())) {
    exchange_->respond(service_.finish(*exchange_, std::move(response), outcome()));
  } else {
    respond_error(Error(ErrorKind::kOverloaded, "too many large answers wait for clients that do not read them"));
  }
}

void Call::respond_error(const Error& error) {
  exchange_->respond(service_.error_response(*exchange_, error, outcome()));
}

Outcome Call::outcome() const {
  Outcome outcome;
  outcome.route = &route_;
  outcome.texts = request_->inputs.size();
  if (view_) outcome.model = view_->name;
  // A request that failed may still be written to by a stage.
  if (request_->is_finished() && !request_->error) outcome.tokens = request_->tokens;
  return outcome;
}

Response Call::render() const {
  Response response;
  response.content_type = "application/json";
  response.body = render_body({*request_, request_->view ? *request_->view : *view_, form_, route_});
  if (route_.dialect == respond::Dialect::kTei) add_tei_fields(response);
  return response;
}

void Call::add_tei_fields(Response& response) const {
  const Timings& timings = request_->timings;
  const std::string total = milliseconds(Clock::now() - request_->arrived);
  auto& fields = response.fields;
  fields.emplace_back("x-compute-type", "cpu");
  fields.emplace_back("x-compute-time", total);
  fields.emplace_back("x-total-time", total);
  fields.emplace_back("x-tokenization-time", milliseconds(timings.tokenize));
  fields.emplace_back("x-queue-time", milliseconds(timings.waiting + timings.queue));
  fields.emplace_back("x-inference-time", milliseconds(timings.inference));
  fields.emplace_back("x-compute-tokens", std::to_string(request_->tokens));
  fields.emplace_back("x-compute-characters", std::to_string(characters(request_->inputs)));
}

}  // namespace weir::serve::server
