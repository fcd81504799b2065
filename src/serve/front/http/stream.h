// The bytes of one connection: what was received and not yet consumed, writes with a time limit, and a wait that others
// can end. Internal to this folder: the only header, with network_thread.h and connection.h, that shows the network
// library.
//
// One thread: that of the socket's io_context. Kept alive by its own pending operations.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/deadline.h"
#include "base/metrics.h"

namespace weir::serve::front::http {

/// Reading ahead stops here, so that a client which sends and never reads cannot fill the memory.
inline constexpr std::size_t kMaxPipelinedBytes = 64u << 10;

/// Bytes over all connections.
struct TrafficMetrics {
  metrics::Counter& received;
  metrics::Counter& sent;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Got { kBytes, kEnd, kTimeout, kFull };

  /// `max_buffered`: most bytes held unconsumed.
  Stream(boost::asio::ip::tcp::socket socket, std::size_t max_buffered, TrafficMetrics traffic);

  std::string_view bytes() const { return std::string_view(buffer_).substr(begin_); }
  void consume(std::size_t count);

  /// Waits for more bytes. kEnd: the peer closed its sending side, the connection broke, or close() was called. kFull:
  /// `max_buffered` bytes are waiting to be consumed.
  boost::asio::awaitable<Got> read_more(Deadline deadline);

  /// Starts one read in the background, unless one is under way; wakes the sleeper when it is done.
  void watch();
  bool ended() const { return ended_; }
  /// True when the kernel holds bytes that were not read yet.
  bool has_unread_bytes();

  /// False when the peer took nothing for `stall_timeout` or is gone; the stream is closed then.
  boost::asio::awaitable<bool> write(std::string_view head, std::string_view body, Clock::duration stall_timeout);

  /// Closes the sending side and reads until the peer closes its own, or the deadline; then close().
  boost::asio::awaitable<void> linger(Deadline deadline);
  void close();

  /// Returns at the deadline, on wake(), or when a read or write makes progress: the caller looks again. One sleeper.
  boost::asio::awaitable<void> sleep(Deadline deadline);
  void wake() { timer_.cancel(); }

  std::string peer() const { return peer_; }

 private:
  void on_readable(const boost::system::error_code& error);
  void fill();
  boost::asio::awaitable<bool> wait_writable(Deadline deadline);

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  const std::size_t max_buffered_;
  TrafficMetrics traffic_;
  std::string peer_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the bytes not yet consumed
  bool watching_ = false;
  bool ended_ = false;
  bool closed_ = false;
  bool writable_ = false;
};

}  // namespace weir::serve::front::http
