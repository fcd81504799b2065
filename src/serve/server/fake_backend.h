// A pipeline without models, for tests: answers at once, fails, or holds requests until it is told.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/server/backend.h"

namespace weir::serve::server {

/// What a test sees and sets, shared with the backend that the server owns.
class FakePipeline {
 public:
  enum class Mode { kAnswer, kHold, kFail };

  void set_mode(Mode mode) {
    set([&] { mode_ = mode; });
  }
  void set_failure(Error error) {
    set([&] {
      failure_ = std::move(error);
      mode_ = Mode::kFail;
    });
  }
  void set_load(Load load) {
    set([&] { load_ = load; });
  }
  void set_state(ModelState state) {
    set([&] { state_ = state; });
  }

  bool wait_held(std::size_t count) {
    return wait([&] { return held_.size() >= count; });
  }
  bool wait_cancelled(int count) {
    return wait([&] { return cancelled_ >= count; });
  }

  /// Answers what is held, on the caller's thread.
  void release_all() {
    std::vector<RequestPtr> requests;
    set([&] { requests.swap(held_); });
    for (const RequestPtr& request : requests) answer(request);
  }

  /// The last request that came.
  RequestPtr last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  void submit(const RequestPtr& request) {
    Mode mode = Mode::kAnswer;
    Error failure;
    set([&] {
      last_ = request;
      mode = mode_;
      failure = failure_;
      if (mode == Mode::kHold) held_.push_back(request);
    });
    if (mode == Mode::kAnswer) answer(request);
    if (mode == Mode::kFail) finish(request, failure);
  }

  void cancel(const RequestPtr& request) {
    if (finish(request, Error(ErrorKind::kCancelled, "the client is gone"))) set([&] { ++cancelled_; });
  }

  void cut_off() {
    std::vector<RequestPtr> requests;
    set([&] { requests.swap(held_); });
    for (const RequestPtr& request : requests) finish(request, Error(ErrorKind::kUnavailable, "the server stops"));
  }

  Load load() {
    const std::lock_guard lock(mutex_);
    return load_;
  }
  ModelState state() {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  /// Row i of the answer is {i + 1, 0.5, bytes of the input}.
  static void answer(const RequestPtr& request) {
    request->dimensions = 3;
    for (std::size_t i = 0; i < request->inputs.size(); ++i) {
      const float row[] = {static_cast<float>(i + 1), 0.5f, static_cast<float>(request->inputs[i].bytes())};
      request->vectors.insert(request->vectors.end(), std::begin(row), std::end(row));
    }
    request->tokens = 7 * request->inputs.size();
    request->timings.waiting = std::chrono::milliseconds(2);
    request->timings.queue = std::chrono::milliseconds(3);
    request->timings.tokenize = std::chrono::milliseconds(4);
    request->timings.inference = std::chrono::milliseconds(5);
    finish(request);
  }

 private:
  template <class Change>
  void set(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <class Predicate>
  bool wait(Predicate predicate) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), predicate);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Mode mode_ = Mode::kAnswer;
  Error failure_;
  Load load_;
  ModelState state_ = ModelState::kReady;
  std::vector<RequestPtr> held_;
  RequestPtr last_;
  int cancelled_ = 0;
};

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(FakePipeline& pipeline) : pipeline_(pipeline), view_(std::make_shared<ModelView>()) {
    view_->name = "org/tiny";
    view_->max_tokens = 128;
    view_->created_unix_s = 1700000000;
    view_->manifest.precision = "fp32";
  }

  void submit(const RequestPtr& request) override { pipeline_.submit(request); }
  void cancel(const RequestPtr& request) override { pipeline_.cancel(request); }
  void cut_off() override { pipeline_.cut_off(); }
  Load load() const override { return pipeline_.load(); }
  bool ready() const override { return pipeline_.state() == ModelState::kReady; }
  ModelState state(const std::string&) const override { return pipeline_.state(); }
  std::vector<ModelViewPtr> models() const override { return {view_}; }
  Result<ModelViewPtr> find(const std::string& model) const override {
    if (model.empty() || model == view_->name) return ModelViewPtr(view_);
    return Error(ErrorKind::kNotFound, "no model '" + model + "'; there is 'org/tiny'");
  }

 private:
  FakePipeline& pipeline_;
  std::shared_ptr<ModelView> view_;
};

}  // namespace weir::serve::server
