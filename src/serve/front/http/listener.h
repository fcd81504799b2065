// The HTTP/1.1 transport: accepts connections, reads requests, hands each to a Handler, writes the answers. Knows
// nothing of routes and dialects.
//
// Owner: the server. `threads` network threads, each with the connections it was given: everything of a connection
// happens on one thread. The requests of a connection are answered one after the other, in their order (pipelining):
// while one is in the handler, up to 64 KiB of what follows is buffered and the end of the stream is watched for. That
// end means that the client is gone: the exchange is abandoned, and answered with what the handler then says. So a
// client that closes only its sending side gives up its answer.
//
// What is refused (limits, timeouts, bytes that are not HTTP) is answered, then the connection is closed for sending
// and read empty for `linger_timeout`, so that the client reads the answer instead of a reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/deadline.h"
#include "base/metrics.h"
#include "base/result.h"
#include "serve/front/http/exchange.h"

namespace weir::serve::front::http {

struct ListenerOptions {
  std::string address = "127.0.0.1";  ///< An IPv4 or IPv6 address.
  std::uint16_t port = 8080;          ///< 0: any free one.
  int threads = 1;
  std::size_t max_connections = 4096;  ///< One more is answered 503 and closed.
  std::size_t max_header_bytes = 16u << 10;
  std::size_t max_body_bytes = 8u << 20;
  std::size_t max_buffered_body_bytes = 256u << 20;    ///< Of all connections together; more is refused as overload.
  std::size_t max_buffered_answer_bytes = 512u << 20;  ///< Likewise, of answers that clients have not taken yet.

  Clock::duration header_timeout = std::chrono::seconds(10);  ///< From a request's first byte to the end of its header.
  Clock::duration body_timeout = std::chrono::seconds(60);    ///< From the end of the header to that of the body.
  Clock::duration idle_timeout = std::chrono::seconds(75);    ///< For a request's first byte.
  Clock::duration write_timeout = std::chrono::seconds(30);   ///< For some bytes of an answer to be taken.
  Clock::duration linger_timeout = std::chrono::seconds(2);
};

class Listener {
 public:
  /// Binds and starts the threads. kInvalidArgument: `address` is none, or a limit makes no sense; kIo: the port is in
  /// use, or the machine refuses. `handler` and `registry` must outlive the Listener.
  static Result<std::unique_ptr<Listener>> start(ListenerOptions options, Handler& handler,
                                                 metrics::Registry& registry);
  ~Listener();  ///< As stop() with an expired deadline.
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const;

  /// Stops accepting, closes idle connections at once, lets requests finish until the deadline, then closes the rest
  /// and joins the threads. `cut_off` is called at the deadline if there is a rest: what it answers is still sent. True
  /// when nothing had to be cut off. Only the first call does anything.
  bool stop(Deadline deadline, const std::function<void()>& cut_off = nullptr);

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::serve::front::http
