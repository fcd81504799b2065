// What the server does with each HTTP request: finds its route, checks its key, answers at once what needs no
// inference, and makes a Call of the rest. Every answer passes through finish(): headers, metrics, access log.
//
// Called by network threads and workers, several at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "serve/front/http/exchange.h"
#include "serve/server/backend.h"
#include "serve/server/http_metrics.h"
#include "serve/server/routes.h"
#include "serve/server/server.h"
#include "serve/server/workers.h"

namespace weir::serve::server {

/// What the log says of a request, beyond what its exchange and response hold.
struct Outcome {
  const Route* route = nullptr;
  std::size_t texts = 0;
  std::size_t tokens = 0;
  std::string model;
  std::string_view error;  ///< An error kind's name; empty: none.
};

class Service final : public front::http::Handler {
 public:
  Service(const ServerOptions& options, Backend& backend, metrics::Registry& registry);

  std::optional<front::http::Response> on_head(front::http::Exchange& exchange) override;
  void on_request(const std::shared_ptr<front::http::Exchange>& exchange) override;
  front::http::Response on_refused(front::http::Exchange& exchange, const Error& error) override;

  /// The error as the route's dialect words it, finished.
  front::http::Response error_response(const front::http::Exchange& exchange, const Error& error, Outcome outcome);

  /// Adds the headers that every response has, counts it and logs it.
  front::http::Response finish(const front::http::Exchange& exchange, front::http::Response response,
                               const Outcome& outcome);

  void set_draining() { draining_ = true; }

  const ServerOptions& options() const { return options_; }
  Backend& backend() { return backend_; }
  Workers& workers() { return workers_; }

 private:
  front::http::Response answer_now(const front::http::Exchange& exchange, const Route& route);
  front::http::Response health();
  front::http::Response info();
  Result<front::http::Response> model(std::string_view id);
  front::http::Response models();
  void log(const front::http::Exchange& exchange, const front::http::Response& response, const Outcome& outcome,
           double duration_ms) const;

  const ServerOptions& options_;
  Backend& backend_;
  metrics::Registry& registry_;
  HttpMetrics metrics_;
  std::atomic<bool> draining_{false};
  Workers workers_;
};

}  // namespace weir::serve::server
