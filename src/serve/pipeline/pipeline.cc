#include "serve/pipeline/pipeline.h"

#include <atomic>
#include <utility>

#include "serve/admission/gate.h"
#include "serve/models/model_set.h"
#include "serve/pipeline/deadlines.h"
#include "serve/pipeline/options.h"
#include "serve/pipeline/pipeline_metrics.h"
#include "serve/pooling/pooling.h"
#include "serve/tokenize/checks.h"
#include "serve/tokenize/tokenize.h"

namespace weir::serve {

/// What the pipeline holds for a request until it is finished.
struct Flight {
  explicit Flight(admission::Gate& gate) : place(gate) {}

  admission::Gate::Place place;
  batch::Batcher::Expected expected;
  models::Model* model = nullptr;  ///< Once found; the pipeline owns it.
  Clock::time_point entered{};     ///< When it came to the gate.
  std::function<void(const RequestPtr&)> client_done;
};

struct Pipeline::Impl {
  Impl(const PipelineOptions& options, std::unique_ptr<models::ModelSet> opened, metrics::Registry& registry);

  // The stages, in order. Each ends in the call of the next, or in finish().
  void submit(const RequestPtr& request);
  Result<models::Model*> accept(const Request& request) const;
  void on_admitted(const RequestPtr& request);
  void on_tokenized(const RequestPtr& request);
  void on_computed(const ModelView& view, const Batch& batch, const Result<HiddenRows>& rows);
  void on_row(const ModelView& view, const Item& item, const Result<HiddenRows>& rows, std::size_t row);
  static std::size_t input_of(const Request& request, std::size_t encoding);
  void join_windows(Request& request) const;
  static Status take_row(const ModelView& view, const Item& item, const HiddenRows& rows, std::size_t row);
  void on_finished(const RequestPtr& request);

  bool stop(Deadline deadline);

  const admission::Options admission_options;
  const WindowPooling window_pooling;
  const std::size_t soon_bytes;  ///< A request larger than this is not waited for by the batch stage.
  std::atomic<bool> stopping{false};
  std::unique_ptr<models::ModelSet> model_set;
  PipelineMetrics metrics;
  Deadlines deadlines;
  admission::Gate gate;
  tokenize::TokenizeStage tokenize_stage;
};

Pipeline::Impl::Impl(const PipelineOptions& options, std::unique_ptr<models::ModelSet> opened,
                     metrics::Registry& registry)
    : admission_options(admission_options_of(options)),
      window_pooling(options.long_text.pooling),
      soon_bytes(tokenize_options_of(options).slice_bytes),
      model_set(std::move(opened)),
      metrics(registry, *model_set),
      deadlines(options.max_wait),
      gate(admission_options),
      tokenize_stage(tokenize_options_of(options), [this](const RequestPtr& request) { on_tokenized(request); }) {
  metrics.watch(gate, admission_options, tokenize_stage, *model_set);
  models::BatchHooks hooks;
  hooks.taken = [this](const ModelView& view, const Batch& batch) { metrics.batch_taken(view, batch); };
  hooks.computed = [this](const ModelView& view, const Batch& batch, const Result<HiddenRows>& rows) {
    on_computed(view, batch, rows);
  };
  model_set->start_loading(registry, std::move(hooks));
}

// ---- a request, from submit to done --------------------------------------------------------------------------------

void Pipeline::Impl::submit(const RequestPtr& request) {
  if (request->arrived == Clock::time_point{}) request->arrived = Clock::now();
  request->flight = std::make_shared<Flight>(gate);
  request->flight->client_done = std::exchange(request->done, [this](const RequestPtr& r) { on_finished(r); });

  const auto model = accept(*request);
  if (!model.ok()) {
    finish(request, model.error());
    return;
  }
  request->flight->model = *model;
  request->view = (*model)->view();
  request->stage = Stage::kAdmission;
  if (!deadlines.add(request)) {
    finish(request, Error(ErrorKind::kUnavailable, "the server is stopping"));
    return;
  }
  request->flight->entered = Clock::now();
  Status entered = gate.enter(request->flight->place, [this, request] { on_admitted(request); });
  if (!entered.ok()) finish(request, entered.error());
}

/// The model that the request is for, if it can be served now.
Result<models::Model*> Pipeline::Impl::accept(const Request& request) const {
  if (stopping) return Error(ErrorKind::kUnavailable, "the server is stopping");
  if (request.deadline.expired()) return Error(ErrorKind::kTimeout, "the request's deadline passed on its way here");
  WEIR_ASSIGN_OR_RETURN(models::Model * model, model_set->find_ready(request.model));
  if (computes(request.task)) {
    WEIR_RETURN_IF_ERROR(check_task(request.task, *model->view()));
    WEIR_RETURN_IF_ERROR(pooling::rule_for(request.options, model->view()->manifest));
  }
  return model;
}

void Pipeline::Impl::on_admitted(const RequestPtr& request) {
  request->admitted = Clock::now();
  request->timings.waiting = request->admitted - request->flight->entered;
  request->stage = Stage::kTokenize;
  std::size_t bytes = 0;
  for (const Input& input : request->inputs) bytes += input.bytes();
  if (computes(request->task) && bytes <= soon_bytes) {
    request->flight->expected.begin(request->flight->model->batcher());
  }
  tokenize_stage.submit(request);
}

void Pipeline::Impl::on_tokenized(const RequestPtr& request) {
  if (!computes(request->task)) {
    finish(request);
    return;
  }
  request->dimensions = request->options.dimensions.value_or(request->view->manifest.dimensions);
  if (is_per_token(request->task, request->view->manifest)) {
    request->token_rows.resize(request->inputs.size());
  } else {
    request->vectors.resize(request->encodings.size() * request->dimensions);
  }
  request->remaining = request->encodings.size();
  request->stage = Stage::kBatch;
  Flight& flight = *request->flight;
  const Status queued = flight.model->batcher().add(request);
  flight.expected.end();
  if (!queued.ok()) finish(request, queued.error());
}

// Between the two the engine's instances take batches from the model's batcher.

void Pipeline::Impl::on_computed(const ModelView& view, const Batch& batch, const Result<HiddenRows>& rows) {
  for (std::size_t row = 0; row < batch.size(); ++row) on_row(view, batch[row], rows, row);
}

void Pipeline::Impl::on_row(const ModelView& view, const Item& item, const Result<HiddenRows>& rows, std::size_t row) {
  const RequestPtr& request = item.request;
  if (request->is_finished()) return;
  if (!rows.ok()) {
    finish(request, rows.error());
    return;
  }
  Status pooled = take_row(view, item, *rows, row);
  if (!pooled.ok()) {
    finish(request, Error(pooled.error().kind, tokenize::input_name(*request, input_of(*request, item.index)) + ": " +
                                                   pooled.error().message));
    return;
  }
  if (request->remaining.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (!request->input_of.empty()) join_windows(*request);
  const Clock::duration began(request->first_batch_ns.load(std::memory_order_acquire));
  request->timings.inference = Clock::now().time_since_epoch() - began;
  finish(request);
}

std::size_t Pipeline::Impl::input_of(const Request& request, std::size_t encoding) {
  return request.input_of.empty() ? encoding : request.input_of[encoding];
}

/// The vectors of each input's windows to one, in the windows' order.
void Pipeline::Impl::join_windows(Request& request) const {
  const std::size_t width = request.dimensions;
  const auto rule = pooling::rule_for(request.options, request.view->manifest);
  pooling::WindowJoiner joiner(request.task == Task::kSparse ? WindowPooling::kMax : window_pooling, width);
  std::vector<float> joined(request.inputs.size() * width);
  for (std::size_t input = 0; input < request.inputs.size(); ++input) {
    const auto row = [&](std::size_t encoding) { return std::span(request.vectors).subspan(encoding * width, width); };
    joiner.begin(row(input), request.encodings[input].ids.size());
    for (std::size_t i = request.inputs.size(); i < request.encodings.size(); ++i) {
      if (request.input_of[i] == input) joiner.add(row(i), request.encodings[i].ids.size());
    }
    joiner.finish(rule.ok() && rule->normalize, std::span(joined).subspan(input * width, width));
  }
  request.vectors = std::move(joined);
}

Status Pipeline::Impl::take_row(const ModelView& view, const Item& item, const HiddenRows& rows, std::size_t row) {
  Request& request = *item.request;
  WEIR_ASSIGN_OR_RETURN(pooling::Rule rule, pooling::rule_for(request.options, view.manifest));
  if (!request.input_of.empty()) rule.normalize = false;  // Once the windows are one.
  if (is_per_token(request.task, view.manifest)) {
    const bool of_query = is_query(request, request.inputs[item.index]);
    const pooling::TokenColumns columns = pooling::columns_for(request.task, view.manifest, of_query);
    return pooling::token_rows(rows, row, item.encoding().ids, columns, request.token_rows[item.index]);
  }
  const std::span<float> vector(request.vectors.data() + item.index * request.dimensions, request.dimensions);
  return pooling::pool_row(rows, row, item.tokens(), rule, vector);
}

/// What every request comes to, by whoever called finish(). The permit is free before the client knows.
void Pipeline::Impl::on_finished(const RequestPtr& request) {
  Flight& flight = *request->flight;
  flight.place.leave();
  flight.expected.end();
  const bool queued = request->stage.load() >= Stage::kBatch;
  if (request->error && queued) flight.model->batcher().drop_finished();
  metrics.finished(*request);
  const auto client_done = std::exchange(flight.client_done, nullptr);
  if (client_done) client_done(request);
  deadlines.remove(request);
}

bool Pipeline::Impl::stop(Deadline deadline) {
  stopping = true;
  deadlines.close();
  const bool clean = deadlines.wait_empty(deadline);
  for (const RequestPtr& request : deadlines.requests()) {
    finish(request, Error(ErrorKind::kUnavailable, "the server stopped before the request was done"));
  }
  deadlines.wait_empty(Deadline());
  tokenize_stage.stop();
  model_set->close();
  metrics.unwatch();
  return clean;
}

// ---- the interface -------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Pipeline>> Pipeline::start(const PipelineOptions& options, metrics::Registry& registry) {
  WEIR_RETURN_IF_ERROR(check_options(options));
  WEIR_ASSIGN_OR_RETURN(auto models, models::ModelSet::open(options.models, model_options_of(options)));
  return std::unique_ptr<Pipeline>(new Pipeline(std::make_unique<Impl>(options, std::move(models), registry)));
}

Pipeline::Pipeline(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Pipeline::~Pipeline() { stop(Deadline(Clock::now())); }

void Pipeline::submit(const RequestPtr& request) { impl_->submit(request); }

void Pipeline::cancel(const RequestPtr& request) {
  finish(request, Error(ErrorKind::kCancelled, "the client went away"));
}

Load Pipeline::load() const {
  const admission::Numbers numbers = impl_->gate.numbers();
  return {numbers.concurrency, numbers.waiting, numbers.retry_after_s};
}

bool Pipeline::ready() const { return !impl_->stopping && impl_->model_set->all_ready(); }

ModelState Pipeline::state(const std::string& model) const {
  const auto found = impl_->model_set->find(model);
  return found.ok() ? (*found)->state() : ModelState::kFailed;
}

Status Pipeline::wait_loaded() { return impl_->model_set->wait_loaded(); }

std::vector<ModelViewPtr> Pipeline::models() const {
  std::vector<ModelViewPtr> views;
  for (const auto& model : impl_->model_set->models()) views.push_back(model->view());
  return views;
}

Result<ModelViewPtr> Pipeline::find(const std::string& model) const {
  WEIR_ASSIGN_OR_RETURN(models::Model * found, impl_->model_set->find(model));
  return found->view();
}

bool Pipeline::stop(Deadline deadline) { return impl_->stop(deadline); }

}  // namespace weir::serve
