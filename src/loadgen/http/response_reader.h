// Reads one HTTP/1.x response at a time from the bytes of a connection: framing by Content-Length, by chunks or by the
// end of the connection. Bounded: a head of at most 64 KiB, a body of at most `most_body_bytes`. Never fails on any
// bytes but says what they are. One thread.
//
//   while (...) { n = recv(fd, reader.room()); if (reader.received(n) != Reading::kMore) break; }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::loadgen {

enum class Reading : std::uint8_t {
  kMore,      ///< Not complete yet.
  kComplete,  ///< status() and body() hold the answer.
  kBroken,    ///< Not HTTP, or bytes after the answer that nobody asked for.
  kTooLarge,
};

class ResponseReader {
 public:
  static constexpr std::size_t kMostHeadBytes = 64u << 10;

  explicit ResponseReader(std::size_t most_body_bytes = 64u << 20) : most_body_bytes_(most_body_bytes) {}

  /// Where the next bytes are to be put; never empty.
  std::span<char> room();
  /// That many have been.
  Reading received(std::size_t bytes);
  /// The connection was closed in good order: the end of a body that has no other.
  Reading closed();
  /// For the next response.
  void reset();

  /// Whether any byte of the response has come.
  bool began() const { return used_ > 0; }
  int status() const { return status_; }
  std::string_view body() const;
  /// Whether another request may be sent on this connection.
  bool keep_alive() const { return keep_alive_; }

 private:
  enum class Framing : std::uint8_t { kNone, kLength, kChunks, kUntilClosed };

  Reading read_head();
  bool parse_status_line(std::string_view line);
  bool parse_field(std::string_view line);
  Reading read_body();
  Reading read_chunks();
  bool take_chunk_size(std::string_view line);

  std::size_t most_body_bytes_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;  ///< Bytes in the buffer.
  std::size_t at_ = 0;    ///< Where the body begins once the head is read; the search for the head's end before.
  bool head_read_ = false;
  int status_ = 0;
  bool keep_alive_ = true;
  Framing framing_ = Framing::kUntilClosed;
  std::uint64_t body_bytes_ = 0;  ///< With kLength.
  std::size_t chunk_at_ = 0;      ///< What of the chunks has been decoded.
  std::uint64_t chunk_left_ = 0;
  bool chunk_ends_ = false;  ///< A chunk's data is over, its line end is due.
  bool last_chunk_ = false;  ///< Trailer fields follow.
  std::string decoded_;
};

}  // namespace weir::loadgen
