// The server on the real pipeline.
#include <memory>
#include <utility>

#include "serve/server/backend.h"
#include "serve/server/server.h"

namespace weir::serve::server {
namespace {

class PipelineBackend final : public Backend {
 public:
  explicit PipelineBackend(Pipeline& pipeline) : pipeline_(pipeline) {}

  void submit(const RequestPtr& request) override { pipeline_.submit(request); }
  void cancel(const RequestPtr& request) override { pipeline_.cancel(request); }
  void cut_off() override { pipeline_.stop(Deadline(Clock::now())); }
  Load load() const override { return pipeline_.load(); }
  bool ready() const override { return pipeline_.ready(); }
  ModelState state(const std::string& model) const override { return pipeline_.state(model); }
  std::vector<ModelViewPtr> models() const override { return pipeline_.models(); }
  Result<ModelViewPtr> find(const std::string& model) const override { return pipeline_.find(model); }

 private:
  Pipeline& pipeline_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Pipeline& pipeline, metrics::Registry& registry) {
  return start(std::move(options), std::make_unique<PipelineBackend>(pipeline), registry);
}

}  // namespace weir::serve::server
