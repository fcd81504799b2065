// The HTTP server: transport, routes, dialects and the pipeline, put together. Another front (gRPC) stands beside it,
// on the same Backend and the same error table.
//
// Owner: `weir serve`. start(), then drain() and stop() from one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/metrics.h"
#include "base/result.h"
#include "serve/front/http/listener.h"
#include "serve/pipeline/pipeline.h"
#include "serve/respond/error_table.h"
#include "serve/server/backend.h"

namespace weir::serve::server {

struct ServerOptions {
  front::http::ListenerOptions http;
  respond::ErrorOptions errors;
  std::vector<std::string> api_keys;                    ///< Empty: no key is asked for.
  Clock::duration max_wait = std::chrono::seconds(60);  ///< Longest time to an answer; a client may ask for less.
  PipelineOptions pipeline;  ///< As the pipeline was started with; what the server checks itself and tells in /info.
  std::string version;
  int worker_threads = 1;  ///< For large bodies.
};

class Server {
 public:
  /// Binds and serves. kInvalidArgument: an option makes no sense; kIo: the port is in use. The pipeline and the
  /// registry must outlive the server; the pipeline may still be loading.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Pipeline& pipeline, metrics::Registry& registry);
  static Result<std::unique_ptr<Server>> start(ServerOptions options, std::unique_ptr<Backend> backend,
                                               metrics::Registry& registry);
  ~Server();  ///< As stop() with an expired deadline.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

  /// From now on "not ready", while requests are still served: time for load balancers to look elsewhere.
  void drain();

  /// drain(), then stops accepting, closes idle connections at once, finishes requests until the deadline, answers
  /// the rest that the server stops. True when there was no rest.
  bool stop(Deadline deadline);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::serve::server
