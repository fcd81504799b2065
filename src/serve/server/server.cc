#include "serve/server/server.h"

#include <utility>

#include "serve/server/service.h"

namespace weir::serve::server {

struct Server::Impl {
  Impl(ServerOptions given, std::unique_ptr<Backend> the_backend, metrics::Registry& registry)
      : options(std::move(given)), backend(std::move(the_backend)), service(options, *backend, registry) {}

  const ServerOptions options;
  const std::unique_ptr<Backend> backend;
  Service service;
  std::unique_ptr<front::http::Listener> listener;  // The last to come and the first to go: its threads use the rest.
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(Deadline(Clock::now())); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, std::unique_ptr<Backend> backend,
                                              metrics::Registry& registry) {
  WEIR_RETURN_IF_ERROR(respond::check(options.errors));
  for (const std::string& key : options.api_keys) {
    if (key.empty()) return Error(ErrorKind::kInvalidArgument, "an API key is empty", "api_keys");
  }
  if (options.worker_threads < 1) {
    return Error(ErrorKind::kInvalidArgument, "worker_threads must be at least 1", "worker_threads");
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(backend), registry);
  WEIR_ASSIGN_OR_RETURN(impl->listener, front::http::Listener::start(impl->options.http, impl->service, registry));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const { return impl_->listener->port(); }

void Server::drain() { impl_->service.set_draining(); }

bool Server::stop(Deadline deadline) {
  drain();
  return impl_->listener->stop(deadline, [this] { impl_->backend->cut_off(); });
}

}  // namespace weir::serve::server
