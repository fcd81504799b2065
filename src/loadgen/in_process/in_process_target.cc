#include "loadgen/in_process/in_process_target.h"

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/machine.h"
#include "base/metrics.h"
#include "base/sizing.h"
#include "serve/pipeline/pipeline.h"

namespace weir::loadgen {
namespace {

using serve::RequestPtr;

/// Where the pipeline's threads leave what has ended. Outlives the driver while a request is under way.
struct Inbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::pair<Completion, std::uint64_t>> ended;  ///< With the number of the request.
};

struct Loaded {
  metrics::Registry registry;
  std::unique_ptr<serve::Pipeline> pipeline;
  Workload workload;
  std::string description;
};

Outcome outcome_of(const serve::Request& request) {
  if (!request.error) return {Ending::kAnswered, 0};
  return {Ending::kStatus, static_cast<int>(request.error->kind)};
}

class InProcessDriver final : public Driver {
 public:
  InProcessDriver(std::shared_ptr<Loaded> loaded, std::uint32_t slots) : loaded_(std::move(loaded)), slots_(slots) {}
  InProcessDriver(const InProcessDriver&) = delete;
  InProcessDriver& operator=(const InProcessDriver&) = delete;
  ~InProcessDriver() override {
    for (const Slot& slot : slots_) {
      if (slot.request) loaded_->pipeline->cancel(slot.request);
    }
  }

  void start(std::uint32_t slot, std::uint32_t number) override {
    auto request = std::make_shared<serve::Request>();
    for (const std::string& text : loaded_->workload.requests[number]) request->inputs.push_back({text, {}, false});
    request->arrived = Clock::now();
    slots_[slot] = {request, ++requests_};
    request->done = [inbox = inbox_, slot, id = requests_](const RequestPtr& done) {
      const Completion completion{slot, Clock::now(), outcome_of(*done)};
      const std::lock_guard lock(inbox->mutex);
      inbox->ended.emplace_back(completion, id);
      inbox->arrived.notify_one();
    };
    loaded_->pipeline->submit(request);
  }

  void wait(Clock::time_point until, std::vector<Completion>& completions) override {
    std::unique_lock lock(inbox_->mutex);
    inbox_->arrived.wait_until(lock, until, [&] { return !inbox_->ended.empty(); });
    for (const auto& [completion, id] : inbox_->ended) {
      Slot& slot = slots_[completion.slot];
      if (slot.id != id) continue;  // was abandoned
      slot = {};
      completions.push_back(completion);
    }
    inbox_->ended.clear();
  }

  void abandon(std::uint32_t slot) override {
    const RequestPtr request = std::exchange(slots_[slot], {}).request;
    loaded_->pipeline->cancel(request);
  }

 private:
  struct Slot {
    RequestPtr request;
    std::uint64_t id = 0;
  };

  std::shared_ptr<Loaded> loaded_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::vector<Slot> slots_;
  std::uint64_t requests_ = 0;
};

class InProcessTarget final : public Target {
 public:
  explicit InProcessTarget(std::shared_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}

  Result<std::unique_ptr<Driver>> open(std::uint32_t slots) override {
    return std::unique_ptr<Driver>(std::make_unique<InProcessDriver>(loaded_, slots));
  }
  const std::vector<RequestSize>& requests() const override { return loaded_->workload.sizes; }
  std::string describe() const override { return loaded_->description; }

 private:
  std::shared_ptr<Loaded> loaded_;
};

serve::PipelineOptions pipeline_options(const InProcessOptions& options) {
  constexpr std::size_t kWideOpen = 1u << 20;
  SizingRequest request;
  request.instances = options.instances;
  request.threads_per_instance = options.threads_per_instance;
  serve::PipelineOptions pipeline;
  pipeline.models = {{"", options.bundle}};
  pipeline.permits = kWideOpen;
  pipeline.waiting_room = kWideOpen;
  pipeline.apply(choose_sizing(detect_machine(), request));
  return pipeline;
}

}  // namespace

Result<std::unique_ptr<Target>> make_in_process_target(const InProcessOptions& options, const Workload& workload) {
  auto loaded = std::make_shared<Loaded>();
  loaded->workload = workload;
  const serve::PipelineOptions pipeline = pipeline_options(options);
  loaded->description = "in-process " + options.bundle + ", " + std::to_string(pipeline.instances) + " × " +
                        std::to_string(pipeline.threads_per_instance) + " threads";
  WEIR_ASSIGN_OR_RETURN(loaded->pipeline, serve::Pipeline::start(pipeline, loaded->registry));
  WEIR_RETURN_IF_ERROR(loaded->pipeline->wait_loaded());
  return std::unique_ptr<Target>(std::make_unique<InProcessTarget>(std::move(loaded)));
}

}  // namespace weir::loadgen
