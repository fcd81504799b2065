// One request and its one response on a connection, as the transport hands it to its handler; and the handler's side of
// that bargain.
//
// An Exchange is made and destroyed by the transport's threads and may outlive its connection in the hands of others.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "serve/front/http/message.h"

namespace weir::serve::front::http {

class Exchange {
 public:
  virtual ~Exchange() = default;

  RequestHead head;
  std::string body;        ///< Whole, unchunked. The handler may move it away.
  std::string request_id;  ///< Set by the handler in on_head or on_refused.

  /// Answers. Exactly once, on any thread, also when abandoned. Never blocks.
  virtual void respond(Response response) = 0;

  /// Whether an answer of so many bytes may be kept until its client has taken it: a client that reads slowly costs
  /// memory. Any thread.
  virtual bool has_room_for(std::size_t answer_bytes) const = 0;

  /// Runs `work` on the connection's network thread. Only before respond(). Any thread; never blocks.
  virtual void post(std::function<void()> work) = 0;

  /// `call` runs once on the network thread when the client goes away before the answer, or when the server stops
  /// without waiting for it. Set inside Handler::on_request, before it returns.
  virtual void set_on_abandoned(std::function<void()> call) = 0;
};

/// What the transport asks of its user. All calls come on network threads, several at once; they must not block.
class Handler {
 public:
  virtual ~Handler() = default;

  /// The header is there, the body is not. A response refuses the request without its body being read (or answers one
  /// that needs none); nothing lets it come.
  virtual std::optional<Response> on_head(Exchange& exchange) = 0;

  /// The whole request is there. respond() must follow, promptly once the exchange is abandoned.
  virtual void on_request(const std::shared_ptr<Exchange>& exchange) = 0;

  /// The transport refuses what it got: kMalformed, kHeaderTooLarge, kBodyTooLarge, kRequestTimeout, kOverloaded. What
  /// of the head was read is filled in; on_head may not have been called.
  virtual Response on_refused(Exchange& exchange, const Error& error) = 0;
};

}  // namespace weir::serve::front::http
