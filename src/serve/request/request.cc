#include "serve/request/request.h"

#include <utility>

namespace weir::serve {

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kFront:
      return "front";
    case Stage::kAdmission:
      return "admission";
    case Stage::kTokenize:
      return "tokenize";
    case Stage::kBatch:
      return "batch";
    case Stage::kEngine:
      return "engine";
  }
  return "unknown";
}

bool finish(const RequestPtr& request, std::optional<Error> error) {
  if (request->finished.exchange(true, std::memory_order_acq_rel)) return false;
  request->error = std::move(error);
  // Moved out, so that what the callback holds goes with this call and not with the last owner of the request.
  const auto done = std::exchange(request->done, nullptr);
  if (done) done(request);
  return true;
}

}  // namespace weir::serve
