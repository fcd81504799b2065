#include "hub/connection.h"

#include <array>
#include <memory>
#include <optional>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

namespace weir::hub {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using ErrorCode = boost::system::error_code;

constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr std::size_t kReadBytes = 256 << 10;
constexpr std::uint32_t kLargestHead = 64 << 10;

class Exchange {
 public:
  Exchange(const HttpOptions& options, const HttpRequest& request, HttpReceiver& receiver)
      : options_(options), request_(request), receiver_(receiver), stream_(context_) {}

  Status run() {
    WEIR_RETURN_IF_ERROR(connect());
    if (!request_.url.secure) return converse(stream_);
    if (request_.proxy != nullptr) WEIR_RETURN_IF_ERROR(open_tunnel());
    ssl::context tls(ssl::context::tls_client);
    WEIR_RETURN_IF_ERROR(trust(tls));
    beast::ssl_stream<beast::tcp_stream&> secured(stream_, tls);
    WEIR_RETURN_IF_ERROR(shake_hands(secured));
    return converse(secured);
  }

 private:
  const Url& peer() const { return request_.proxy != nullptr ? *request_.proxy : request_.url; }

  Error failed(const std::string& what, const ErrorCode& code) const {
    if (stopped_) return {ErrorKind::kCancelled, "interrupted"};
    const bool silent = code == beast::error::timeout;
    return {ErrorKind::kIo, what + " " + peer().authority() + (request_.proxy != nullptr ? " (the proxy)" : "") + ": " +
                                (silent ? "no answer in time" : code.message())};
  }

  /// Runs one asynchronous operation to its end: start(handler) begins it.
  template <class Start>
  ErrorCode wait(Clock::duration timeout, Start start) {
    std::optional<ErrorCode> result;
    stream_.expires_after(timeout);
    start([&result](ErrorCode code, auto&&...) { result = code; });
    context_.restart();
    while (!result) {
      context_.run_for(kPoll);
      if (!result && !stopped_ && options_.cancelled && options_.cancelled()) {
        stopped_ = true;
        resolver_.cancel();
        stream_.cancel();
      }
    }
    return *result;
  }

  Status connect() {
    asio::ip::tcp::resolver::results_type addresses;
    const std::string port = std::to_string(peer().port);
    ErrorCode code = wait(options_.connect_timeout, [&](auto handler) {
      resolver_.async_resolve(peer().host, port, [&addresses, handler](ErrorCode result, auto found) mutable {
        addresses = std::move(found);
        handler(result);
      });
    });
    if (code) return failed("cannot find the host", code);
    code = wait(options_.connect_timeout, [&](auto handler) { stream_.async_connect(addresses, handler); });
    if (code) return failed("cannot connect to", code);
    return {};
  }

  Status open_tunnel() {
    const std::string target = request_.url.host + ":" + std::to_string(request_.url.port);
    http::request<http::empty_body> message(http::verb::connect, target, 11);
    message.set(http::field::host, target);
    ErrorCode code =
        wait(options_.stall_timeout, [&](auto handler) { http::async_write(stream_, message, std::move(handler)); });
    if (code) return failed("cannot ask", code);
    // What answers CONNECT has no body, whatever its header says.
    http::response_parser<http::empty_body> parser;
    parser.skip(true);
    beast::flat_buffer buffer;
    code = wait(options_.stall_timeout,
                [&](auto handler) { http::async_read_header(stream_, buffer, parser, std::move(handler)); });
    if (code) return failed("no tunnel through", code);
    if (parser.get().result_int() / 100 == 2) return {};
    return Error(ErrorKind::kIo, "the proxy " + peer().authority() + " refuses a tunnel to " + target + " (status " +
                                     std::to_string(parser.get().result_int()) + ")");
  }

  Status trust(ssl::context& tls) const {
    ErrorCode code;
    tls.set_default_verify_paths(code);
    if (!options_.certificates.empty()) tls.load_verify_file(options_.certificates, code);
    if (!code) return {};
    return Error(ErrorKind::kIo, "certificates " + options_.certificates + ": " + code.message(),
                 options_.certificates);
  }

  Status shake_hands(beast::ssl_stream<beast::tcp_stream&>& secured) {
    const std::string& host = request_.url.host;
    ErrorCode code;
    secured.set_verify_mode(ssl::verify_peer, code);
    secured.set_verify_callback(ssl::host_name_verification(host), code);
    if (SSL_set_tlsext_host_name(secured.native_handle(), host.c_str()) != 1) {
      return Error(ErrorKind::kInternal, "TLS refuses the host's name " + host);
    }
    code = wait(options_.connect_timeout,
                [&](auto handler) { secured.async_handshake(ssl::stream_base::client, std::move(handler)); });
    if (code) return failed("no TLS with", code);
    return {};
  }

  template <class Stream>
  Status converse(Stream& stream) {
    const bool through_proxy = request_.proxy != nullptr && !request_.url.secure;
    http::request<http::empty_body> message;
    message.method_string(request_.method);
    message.target(through_proxy ? request_.url.text() : request_.url.target);
    message.version(11);
    message.set(http::field::host, request_.url.authority());
    message.set(http::field::user_agent, options_.user_agent);
    message.set(http::field::accept_encoding, "identity");
    message.set(http::field::connection, "close");
    for (const auto& [name, value] : request_.headers) message.set(name, value);
    const ErrorCode code =
        wait(options_.stall_timeout, [&](auto handler) { http::async_write(stream, message, std::move(handler)); });
    if (code) return failed("cannot send to", code);
    return receive(stream);
  }

  template <class Stream>
  Status receive(Stream& stream) {
    http::response_parser<http::buffer_body> parser;
    parser.header_limit(kLargestHead);
    parser.body_limit(boost::none);
    parser.skip(request_.method == "HEAD");
    beast::flat_buffer buffer;
    ErrorCode code = wait(options_.stall_timeout,
                          [&](auto handler) { http::async_read_header(stream, buffer, parser, std::move(handler)); });
    if (code) return failed("no answer from", code);
    WEIR_RETURN_IF_ERROR(receiver_.begin(head_of(parser.get())));
    const auto bytes = std::make_unique<std::array<char, kReadBytes>>();
    while (!parser.is_done()) {
      auto& body = parser.get().body();
      body.data = bytes->data();
      body.size = bytes->size();
      code = wait(options_.stall_timeout,
                  [&](auto handler) { http::async_read_some(stream, buffer, parser, std::move(handler)); });
      if (code == http::error::need_buffer) code = {};
      const std::size_t taken = bytes->size() - body.size;
      if (taken > 0) WEIR_RETURN_IF_ERROR(receiver_.take({bytes->data(), taken}));
      if (code) return failed("the connection broke off:", code);
    }
    return {};
  }

  static HttpHead head_of(const http::response<http::buffer_body>& response) {
    HttpHead head;
    head.status = static_cast<int>(response.result_int());
    for (const auto& field : response) {
      std::string name(field.name_string());
      for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      head.headers.emplace(std::move(name), std::string(field.value()));
    }
    return head;
  }

  const HttpOptions& options_;
  const HttpRequest& request_;
  HttpReceiver& receiver_;
  asio::io_context context_;
  asio::ip::tcp::resolver resolver_{context_};
  beast::tcp_stream stream_;
  bool stopped_ = false;
};

}  // namespace

Status exchange(const HttpOptions& options, const HttpRequest& request, HttpReceiver& receiver) {
  try {
    return Exchange(options, request, receiver).run();
  } catch (const std::exception& error) {
    return Error(ErrorKind::kIo, request.url.authority() + ": " + error.what());
  }
}

}  // namespace weir::hub
