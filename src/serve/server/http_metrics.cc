#include "serve/server/http_metrics.h"

#include <string>

namespace weir::serve::server {

HttpMetrics::HttpMetrics(metrics::Registry& registry) : registry_(registry), routes_(routes().size() + 1) {
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    routes_[i].name = i < routes().size() ? routes()[i].path : "other";
    routes_[i].durations = &registry.histogram(
        "weir_http_request_duration_seconds", "From a request's header to its answer being ready, by route.",
        metrics::exponential_bounds(0.0005, 2, 18), {{"route", std::string(routes_[i].name)}});
  }
}

void HttpMetrics::observe(const Route* route, int status, double seconds) {
  const std::size_t index = route != nullptr ? static_cast<std::size_t>(route - routes().data()) : routes().size();
  PerRoute& per_route = routes_[index];
  per_route.durations->observe(seconds);
  const auto slot = static_cast<std::size_t>(status) < kStatuses ? static_cast<std::size_t>(status) : 0;
  metrics::Counter* counter = per_route.requests[slot].load(std::memory_order_acquire);
  if (counter == nullptr) {
    counter = &registry_.counter("weir_http_requests_total", "Requests answered, by route and status.",
                                 {{"route", std::string(per_route.name)}, {"status", std::to_string(status)}});
    per_route.requests[slot].store(counter, std::memory_order_release);
  }
  counter->add();
}

}  // namespace weir::serve::server
