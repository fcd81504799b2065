#include "serve/front/http/listener.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "serve/front/http/connection.h"

namespace weir::serve::front::http {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// Connections over the limit that are being told so. Past these too, accepting pauses: the kernel's queue holds the
// rest.
constexpr std::size_t kMaxRefusing = 256;
constexpr auto kAcceptPause = std::chrono::milliseconds(20);
constexpr auto kCutOffPause = std::chrono::seconds(1);  // For the answers to what was cut off.
constexpr auto kAcceptWarningPause = std::chrono::seconds(10);

struct ListenerMetrics {
  explicit ListenerMetrics(metrics::Registry& registry)
      : open(registry.gauge("weir_http_open_connections", "Connections that are open, idle ones included.")),
        accepted(registry.counter("weir_http_connections_total", "Connections accepted.")),
        refused(registry.counter("weir_http_connections_refused_total", "Connections refused: too many were open.")),
        traffic{registry.counter("weir_http_received_bytes_total", "Bytes received, headers included."),
                registry.counter("weir_http_sent_bytes_total", "Bytes sent, headers included.")} {}

  metrics::Gauge& open;
  metrics::Counter& accepted;
  metrics::Counter& refused;
  TrafficMetrics traffic;
};

Status check(const ListenerOptions& options) {
  const auto positive = [](bool ok, const char* name) -> Status {
    if (ok) return {};
    return Error(ErrorKind::kInvalidArgument, std::string(name) + " must be at least 1", name);
  };
  WEIR_RETURN_IF_ERROR(positive(options.threads >= 1, "http threads"));
  WEIR_RETURN_IF_ERROR(positive(options.max_connections >= 1, "max_connections"));
  WEIR_RETURN_IF_ERROR(positive(options.max_body_bytes >= 1, "max_body_bytes"));
  if (options.max_header_bytes < 1024 || options.max_header_bytes > (1u << 20)) {
    return Error(ErrorKind::kInvalidArgument, "max_header_bytes must be 1024…1048576", "max_header_bytes");
  }
  return {};
}

}  // namespace

struct Listener::Impl {
  Impl(ListenerOptions given, Handler& handler, metrics::Registry& registry)
      : options(std::move(given)),
        metrics(registry),
        context{
            .options = options, .handler = handler, .traffic = metrics.traffic, .on_closed = [this] { on_closed(); }} {
    for (int i = 0; i < options.threads; ++i) threads.push_back(std::make_shared<NetworkThread>());
    acceptor.emplace(threads.front()->io);
    pause.emplace(threads.front()->io);
  }

  Status bind();
  void run();
  asio::awaitable<void> accept_all();
  bool is_full();
  void take(tcp::socket socket, const std::shared_ptr<NetworkThread>& thread);
  void on_closed();
  void on_every_connection(void (Connection::*call)());
  bool stop(Deadline deadline, const std::function<void()>& cut_off);
  bool wait_closed(Deadline deadline);

  const ListenerOptions options;
  ListenerMetrics metrics;
  ConnectionContext context;
  std::vector<std::shared_ptr<NetworkThread>> threads;
  std::optional<tcp::acceptor> acceptor;    // on the first thread
  std::optional<asio::steady_timer> pause;  // likewise
  std::uint16_t port = 0;
  std::atomic<bool> stopping{false};

  std::mutex mutex;
  std::condition_variable closed;
  std::size_t open = 0;  // guarded by mutex
  bool stopped = false;  // guarded by mutex
};

Status Listener::Impl::bind() {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) {
    return Error(ErrorKind::kInvalidArgument,
                 "'" + options.address + "' is not an IPv4 or IPv6 address (such as 127.0.0.1, 0.0.0.0 or ::)",
                 "address");
  }
  const tcp::endpoint endpoint(address, options.port);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error(
        ErrorKind::kIo,
        "cannot listen on " + options.address + " port " + std::to_string(options.port) + ": " + error.message(),
        "port");
  }
  port = acceptor->local_endpoint(error).port();
  return {};
}

void Listener::Impl::run() {
  asio::co_spawn(threads.front()->io, accept_all(), asio::detached);
  for (const auto& thread : threads) {
    thread->thread = std::thread([thread = thread.get()] { thread->io.run(); });
  }
}

asio::awaitable<void> Listener::Impl::accept_all() {
  std::size_t next = 0;
  Deadline quiet(Clock::now());
  while (!stopping) {
    const std::shared_ptr<NetworkThread> thread = threads[next];
    tcp::socket socket(thread->io);
    error_code error;
    co_await acceptor->async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (stopping) break;
    if (!error) {
      next = (next + 1) % threads.size();
      take(std::move(socket), thread);
    } else if (quiet.expired()) {
      quiet = Deadline::after(kAcceptWarningPause);
      log::warn("cannot accept a connection", {{"reason", error.message()}});
    }
    // Out of descriptors, or too many being refused: only time helps.
    bool wait = static_cast<bool>(error) || is_full();
    while (!stopping && wait) {
      pause->expires_after(kAcceptPause);
      co_await pause->async_wait(asio::as_tuple(asio::use_awaitable));
      wait = is_full();
    }
  }
}

bool Listener::Impl::is_full() {
  const std::lock_guard lock(mutex);
  return open >= options.max_connections + kMaxRefusing;
}

void Listener::Impl::take(tcp::socket socket, const std::shared_ptr<NetworkThread>& thread) {
  bool refuse = false;
  {
    const std::lock_guard lock(mutex);
    refuse = open++ >= options.max_connections;
  }
  metrics.open.add(1);
  metrics.accepted.add();
  if (refuse) metrics.refused.add();
  asio::post(thread->io, [this, thread, refuse, socket = std::move(socket)]() mutable {
    const auto connection = std::make_shared<Connection>(std::move(socket), thread, context);
    connection->start(refuse);
    if (stopping) connection->drain();
  });
}

void Listener::Impl::on_closed() {
  metrics.open.add(-1);
  const std::lock_guard lock(mutex);
  --open;
  closed.notify_all();
}

void Listener::Impl::on_every_connection(void (Connection::*call)()) {
  for (const auto& thread : threads) {
    asio::post(thread->io, [thread = thread.get(), call] {
      const std::vector<Connection*> connections(thread->connections.begin(), thread->connections.end());
      for (Connection* const connection : connections) (connection->*call)();
    });
  }
}

bool Listener::Impl::wait_closed(Deadline deadline) {
  std::unique_lock lock(mutex);
  const auto none_open = [this] { return open == 0; };
  if (!deadline.never()) return closed.wait_until(lock, deadline.at(), none_open);
  closed.wait(lock, none_open);
  return true;
}

bool Listener::Impl::stop(Deadline deadline, const std::function<void()>& cut_off) {
  {
    const std::lock_guard lock(mutex);
    if (std::exchange(stopped, true)) return true;
  }
  stopping = true;
  asio::post(threads.front()->io, [this] {
    error_code ignored;
    acceptor->close(ignored);
    pause->cancel();
  });
  on_every_connection(&Connection::drain);
  const bool clean = wait_closed(deadline);
  if (!clean && cut_off) {
    cut_off();
    wait_closed(Deadline::after(kCutOffPause));
  }
  if (!clean) on_every_connection(&Connection::abort);
  for (const auto& thread : threads) thread->work.reset();  // run() returns once the last connection is gone.
  for (const auto& thread : threads) thread->thread.join();
  return clean;
}

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Listener::~Listener() { stop(Deadline(Clock::now())); }

Result<std::unique_ptr<Listener>> Listener::start(ListenerOptions options, Handler& handler,
                                                  metrics::Registry& registry) {
  WEIR_RETURN_IF_ERROR(check(options));
  auto impl = std::make_unique<Impl>(std::move(options), handler, registry);
  WEIR_RETURN_IF_ERROR(impl->bind());
  impl->run();
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

std::uint16_t Listener::port() const { return impl_->port; }

bool Listener::stop(Deadline deadline, const std::function<void()>& cut_off) { return impl_->stop(deadline, cut_off); }

}  // namespace weir::serve::front::http
