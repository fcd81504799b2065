// One connection from its first byte to its last: reads requests, gives them to the handler, writes the answers.
// Internal to this folder. Lives on one NetworkThread; kept alive by its own coroutine.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/metrics.h"
#include "base/result.h"
#include "serve/front/http/exchange.h"
#include "serve/front/http/listener.h"
#include "serve/front/http/network_thread.h"
#include "serve/front/http/stream.h"

namespace weir::serve::front::http {

/// What all connections of a listener share. Outlives them.
struct ConnectionContext {
  const ListenerOptions& options;
  Handler& handler;
  TrafficMetrics traffic;
  std::atomic<std::size_t> buffered_body_bytes{0};
  /// Shared with exchanges, which may outlive all of this.
  std::shared_ptr<std::atomic<std::size_t>> buffered_answer_bytes = std::make_shared<std::atomic<std::size_t>>(0);
  std::function<void()> on_closed;  ///< Any network thread; once per connection, when it is gone.
};

/// Bytes of a body counted against max_buffered_body_bytes until it is released. Small bodies are not counted, so that
/// large ones never keep them out.
class BodyReservation {
 public:
  explicit BodyReservation(ConnectionContext& context) : context_(context) {}
  ~BodyReservation() { release(); }
  BodyReservation(const BodyReservation&) = delete;
  BodyReservation& operator=(const BodyReservation&) = delete;

  /// Raises the reservation to `bytes`, if there is room.
  bool grow_to(std::size_t bytes);
  void release();

 private:
  ConnectionContext& context_;
  std::size_t reserved_ = 0;
};

class ConnectionExchange;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<NetworkThread> thread, ConnectionContext& context);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// All on the connection's thread. `refuse`: too many connections; says so and closes.
  void start(bool refuse);
  void drain();  ///< Close now if idle, else after the request under way.
  void abort();  ///< Close now.

  /// The handler's answer to the request under way.
  void answer(Response response);

 private:
  enum class Next { kRequest, kLingerAndClose, kClose };
  struct Reading;  // the parser and what belongs to it

  boost::asio::awaitable<void> run(bool refuse);
  boost::asio::awaitable<bool> wait_for_request();
  boost::asio::awaitable<Next> serve_request();
  boost::asio::awaitable<std::optional<Error>> read_head(Reading& reading);
  boost::asio::awaitable<std::optional<Error>> read_body(Reading& reading, std::size_t limit);
  boost::asio::awaitable<std::optional<Error>> parse_more(Reading& reading, Deadline deadline);
  boost::asio::awaitable<void> wait_for_answer();
  boost::asio::awaitable<void> rest();
  boost::asio::awaitable<Next> refuse(const Error& error);
  boost::asio::awaitable<Next> send(Response response, Next next, bool with_body = true, bool http10 = false);
  void begin_exchange();

  std::shared_ptr<NetworkThread> thread_;
  ConnectionContext& context_;
  std::shared_ptr<Stream> stream_;
  std::shared_ptr<ConnectionExchange> exchange_;
  std::optional<Response> answer_;
  bool idle_ = false;
  bool refused_for_load_ = false;
  bool draining_ = false;
};

}  // namespace weir::serve::front::http
