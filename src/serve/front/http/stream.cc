#include "serve/front/http/stream.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace weir::serve::front::http {
namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t kReadBytes = 64u << 10;
constexpr std::size_t kIdleBufferBytes = 16u << 10;  // A larger buffer is given back once it is empty.

std::string peer_name(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return {};
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

}  // namespace

Stream::Stream(asio::ip::tcp::socket socket, std::size_t max_buffered, TrafficMetrics traffic)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      max_buffered_(max_buffered),
      traffic_(traffic),
      peer_(peer_name(socket_)) {
  error_code ignored;  // A socket that is broken already says so on the first read.
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Stream::consume(std::size_t count) {
  begin_ += count;
  if (begin_ < buffer_.size()) return;
  buffer_.clear();
  begin_ = 0;
  if (buffer_.capacity() > kIdleBufferBytes) buffer_.shrink_to_fit();
}

void Stream::fill() {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  std::array<char, kReadBytes> received;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
  const std::size_t room = std::min(received.size(), max_buffered_ - std::min(max_buffered_, buffer_.size()));
  if (room == 0) return;
  error_code error;
  const std::size_t count = socket_.read_some(asio::buffer(received.data(), room), error);
  buffer_.append(received.data(), count);
  traffic_.received.add(count);
  if (error && error != asio::error::would_block && error != asio::error::try_again) ended_ = true;
}

void Stream::on_readable(const error_code& error) {
  watching_ = false;
  if (error || closed_) {
    ended_ = true;
  } else {
    fill();
  }
  wake();
}

void Stream::watch() {
  if (watching_ || ended_) return;
  watching_ = true;
  socket_.async_wait(asio::ip::tcp::socket::wait_read,
                     [self = shared_from_this()](const error_code& error) { self->on_readable(error); });
}

bool Stream::has_unread_bytes() {
  error_code error;
  return !ended_ && socket_.available(error) > 0 && !error;
}

asio::awaitable<Stream::Got> Stream::read_more(Deadline deadline) {
  const std::size_t before = bytes().size();
  if (before >= max_buffered_) co_return Got::kFull;
  while (bytes().size() == before) {
    if (ended_) co_return Got::kEnd;
    if (deadline.expired()) co_return Got::kTimeout;
    watch();
    co_await sleep(deadline);
  }
  co_return Got::kBytes;
}

asio::awaitable<void> Stream::sleep(Deadline deadline) {
  timer_.expires_at(deadline.at());
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<bool> Stream::wait_writable(Deadline deadline) {
  writable_ = false;
  socket_.async_wait(asio::ip::tcp::socket::wait_write, [self = shared_from_this()](const error_code&) {
    self->writable_ = true;
    self->wake();
  });
  while (!writable_) {
    if (deadline.expired()) co_return false;
    co_await sleep(deadline);
  }
  co_return !closed_;
}

asio::awaitable<bool> Stream::write(std::string_view head, std::string_view body, Clock::duration stall_timeout) {
  while (!head.empty() || !body.empty()) {
    if (closed_) co_return false;
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head.data(), head.size()),
                                                       asio::buffer(body.data(), body.size())};
    error_code error;
    const std::size_t count = socket_.write_some(buffers, error);
    traffic_.sent.add(count);
    const std::size_t of_head = std::min(count, head.size());
    head.remove_prefix(of_head);
    body.remove_prefix(count - of_head);
    if (!error) continue;
    const bool would_block = error == asio::error::would_block || error == asio::error::try_again;
    bool writable = false;
    if (would_block) writable = co_await wait_writable(Deadline::after(stall_timeout));
    if (writable) continue;
    close();
    co_return false;
  }
  co_return true;
}

asio::awaitable<void> Stream::linger(Deadline deadline) {
  error_code ignored;
  if (!closed_) socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  while (true) {
    consume(bytes().size());
    const Got got = co_await read_more(deadline);
    if (got != Got::kBytes) break;
  }
  close();
}

void Stream::close() {
  if (closed_) return;
  closed_ = true;
  ended_ = true;
  error_code ignored;
  socket_.close(ignored);
  wake();
}

}  // namespace weir::serve::front::http
