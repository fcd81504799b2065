// A client for the tests of this folder and of the server: sends bytes as they are and reads one response at a time.
// Plain sockets, so that it can do what a well-behaved HTTP library would not. A read gives up after ten seconds.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "serve/front/http/message.h"

namespace weir::serve::front::http {

struct TestResponse {
  int status = 0;
  Fields fields;
  std::string body;

  /// Empty when there is none.
  std::string field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (equals_ignoring_case(key, name)) return value;
    }
    return {};
  }
};

class TestClient {
 public:
  explicit TestClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~TestClient() { close(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return connected_; }

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void close_sending_side() { ::shutdown(socket_, SHUT_WR); }

  /// False when the peer takes no more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// The next response; nothing when the connection ends, breaks or stays silent before it is complete.
  std::optional<TestResponse> read(bool has_body = true) {
    const auto head = read_head();
    if (!head) return std::nullopt;
    TestResponse response = parse_head(*head);
    const std::string length = response.field("Content-Length");
    const std::size_t size = has_body && !length.empty() ? std::strtoul(length.c_str(), nullptr, 10) : 0;
    while (buffer_.size() < size) {
      if (!receive()) return std::nullopt;
    }
    response.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return response;
  }

  /// True when the peer closes in good order (no reset, no silence) and nothing is left to read.
  bool at_end() {
    while (receive()) {
    }
    return last_receive_ == 0 && buffer_.empty();
  }

  std::optional<TestResponse> ask(std::string_view bytes) {
    if (!send(bytes)) return std::nullopt;
    return read();
  }

 private:
  bool receive() {
    char bytes[16384];
    // A fuzzer's clock interrupts it.
    do {
      last_receive_ = ::recv(socket_, bytes, sizeof(bytes), 0);
    } while (last_receive_ < 0 && errno == EINTR);
    if (last_receive_ > 0) buffer_.append(bytes, static_cast<std::size_t>(last_receive_));
    return last_receive_ > 0;
  }

  std::optional<std::string> read_head() {
    std::size_t end = buffer_.find("\r\n\r\n");
    while (end == std::string::npos) {
      if (!receive()) return std::nullopt;
      end = buffer_.find("\r\n\r\n");
    }
    std::string head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    return head;
  }

  static TestResponse parse_head(std::string_view head) {
    TestResponse response;
    response.status = std::atoi(std::string(head.substr(9, 3)).c_str());
    head.remove_prefix(head.find("\r\n") + 2);
    while (!head.empty()) {
      const std::string_view line = head.substr(0, head.find("\r\n"));
      const std::size_t colon = line.find(": ");
      response.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
      head.remove_prefix(line.size() + 2);
    }
    return response;
  }

  int socket_;
  bool connected_ = false;
  ssize_t last_receive_ = 1;
  std::string buffer_;
};

}  // namespace weir::serve::front::http
