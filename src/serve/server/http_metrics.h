// Counts and durations of HTTP requests, by route. Any thread; no locks once a status of a route was seen.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "serve/server/routes.h"

namespace weir::serve::server {

class HttpMetrics {
 public:
  explicit HttpMetrics(metrics::Registry& registry);

  /// `route` is nullptr for requests that belong to none: label "other".
  void observe(const Route* route, int status, double seconds);

 private:
  static constexpr std::size_t kStatuses = 600;
  struct PerRoute {
    std::string_view name;
    metrics::Histogram* durations = nullptr;
    std::array<std::atomic<metrics::Counter*>, kStatuses> requests{};
  };

  metrics::Registry& registry_;
  std::vector<PerRoute> routes_;  // in the order of routes(), then "other"
};

}  // namespace weir::serve::server
