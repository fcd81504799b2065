// What the fronts need of the pipeline, and nothing more, so that they can be tested without models.
//
// All calls from any thread; none but cut_off() blocks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/pipeline/pipeline.h"
#include "serve/request/model_view.h"
#include "serve/request/request.h"

namespace weir::serve::server {

/// The methods mean what Pipeline's of the same names do, if not said otherwise.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual void submit(const RequestPtr& request) = 0;
  virtual void cancel(const RequestPtr& request) = 0;
  virtual void cut_off() = 0;  ///< The server stops: fails all that is not finished, then refuses everything.
  virtual Load load() const = 0;
  virtual bool ready() const = 0;
  virtual ModelState state(const std::string& model) const = 0;
  virtual std::vector<ModelViewPtr> models() const = 0;
  virtual Result<ModelViewPtr> find(const std::string& model) const = 0;
};

}  // namespace weir::serve::server
