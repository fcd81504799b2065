#include "loadgen/toy/toy_server.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::loadgen {
namespace {

constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kStop = 1;
constexpr std::uint64_t kFirstConnection = 2;
constexpr std::size_t kMostRequestBytes = 16u << 20;
constexpr double kMostLeakedBytes = 1u << 30;
constexpr Clock::duration kLeakEvery = std::chrono::milliseconds(50);

std::string body_for(std::string_view head, std::size_t texts) {
  std::string vectors;
  for (std::size_t i = 0; i < texts; ++i) {
    vectors += i == 0 ? "" : ",";
    vectors += head.starts_with("POST /embed ") ? "[0.6,0.8]" : R"({"object":"embedding","embedding":[0.6,0.8]})";
  }
  if (head.starts_with("POST /embed ")) return "[" + vectors + "]";
  if (head.starts_with("POST /v2/")) {
    const std::string count = std::to_string(texts);
    std::string data;
    for (std::size_t i = 0; i < texts; ++i) data += i == 0 ? "0.6,0.8" : ",0.6,0.8";
    return R"({"model_name":"toy","outputs":[{"name":"embedding","datatype":"FP32","shape":[)" + count +
           R"(,2],"data":[)" + data + "]}]}";
  }
  return R"({"object":"list","data":[)" + vectors + R"(],"usage":{"prompt_tokens":4,"total_tokens":4}})";
}

std::string response(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " Toy\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// The length of the request at the front of `bytes`; 0 while it is not complete.
std::size_t request_length(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  constexpr std::string_view kField = "Content-Length: ";
  const std::size_t field = bytes.substr(0, end).find(kField);
  std::size_t length = 0;
  if (field != std::string_view::npos) {
    const char* begin = bytes.data() + field + kField.size();
    std::from_chars(begin, bytes.data() + end, length);
  }
  const std::size_t whole = end + 4 + length;
  return length <= kMostRequestBytes && bytes.size() >= whole ? whole : 0;
}

struct Due {
  Clock::time_point at;
  std::uint64_t connection;
  bool faulty;
  bool operator>(const Due& other) const { return at > other.at; }
};

struct Connection {
  int fd;
  std::string received;
  std::string target;  ///< First line of the request that is being answered.
};

}  // namespace

class ToyServer::Loop {
 public:
  Loop(const ToyBehaviour& behaviour, int listener)
      : behaviour_(behaviour),
        listener_(listener),
        stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    for (const auto& [id, connection] : connections_) ::close(connection.fd);
    for (const int fd : {listener_, stop_fd_, epoll_fd_}) ::close(fd);
  }

  void run();
  void stop() const { eventfd_write(stop_fd_, 1); }

 private:
  void watch(int fd, std::uint64_t id) const;
  void accept_all();
  void receive(std::uint64_t id);
  void take_request(std::uint64_t id, Connection& connection);
  void answer(const Due& due);
  void answer_faulty(std::uint64_t id, Connection& connection);
  void send(std::uint64_t id, const Connection& connection, std::string_view bytes);
  void close(std::uint64_t id);
  Clock::time_point due_time(Clock::time_point now) const;
  Clock::time_point after_stall(Clock::time_point at) const;
  void leak(Clock::time_point now);
  int wait(std::vector<epoll_event>& events);

  const ToyBehaviour behaviour_;
  int listener_;
  int stop_fd_;
  int epoll_fd_;
  Clock::time_point started_ = Clock::now();
  std::uint64_t next_id_ = kFirstConnection;
  std::uint64_t requests_ = 0;
  std::map<std::uint64_t, Connection> connections_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<std::vector<char>> leaked_;
  double leaked_bytes_ = 0;
};

void ToyServer::Loop::watch(int fd, std::uint64_t id) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
}

void ToyServer::Loop::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections_.emplace(next_id_, Connection{fd, {}, {}});
    watch(fd, next_id_++);
  }
}

void ToyServer::Loop::close(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  ::close(found->second.fd);
  connections_.erase(found);
}

void ToyServer::Loop::receive(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  char bytes[16384];
  const ssize_t got = recv(connection.fd, bytes, sizeof bytes, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0 || connection.received.size() > kMostRequestBytes) return close(id);
  connection.received.append(bytes, static_cast<std::size_t>(got));
  take_request(id, connection);
}

void ToyServer::Loop::take_request(std::uint64_t id, Connection& connection) {
  const std::size_t length = request_length(connection.received);
  if (length == 0) return;
  connection.target = connection.received.substr(0, connection.received.find('\r'));
  connection.received.erase(0, length);
  ++requests_;
  const bool faulty = behaviour_.fault != ToyFault::kNone && requests_ % behaviour_.fault_every == 0;
  const Clock::time_point now = Clock::now();
  const Due due{due_time(now), id, faulty};
  if (due.at <= now) return answer(due);
  due_.push(due);
}

Clock::time_point ToyServer::Loop::due_time(Clock::time_point now) const {
  const bool slow = behaviour_.slow_every != 0 && requests_ % behaviour_.slow_every == 0;
  const Clock::duration latency = slow ? behaviour_.slow : behaviour_.latency;
  if (latency == Clock::duration::zero() && behaviour_.stall_every == Clock::duration::zero()) return now;
  return after_stall(now + latency);
}

/// The end of the stall that `at` falls into, or `at`.
Clock::time_point ToyServer::Loop::after_stall(Clock::time_point at) const {
  if (behaviour_.stall_every == Clock::duration::zero()) return at;
  const auto cycles = (at - started_) / behaviour_.stall_every;
  const Clock::time_point begin = started_ + cycles * behaviour_.stall_every;
  return cycles > 0 && at < begin + behaviour_.stall ? begin + behaviour_.stall : at;
}

void ToyServer::Loop::answer(const Due& due) {
  const auto found = connections_.find(due.connection);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (due.faulty) return answer_faulty(due.connection, connection);
  send(due.connection, connection, response(200, body_for(connection.target, behaviour_.texts)));
}

void ToyServer::Loop::answer_faulty(std::uint64_t id, Connection& connection) {
  const std::string whole = response(200, body_for(connection.target, behaviour_.texts));
  switch (behaviour_.fault) {
    case ToyFault::kNone:
    case ToyFault::kSilence:
      return;
    case ToyFault::kStatus:
      return send(id, connection, response(behaviour_.status, R"({"error":{"message":"as asked for"}})"));
    case ToyFault::kClose:
      return close(id);
    case ToyFault::kCloseMidway:
      send(id, connection, std::string_view(whole).substr(0, whole.size() / 2));
      return close(id);
    case ToyFault::kGarbage:
      return send(id, connection, "\x01\x02 this is no HTTP \xFF\r\n\r\n");
    case ToyFault::kWrongBody:
      return send(id, connection, response(200, R"({"answer":42})"));
  }
}

void ToyServer::Loop::send(std::uint64_t id, const Connection& connection, std::string_view bytes) {
  // An answer is smaller than the socket's buffer: a part that does not fit is a client that reads nothing.
  const ssize_t sent = ::send(connection.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(bytes.size())) close(id);
}

void ToyServer::Loop::leak(Clock::time_point now) {
  const double wanted = behaviour_.leak_bytes_per_second * std::chrono::duration<double>(now - started_).count();
  const double missing = std::min(wanted, kMostLeakedBytes) - leaked_bytes_;
  if (missing < 4096) return;
  leaked_.emplace_back(static_cast<std::size_t>(missing), 'x');
  leaked_bytes_ += missing;
}

int ToyServer::Loop::wait(std::vector<epoll_event>& events) {
  Clock::duration left = std::chrono::hours(1);
  const Clock::time_point now = Clock::now();
  if (!due_.empty()) left = std::min(left, due_.top().at - now);
  if (behaviour_.leak_bytes_per_second > 0) left = std::min(left, kLeakEvery);
  left = std::max(left, Clock::duration::zero());
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  const timespec timeout{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  return epoll_pwait2(epoll_fd_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
}

void ToyServer::Loop::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; the default, 50 microseconds, is 1 % of a latency of 5 ms
  watch(listener_, kListener);
  watch(stop_fd_, kStop);
  std::vector<epoll_event> events(256);
  for (;;) {
    const int count = wait(events);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
      if (id == kStop) return;
      if (id == kListener) {
        accept_all();
      } else {
        receive(id);
      }
    }
    const Clock::time_point now = Clock::now();
    while (!due_.empty() && due_.top().at <= now) {
      const Due due = due_.top();
      due_.pop();
      answer(due);
    }
    leak(now);
  }
}

Result<ToyFault> toy_fault_from_name(const std::string& name) {
  constexpr std::string_view kNames[] = {"none", "status", "close", "close_midway", "garbage", "wrong_body", "silence"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) {
    return Error(ErrorKind::kInvalidArgument, "'" + name + "' is no fault that the toy server knows", "--fault");
  }
  return static_cast<ToyFault>(found - std::begin(kNames));
}

Result<std::unique_ptr<ToyServer>> ToyServer::start(const ToyBehaviour& behaviour, std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), length) != 0 || listen(listener, 1024) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const Error error(ErrorKind::kIo, std::string("cannot listen on 127.0.0.1: ") + std::strerror(errno));
    ::close(listener);
    return error;
  }
  return std::unique_ptr<ToyServer>(
      new ToyServer(std::make_unique<Loop>(behaviour, listener), ntohs(address.sin_port)));
}

ToyServer::ToyServer(std::unique_ptr<Loop> loop, std::uint16_t port)
    : loop_(std::move(loop)), port_(port), thread_([this] { loop_->run(); }) {}

ToyServer::~ToyServer() {
  loop_->stop();
  thread_.join();
}

}  // namespace weir::loadgen
