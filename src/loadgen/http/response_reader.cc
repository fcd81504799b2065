#include "loadgen/http/response_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace weir::loadgen {
namespace {

constexpr std::size_t kLeastRoom = 16u << 10;
constexpr std::size_t kKeptBytes = 1u << 20;  // a larger buffer is given back between responses
constexpr std::size_t kMostChunkLine = 1024;
constexpr std::string_view kLineEnd = "\r\n";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool equals_lower(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(), [](char a, char b) { return lower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return code == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::span<char> ResponseReader::room() {
  if (buffer_.size() - used_ < kLeastRoom) buffer_.resize(std::max(used_ + kLeastRoom, 2 * buffer_.size()));
  return std::span(buffer_).subspan(used_);
}

void ResponseReader::reset() {
  if (buffer_.size() > kKeptBytes) std::vector<char>().swap(buffer_);
  if (decoded_.capacity() > kKeptBytes) std::string().swap(decoded_);
  decoded_.clear();
  used_ = at_ = 0;
  head_read_ = false;
  status_ = 0;
  keep_alive_ = true;
  framing_ = Framing::kUntilClosed;
  body_bytes_ = 0;
  chunk_at_ = 0;
  chunk_left_ = 0;
  chunk_ends_ = last_chunk_ = false;
}

Reading ResponseReader::received(std::size_t bytes) {
  used_ += bytes;
  while (!head_read_) {
    const Reading reading = read_head();
    if (reading != Reading::kComplete) return reading;
  }
  return read_body();
}

/// kComplete when a head has been read, which may be an interim one.
Reading ResponseReader::read_head() {
  constexpr std::string_view kBegin = "HTTP/1.";
  const std::string_view all(buffer_.data(), used_);
  if (all.substr(0, kBegin.size()) != kBegin.substr(0, all.size())) return Reading::kBroken;
  const std::size_t end = all.find("\r\n\r\n", at_);
  if (end == std::string_view::npos) {
    at_ = used_ < 3 ? 0 : used_ - 3;
    return used_ > kMostHeadBytes ? Reading::kTooLarge : Reading::kMore;
  }
  if (end > kMostHeadBytes) return Reading::kTooLarge;
  std::string_view head = all.substr(0, end);
  std::string_view line = head.substr(0, head.find(kLineEnd));
  if (!parse_status_line(line)) return Reading::kBroken;
  while (line.size() < head.size()) {
    head.remove_prefix(line.size() + kLineEnd.size());
    line = head.substr(0, head.find(kLineEnd));
    if (!parse_field(line)) return Reading::kBroken;
  }
  at_ = end + 4;
  if (status_ / 100 != 1) {
    if (status_ == 204 || status_ == 304) framing_ = Framing::kNone;
    if (framing_ == Framing::kUntilClosed) keep_alive_ = false;
    chunk_at_ = at_;
    head_read_ = true;
    return Reading::kComplete;
  }
  std::memmove(buffer_.data(), buffer_.data() + at_, used_ - at_);
  used_ -= at_;
  at_ = 0;
  framing_ = Framing::kUntilClosed;
  return Reading::kComplete;
}

bool ResponseReader::parse_status_line(std::string_view line) {
  // "HTTP/1.x NNN", and a reason that nobody needs
  if (line.size() < 12 || line[8] != ' ' || (line.size() > 12 && line[12] != ' ')) return false;
  if (line[7] != '0' && line[7] != '1') return false;
  keep_alive_ = line[7] == '1';
  return parse_number(line.substr(9, 3), status_) && status_ >= 100 && status_ <= 599;
}

bool ResponseReader::parse_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (equals_lower(name, "content-length")) {
    if (framing_ == Framing::kChunks) return true;  // chunks take precedence
    std::uint64_t length = 0;
    if (!parse_number(value, length)) return false;
    if (framing_ == Framing::kLength && length != body_bytes_) return false;
    framing_ = Framing::kLength;
    body_bytes_ = length;
  } else if (equals_lower(name, "transfer-encoding")) {
    if (!equals_lower(value, "chunked")) return false;
    framing_ = Framing::kChunks;
  } else if (equals_lower(name, "connection")) {
    if (equals_lower(value, "close")) keep_alive_ = false;
    if (equals_lower(value, "keep-alive")) keep_alive_ = true;
  }
  return true;
}

Reading ResponseReader::read_body() {
  const std::size_t have = used_ - at_;
  switch (framing_) {
    case Framing::kNone:
      return have == 0 ? Reading::kComplete : Reading::kBroken;
    case Framing::kLength:
      if (body_bytes_ > most_body_bytes_) return Reading::kTooLarge;
      if (have < body_bytes_) return Reading::kMore;
      return have == body_bytes_ ? Reading::kComplete : Reading::kBroken;
    case Framing::kChunks:
      return read_chunks();
    case Framing::kUntilClosed:
      break;
  }
  return have > most_body_bytes_ ? Reading::kTooLarge : Reading::kMore;
}

bool ResponseReader::take_chunk_size(std::string_view line) {
  const std::string_view size = trimmed(line.substr(0, line.find(';')));
  if (size.empty() || !parse_number(size, chunk_left_, 16)) return false;
  last_chunk_ = chunk_left_ == 0;
  return true;
}

Reading ResponseReader::read_chunks() {
  for (;;) {
    const std::string_view rest(buffer_.data() + chunk_at_, used_ - chunk_at_);
    if (chunk_left_ > 0) {
      const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), chunk_left_));
      if (taken == 0) return Reading::kMore;
      if (decoded_.size() + chunk_left_ > most_body_bytes_) return Reading::kTooLarge;
      decoded_.append(rest.substr(0, taken));
      chunk_at_ += taken;
      chunk_left_ -= taken;
      chunk_ends_ = chunk_left_ == 0;
      continue;
    }
    const std::size_t end = rest.find(kLineEnd);
    if (end == std::string_view::npos) return rest.size() > kMostChunkLine ? Reading::kBroken : Reading::kMore;
    const std::string_view line = rest.substr(0, end);
    if (line.size() > kMostChunkLine) return Reading::kBroken;
    chunk_at_ += end + kLineEnd.size();
    if (chunk_ends_) {
      if (!line.empty()) return Reading::kBroken;
      chunk_ends_ = false;
    } else if (!last_chunk_) {
      if (!take_chunk_size(line)) return Reading::kBroken;
      if (chunk_left_ > most_body_bytes_) return Reading::kTooLarge;
    } else if (line.empty()) {
      return chunk_at_ == used_ ? Reading::kComplete : Reading::kBroken;
    }
    if (used_ - at_ > 2 * most_body_bytes_ + kMostHeadBytes) return Reading::kTooLarge;  // chunks of hardly any data
  }
}

Reading ResponseReader::closed() {
  return head_read_ && framing_ == Framing::kUntilClosed ? Reading::kComplete : Reading::kMore;
}

std::string_view ResponseReader::body() const {
  if (!head_read_) return {};
  if (framing_ == Framing::kChunks) return decoded_;
  return {buffer_.data() + at_, used_ - at_};
}

}  // namespace weir::loadgen
