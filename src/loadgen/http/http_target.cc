#include "loadgen/http/http_target.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadgen/http/response_reader.h"

namespace weir::loadgen {
namespace {

/// What the drivers of all threads share; never changes.
struct Shared {
  SocketAddress address;
  std::string description;
  std::vector<std::string> messages;  ///< Head and body.
  std::vector<RequestSize> sizes;
  AnswerCheck check;
};

struct Connection {
  enum class State : std::uint8_t { kClosed, kConnecting, kIdle, kBusy };

  int fd = -1;
  State state = State::kClosed;
  bool retried = false;
  std::uint64_t answers = 0;  ///< On this connection.
  std::uint32_t request = 0;
  std::size_t sent = 0;
  ResponseReader reader;
};

class HttpDriver final : public Driver {
 public:
  HttpDriver(std::shared_ptr<const Shared> shared, std::uint32_t slots, int epoll_fd)
      : shared_(std::move(shared)), epoll_fd_(epoll_fd), connections_(slots) {}
  HttpDriver(const HttpDriver&) = delete;
  HttpDriver& operator=(const HttpDriver&) = delete;
  ~HttpDriver() override {
    for (Connection& connection : connections_) close_connection(connection);
    ::close(epoll_fd_);
  }

  void start(std::uint32_t slot, std::uint32_t request) override;
  void wait(Clock::time_point until, std::vector<Completion>& completions) override;
  void abandon(std::uint32_t slot) override { close_connection(connections_[slot]); }

 private:
  static constexpr std::uint64_t kThoroughEvery = 64;
  static constexpr int kMostEvents = 256;

  void connect(std::uint32_t slot);
  void connected(std::uint32_t slot);
  void send(std::uint32_t slot);
  void receive(std::uint32_t slot, bool may_be_at_end);
  void at_end(std::uint32_t slot, Ending how);
  void answered(std::uint32_t slot);
  void handle(std::uint32_t slot, std::uint32_t events);
  void finish(std::uint32_t slot, Outcome outcome, Clock::time_point at = Clock::now());
  static void close_connection(Connection& connection);

  std::shared_ptr<const Shared> shared_;
  int epoll_fd_;
  std::vector<Connection> connections_;
  std::vector<Completion> ended_;
};

void HttpDriver::close_connection(Connection& connection) {
  if (connection.fd >= 0) ::close(std::exchange(connection.fd, -1));
  connection.state = Connection::State::kClosed;
  connection.answers = 0;
}

void HttpDriver::finish(std::uint32_t slot, Outcome outcome, Clock::time_point at) {
  Connection& connection = connections_[slot];
  if (outcome.ending != Ending::kAnswered && outcome.ending != Ending::kStatus) close_connection(connection);
  ended_.push_back({slot, at, outcome});
}

void HttpDriver::start(std::uint32_t slot, std::uint32_t request) {
  Connection& connection = connections_[slot];
  connection.request = request;
  connection.retried = false;
  if (connection.state == Connection::State::kIdle) {
    connected(slot);
  } else {
    connect(slot);
  }
}

void HttpDriver::connect(std::uint32_t slot) {
  Connection& connection = connections_[slot];
  const SocketAddress& address = shared_->address;
  const auto* where = reinterpret_cast<const sockaddr*>(address.bytes);
  connection.fd = ::socket(where->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection.fd < 0) return finish(slot, {Ending::kConnectFailed, 0});
  const int on = 1;
  ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const bool made = ::connect(connection.fd, where, address.length) == 0;
  if (!made && errno != EINPROGRESS) {
    return finish(slot, {errno == ECONNREFUSED ? Ending::kConnectRefused : Ending::kConnectFailed, 0});
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u32 = slot;
  if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, connection.fd, &event) != 0) {
    return finish(slot, {Ending::kConnectFailed, 0});
  }
  connection.state = Connection::State::kConnecting;
  if (made) connected(slot);
}

void HttpDriver::connected(std::uint32_t slot) {
  Connection& connection = connections_[slot];
  connection.state = Connection::State::kBusy;
  connection.sent = 0;
  connection.reader.reset();
  send(slot);
}

void HttpDriver::send(std::uint32_t slot) {
  Connection& connection = connections_[slot];
  const std::string& message = shared_->messages[connection.request];
  while (connection.sent < message.size()) {
    const ssize_t sent =
        ::send(connection.fd, message.data() + connection.sent, message.size() - connection.sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return at_end(slot, Ending::kReset);
    connection.sent += static_cast<std::size_t>(sent);
  }
}

void HttpDriver::receive(std::uint32_t slot, bool may_be_at_end) {
  Connection& connection = connections_[slot];
  while (connection.state == Connection::State::kBusy) {
    const std::span<char> room = connection.reader.room();
    const ssize_t got = ::recv(connection.fd, room.data(), room.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) return at_end(slot, Ending::kReset);
    if (got == 0) {
      if (connection.reader.closed() == Reading::kComplete) return answered(slot);
      return at_end(slot, Ending::kClosedEarly);
    }
    switch (connection.reader.received(static_cast<std::size_t>(got))) {
      case Reading::kComplete:
        return answered(slot);
      case Reading::kBroken:
        return finish(slot, {Ending::kNotTheProtocol, 0});
      case Reading::kTooLarge:
        return finish(slot, {Ending::kTooLarge, 0});
      case Reading::kMore:
        // A stream that gave less than there was room for is empty; its next bytes make an event.
        if (static_cast<std::size_t>(got) < room.size() && !may_be_at_end) return;
        break;
    }
  }
}

/// The connection is gone before the answer. One that had served before may have been closed while it was idle.
void HttpDriver::at_end(std::uint32_t slot, Ending how) {
  Connection& connection = connections_[slot];
  const bool was_idle = connection.answers > 0 && !connection.reader.began() && !connection.retried;
  if (!was_idle) return finish(slot, {how, 0});
  close_connection(connection);
  connection.retried = true;
  connect(slot);
}

void HttpDriver::answered(std::uint32_t slot) {
  Connection& connection = connections_[slot];
  const ResponseReader& reader = connection.reader;
  const Clock::time_point at = Clock::now();  // before the check, which is ours
  Outcome outcome;
  outcome.code = reader.status();
  if (outcome.code / 100 != 2) {
    outcome.ending = Ending::kStatus;
  } else if (shared_->check) {
    const bool thoroughly = connection.answers % kThoroughEvery == 0;
    if (!shared_->check(reader.body(), shared_->sizes[connection.request], thoroughly)) {
      outcome.ending = Ending::kWrongAnswer;
    }
  }
  ++connection.answers;
  const bool all_sent = connection.sent == shared_->messages[connection.request].size();
  if (reader.keep_alive() && all_sent) {
    connection.state = Connection::State::kIdle;
  } else {
    close_connection(connection);
  }
  finish(slot, outcome, at);
}

void HttpDriver::handle(std::uint32_t slot, std::uint32_t events) {
  Connection& connection = connections_[slot];
  if (connection.state == Connection::State::kConnecting) {
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) {
      return finish(slot, {error == ECONNREFUSED ? Ending::kConnectRefused : Ending::kConnectFailed, 0});
    }
    if ((events & EPOLLOUT) == 0) return;
    connected(slot);
  } else if (connection.state == Connection::State::kIdle) {
    // Closed by the server, or bytes that nobody asked for: not to be used again.
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) close_connection(connection);
    return;
  } else if ((events & EPOLLOUT) != 0 && connection.sent < shared_->messages[connection.request].size()) {
    send(slot);
  }
  const bool may_be_at_end = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if ((events & EPOLLIN) != 0 || may_be_at_end) receive(slot, may_be_at_end);
}

void HttpDriver::wait(Clock::time_point until, std::vector<Completion>& completions) {
  epoll_event events[kMostEvents];
  const Clock::duration left =
      ended_.empty() ? std::max(until - Clock::now(), Clock::duration::zero()) : Clock::duration{};
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  timespec timeout{};
  timeout.tv_sec = nanoseconds / 1'000'000'000;
  timeout.tv_nsec = nanoseconds % 1'000'000'000;
  const int count = ::epoll_pwait2(epoll_fd_, events, kMostEvents, &timeout, nullptr);
  for (int i = 0; i < count; ++i) handle(events[i].data.u32, events[i].events);
  completions.insert(completions.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

class HttpTarget final : public Target {
 public:
  explicit HttpTarget(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}

  Result<std::unique_ptr<Driver>> open(std::uint32_t slots) override {
    const int epoll_fd = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) return Error(ErrorKind::kIo, std::string("epoll cannot be had: ") + std::strerror(errno));
    return std::unique_ptr<Driver>(std::make_unique<HttpDriver>(shared_, slots, epoll_fd));
  }
  const std::vector<RequestSize>& requests() const override { return shared_->sizes; }
  std::string describe() const override { return shared_->description; }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

Result<std::unique_ptr<Target>> make_http_target(HttpRequests requests) {
  auto shared = std::make_shared<Shared>();
  WEIR_ASSIGN_OR_RETURN(shared->address, resolve(requests.url));
  std::string head = "POST " + (requests.url.path.empty() ? "/" : requests.url.path) +
                     " HTTP/1.1\r\nHost: " + requests.url.authority() + "\r\nContent-Type: application/json\r\n";
  for (const std::string& header : requests.headers) head += header + "\r\n";
  for (const std::string& body : requests.bodies) {
    shared->messages.push_back(head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  shared->description = std::move(requests.description);
  shared->sizes = std::move(requests.sizes);
  shared->check = std::move(requests.check);
  return std::unique_ptr<Target>(std::make_unique<HttpTarget>(std::move(shared)));
}

}  // namespace weir::loadgen
