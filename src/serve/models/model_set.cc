#include "serve/models/model_set.h"

#include <utility>

#include "base/log.h"
#include "base/utf8.h"

namespace weir::serve::models {
namespace {

constexpr std::size_t kShownNameBytes = 100;  // Of what a client sent.

}  // namespace

Result<std::unique_ptr<ModelSet>> ModelSet::open(const std::vector<ModelSource>& sources, const ModelOptions& options) {
  if (sources.empty()) return Error(ErrorKind::kInvalidArgument, "no model is given", "--model");
  std::unique_ptr<ModelSet> set(new ModelSet());
  for (const ModelSource& source : sources) {
    WEIR_ASSIGN_OR_RETURN(auto model, Model::open(source, options));
    const std::string& name = model->view()->name;
    if (set->find(name).ok()) {
      return Error(ErrorKind::kInvalidArgument, "two models are named '" + name + "'; give one of them another name",
                   "--model");
    }
    set->models_.push_back(std::move(model));
  }
  return set;
}

void ModelSet::start_loading(metrics::Registry& registry, BatchHooks hooks) {
  loading_ = true;
  loader_ = std::thread([this, &registry, hooks = std::move(hooks)] { load_all(registry, hooks); });
}

void ModelSet::load_all(metrics::Registry& registry, const BatchHooks& hooks) {
  for (const auto& model : models_) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
    }
    const std::string name = model->view()->name;
    const auto start = Clock::now();
    const Status status = model->load(registry, hooks);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (status.ok()) {
      log::info("model is ready", {{"model", name}, {"duration_s", seconds}});
    } else {
      log::error("model cannot be served", {{"model", name}, {"reason", status.error().message}});
    }
  }
  const std::lock_guard lock(mutex_);
  loading_ = false;
  loaded_.notify_all();
}

Status ModelSet::wait_loaded() {
  {
    std::unique_lock lock(mutex_);
    loaded_.wait(lock, [this] { return !loading_; });
  }
  for (const auto& model : models_) WEIR_RETURN_IF_ERROR(model->failure());
  return {};
}

void ModelSet::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  if (loader_.joinable()) loader_.join();
  for (const auto& model : models_) model->close();
}

Result<Model*> ModelSet::find(const std::string& name) const {
  std::string known;
  for (const auto& model : models_) {
    const ModelViewPtr view = model->view();
    if (name.empty() || view->name == name) return model.get();
    known += (known.empty() ? "'" : ", '") + view->name + "'";
  }
  return Error(ErrorKind::kNotFound,
               "there is no model '" + std::string(cut_utf8(name, kShownNameBytes)) + "'; there is: " + known, "model");
}

Result<Model*> ModelSet::find_ready(const std::string& name) const {
  WEIR_ASSIGN_OR_RETURN(Model * model, find(name));
  const std::string shown = "model '" + model->view()->name + "' ";
  switch (model->state()) {
    case ModelState::kReady:
      return model;
    case ModelState::kLoading:
      return Error(ErrorKind::kUnavailable, shown + "is being loaded; try again soon", "model");
    case ModelState::kFailed:
      break;
  }
  const Status failure = model->failure();
  const std::string reason = failure.ok() ? "it was closed" : failure.error().message;
  return Error(ErrorKind::kUnavailable, shown + "cannot be served: " + reason, "model");
}

bool ModelSet::all_ready() const {
  for (const auto& model : models_) {
    if (model->state() != ModelState::kReady) return false;
  }
  return true;
}

}  // namespace weir::serve::models
