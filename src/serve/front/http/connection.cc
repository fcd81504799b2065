#include "serve/front/http/connection.h"

#include <chrono>
#include <ctime>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/log.h"
#include "serve/front/http/request_target.h"
#include "serve/front/http/response_head.h"

namespace weir::serve::front::http {
namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;

namespace {

// A refused request with no more than this still to come is read to its end, so that the connection can go on.
constexpr std::size_t kDrainableBodyBytes = 64u << 10;

constexpr std::size_t kSmallBodyBytes = 64u << 10;
constexpr std::size_t kSmallAnswerBytes = 64u << 10;

std::string_view date_now() {
  thread_local std::time_t second = 0;
  thread_local std::string date;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    second = now;
    date = http_date(now);
  }
  return date;
}

Error client_gone() { return {ErrorKind::kCancelled, "the client closed the connection"}; }

std::string seconds(Clock::duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms";
}

}  // namespace

bool BodyReservation::grow_to(std::size_t bytes) {
  if (bytes <= std::max(reserved_, kSmallBodyBytes)) return true;
  const std::size_t more = bytes - reserved_;
  const std::size_t before = context_.buffered_body_bytes.fetch_add(more);
  if (before + more > context_.options.max_buffered_body_bytes) {
    context_.buffered_body_bytes -= more;
    return false;
  }
  reserved_ = bytes;
  return true;
}

void BodyReservation::release() { context_.buffered_body_bytes -= std::exchange(reserved_, 0); }

/// Bytes of an answer on its way, counted against max_buffered_answer_bytes.
class AnswerReservation {
 public:
  AnswerReservation(std::atomic<std::size_t>& total, std::size_t bytes) : total_(total), bytes_(bytes) {
    total_ += bytes_;
  }
  ~AnswerReservation() { total_ -= bytes_; }
  AnswerReservation(const AnswerReservation&) = delete;
  AnswerReservation& operator=(const AnswerReservation&) = delete;

 private:
  std::atomic<std::size_t>& total_;
  const std::size_t bytes_;
};

/// The handler's end of a request. Holds the thread, so that posting to it is safe at any time.
class ConnectionExchange final : public Exchange {
 public:
  ConnectionExchange(std::shared_ptr<NetworkThread> thread, std::weak_ptr<Connection> connection,
                     const ConnectionContext& context)
      : thread_(std::move(thread)),
        connection_(std::move(connection)),
        buffered_answer_bytes_(context.buffered_answer_bytes),
        max_buffered_answer_bytes_(context.options.max_buffered_answer_bytes) {}

  void respond(Response response) override {
    if (answered_.exchange(true)) return;
    deliver(
        [response = std::move(response)](Connection& connection) mutable { connection.answer(std::move(response)); });
  }

  bool has_room_for(std::size_t answer_bytes) const override {
    const std::size_t others = buffered_answer_bytes_->load();
    return answer_bytes <= kSmallAnswerBytes || others == 0 || others + answer_bytes <= max_buffered_answer_bytes_;
  }

  void post(std::function<void()> work) override {
    deliver([work = std::move(work)](Connection&) { work(); });
  }

  void set_on_abandoned(std::function<void()> call) override { on_abandoned_ = std::move(call); }

  /// On the network thread.
  void abandon() {
    if (const auto call = std::exchange(on_abandoned_, nullptr)) call();
  }

 private:
  // The only reference to the connection moves to its own thread, so that no other thread ever destroys it.
  template <class Call>
  void deliver(Call call) {
    const std::shared_ptr<NetworkThread> thread = thread_;
    std::shared_ptr<Connection> connection = connection_.lock();
    if (!connection) return;
    asio::dispatch(thread->io,
                   [connection = std::move(connection), call = std::move(call)]() mutable { call(*connection); });
  }

  std::shared_ptr<NetworkThread> thread_;
  std::weak_ptr<Connection> connection_;
  std::shared_ptr<const std::atomic<std::size_t>> buffered_answer_bytes_;
  const std::size_t max_buffered_answer_bytes_;
  std::atomic<bool> answered_{false};
  std::function<void()> on_abandoned_;
};

struct Connection::Reading {
  explicit Reading(ConnectionContext& context) : reservation(context) {
    parser.header_limit(static_cast<std::uint32_t>(context.options.max_header_bytes));
    parser.body_limit(boost::none);  // Checked once the header is known, so that the refusal can name the request.
    parser.eager(false);
  }

  const auto& message() const { return parser.get(); }

  beast_http::request_parser<beast_http::string_body> parser;
  BodyReservation reservation;
  bool needs_more = false;  // The parser cannot go on with the bytes that are buffered.
};

namespace {

Error parse_error(const error_code& code, const ListenerOptions& options) {
  if (code == beast_http::error::header_limit) {
    return {ErrorKind::kHeaderTooLarge,
            "the request's header is longer than " + std::to_string(options.max_header_bytes) + " bytes"};
  }
  if (code == beast_http::error::body_limit) {
    return {ErrorKind::kBodyTooLarge, "the body is larger than the " + std::to_string(options.max_body_bytes) +
                                          " bytes that this server takes; send fewer texts per request"};
  }
  return {ErrorKind::kMalformed, "the request is not valid HTTP/1.1: " + code.message()};
}

void fill_head(const beast_http::request_header<>& message, RequestHead& head) {
  head.method = std::string(message.method_string());
  head.path = std::string(path_of_target(message.target()));
  for (const auto& field : message) head.fields.emplace_back(field.name_string(), field.value());
}

// What decides where a request ends must be beyond doubt: a proxy in front that reads it in another way could be made
// to take the rest of a body for a request of its own.
std::optional<Error> check_framing(const beast_http::request_header<>& message, bool chunked) {
  const auto length = message.find(beast_http::field::content_length);
  if (length != message.end() &&
      (message.count(beast_http::field::content_length) > 1 || length->value().find(',') != std::string_view::npos)) {
    return Error(ErrorKind::kMalformed, "Content-Length may be given only once", "Content-Length");
  }
  const auto coding = message.find(beast_http::field::transfer_encoding);
  if (coding != message.end() && (!chunked || !equals_ignoring_case(coding->value(), "chunked"))) {
    return Error(ErrorKind::kMalformed, "Transfer-Encoding may only be 'chunked'", "Transfer-Encoding");
  }
  if (chunked && message.version() < 11) {
    return Error(ErrorKind::kMalformed, "HTTP/1.0 has no Transfer-Encoding", "Transfer-Encoding");
  }
  if (message.version() >= 11 && message.count(beast_http::field::host) != 1) {
    return Error(ErrorKind::kMalformed, "an HTTP/1.1 request has exactly one Host field", "Host");
  }
  return std::nullopt;
}

bool expects_continue(const beast_http::request_header<>& message) {
  return message.version() >= 11 && equals_ignoring_case(message[beast_http::field::expect], "100-continue");
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, std::shared_ptr<NetworkThread> thread, ConnectionContext& context)
    : thread_(std::move(thread)),
      context_(context),
      stream_(std::make_shared<Stream>(
          std::move(socket), std::max(kMaxPipelinedBytes, context.options.max_header_bytes + 1024), context.traffic)) {
  thread_->connections.insert(this);
}

Connection::~Connection() {
  thread_->connections.erase(this);
  stream_->close();
  context_.on_closed();
}

void Connection::start(bool refuse) {
  asio::co_spawn(
      thread_->io, [self = shared_from_this(), refuse]() { return self->run(refuse); },
      [self = shared_from_this()](const std::exception_ptr& failure) {
        // Only running out of memory throws here; the connection ends with it.
        if (failure) log::error("a connection failed", {{"peer", self->stream_->peer()}});
      });
}

void Connection::drain() {
  draining_ = true;
  if (idle_ && !stream_->has_unread_bytes()) stream_->close();
  stream_->wake();  // it may rest
}

void Connection::abort() {
  draining_ = true;
  stream_->close();
}

void Connection::answer(Response response) {
  exchange_->set_on_abandoned(nullptr);  // It may hold the exchange itself.
  answer_ = std::move(response);
  stream_->wake();
}

asio::awaitable<void> Connection::run(bool refuse_it) {
  Next next = Next::kRequest;
  if (refuse_it) {
    begin_exchange();
    next = co_await refuse(Error(ErrorKind::kUnavailable, "all " + std::to_string(context_.options.max_connections) +
                                                              " connections are in use"));
  }
  while (next == Next::kRequest) {
    if (!co_await wait_for_request()) break;
    next = co_await serve_request();
    if (next == Next::kRequest && std::exchange(refused_for_load_, false)) co_await rest();
  }
  if (next == Next::kLingerAndClose) co_await stream_->linger(Deadline::after(context_.options.linger_timeout));
  stream_->close();
}

asio::awaitable<bool> Connection::wait_for_request() {
  if (!stream_->bytes().empty()) {
    // A client that never stops sending must not keep the thread from its other connections.
    co_await asio::post(thread_->io, asio::use_awaitable);
    co_return !draining_;
  }
  if (draining_ && !stream_->has_unread_bytes()) co_return false;
  idle_ = true;
  const Stream::Got got = co_await stream_->read_more(Deadline::after(context_.options.idle_timeout));
  idle_ = false;
  co_return got == Stream::Got::kBytes;
}

asio::awaitable<void> Connection::rest() {
  const Clock::time_point now = Clock::now();
  const Deadline end(now + thread_->refusal_pace.refused(now));
  while (!draining_ && !stream_->ended() && !end.expired()) co_await stream_->sleep(end);
}

void Connection::begin_exchange() {
  answer_.reset();
  exchange_ = std::make_shared<ConnectionExchange>(thread_, weak_from_this(), context_);
  exchange_->head.peer = stream_->peer();
  exchange_->head.arrived = Clock::now();
}

asio::awaitable<Connection::Next> Connection::serve_request() {
  Reading reading(context_);
  begin_exchange();
  if (const auto error = co_await read_head(reading)) co_return co_await refuse(*error);
  const bool with_body = reading.message().method() != beast_http::verb::head;
  const bool http10 = reading.message().version() < 11;
  const bool keep_alive = reading.message().keep_alive();

  std::optional<Response> early = context_.handler.on_head(*exchange_);
  if (early && (reading.parser.content_length().value_or(0) > kDrainableBodyBytes ||
                (!reading.parser.is_done() && expects_continue(reading.message())))) {
    co_return co_await send(std::move(*early), Next::kLingerAndClose, with_body, http10);
  }
  const std::size_t body_limit = early ? kDrainableBodyBytes : context_.options.max_body_bytes;
  if (const auto error = co_await read_body(reading, body_limit)) {
    if (early) co_return co_await send(std::move(*early), Next::kLingerAndClose, with_body, http10);
    co_return co_await refuse(*error);
  }
  if (!early) {
    context_.handler.on_request(exchange_);
    co_await wait_for_answer();
    early = std::exchange(answer_, std::nullopt);
    reading.reservation.release();
  }
  const bool close = draining_ || early->close || !keep_alive || stream_->ended();
  co_return co_await send(std::move(*early), close ? Next::kLingerAndClose : Next::kRequest, with_body, http10);
}

asio::awaitable<std::optional<Error>> Connection::parse_more(Reading& reading, Deadline deadline) {
  if (reading.needs_more || stream_->bytes().empty()) {
    const Stream::Got got = co_await stream_->read_more(deadline);
    switch (got) {
      case Stream::Got::kBytes:
        break;
      case Stream::Got::kEnd:
        co_return client_gone();
      case Stream::Got::kTimeout:
        co_return Error(ErrorKind::kRequestTimeout, "");
      case Stream::Got::kFull:
        co_return Error(ErrorKind::kMalformed, "the request has a line of more bytes than the limit");
    }
  }
  const std::string_view bytes = stream_->bytes();
  error_code code;
  const std::size_t used = reading.parser.put(asio::buffer(bytes.data(), bytes.size()), code);
  stream_->consume(used);
  reading.needs_more = code == beast_http::error::need_more;
  if (code && !reading.needs_more) co_return parse_error(code, context_.options);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Error>> Connection::read_head(Reading& reading) {
  const Deadline deadline = Deadline::after(context_.options.header_timeout);
  while (!reading.parser.is_header_done()) {
    std::optional<Error> error = co_await parse_more(reading, deadline);
    if (error && error->kind == ErrorKind::kRequestTimeout) {
      error->message = "the request's header was not complete after " + seconds(context_.options.header_timeout);
    }
    if (error) co_return error;
  }
  fill_head(reading.message(), exchange_->head);
  exchange_->head.arrived = Clock::now();
  co_return check_framing(reading.message(), reading.parser.chunked());
}

asio::awaitable<std::optional<Error>> Connection::read_body(Reading& reading, std::size_t limit) {
  if (reading.parser.is_done()) co_return std::nullopt;
  const std::size_t length = reading.parser.content_length().value_or(0);
  if (length > limit) co_return parse_error(beast_http::error::body_limit, context_.options);
  reading.parser.body_limit(limit);
  if (expects_continue(reading.message()) && stream_->bytes().empty()) {
    const bool sent = co_await stream_->write("HTTP/1.1 100 Continue\r\n\r\n", {}, context_.options.write_timeout);
    if (!sent) co_return client_gone();
  }
  const Deadline deadline = Deadline::after(context_.options.body_timeout);
  while (!reading.parser.is_done()) {
    // What has come, not what was announced: a client that announces much and sends nothing keeps nobody out.
    if (!reading.reservation.grow_to(reading.message().body().size())) {
      co_return Error(ErrorKind::kOverloaded, "too many large requests are being received at once");
    }
    std::optional<Error> error = co_await parse_more(reading, deadline);
    if (error && error->kind == ErrorKind::kRequestTimeout) {
      error->message = "the request's body was not complete after " + seconds(context_.options.body_timeout);
    }
    if (error) co_return error;
  }
  exchange_->body = std::move(reading.parser.get().body());
  co_return std::nullopt;
}

asio::awaitable<void> Connection::wait_for_answer() {
  while (!answer_) {
    if (stream_->ended()) {
      exchange_->abandon();
    } else if (stream_->bytes().size() < kMaxPipelinedBytes) {
      stream_->watch();
    }
    if (!answer_) co_await stream_->sleep(Deadline());
  }
}

asio::awaitable<Connection::Next> Connection::refuse(const Error& error) {
  if (error.kind == ErrorKind::kCancelled) co_return Next::kClose;
  Response response = context_.handler.on_refused(*exchange_, error);
  co_return co_await send(std::move(response), Next::kLingerAndClose);
}

asio::awaitable<Connection::Next> Connection::send(Response response, Next next, bool with_body, bool http10) {
  const AfterResponse after = next != Next::kRequest ? AfterResponse::kClose
                              : http10               ? AfterResponse::kKeepAliveHttp10
                                                     : AfterResponse::kKeepAlive;
  refused_for_load_ = response.overloaded;
  const AnswerReservation on_its_way(*context_.buffered_answer_bytes, response.body.size());
  const std::string head = response_head(response, after, date_now());
  const bool sent = co_await stream_->write(head, with_body ? std::string_view(response.body) : std::string_view(),
                                            context_.options.write_timeout);
  co_return sent ? next : Next::kClose;
}

}  // namespace weir::serve::front::http
