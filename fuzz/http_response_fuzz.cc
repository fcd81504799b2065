// A server's bytes from anywhere, in parts of any size: the reader neither crashes nor goes beyond its limits, and
// where the bytes were cut does not change what they are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "loadgen/http/response_reader.h"

namespace {

using weir::loadgen::Reading;
using weir::loadgen::ResponseReader;

constexpr std::size_t kMostBodyBytes = 4096;

struct Answer {
  Reading reading = Reading::kMore;
  int status = 0;
  std::string body;
  bool operator==(const Answer&) const = default;
};

Answer read(ResponseReader& reader, std::string_view bytes, std::size_t part) {
  reader.reset();
  Answer answer;
  while (!bytes.empty() && answer.reading == Reading::kMore) {
    const auto room = reader.room();
    const std::size_t size = std::min({part, bytes.size(), room.size()});
    std::memcpy(room.data(), bytes.data(), size);
    answer.reading = reader.received(size);
    bytes.remove_prefix(size);
  }
  if (answer.reading == Reading::kMore) answer.reading = reader.closed();
  if (answer.reading == Reading::kComplete) {
    answer.status = reader.status();
    answer.body = reader.body();
    if (answer.status < 200 || answer.status > 599 || answer.body.size() > kMostBodyBytes) std::abort();
  }
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  ResponseReader reader(kMostBodyBytes);
  const std::size_t part = data[0] + std::size_t{1};
  const Answer once = read(reader, bytes, part);
  if (read(reader, bytes, part) != once) std::abort();
  // Bytes after a complete answer are seen or not, as the parts are; and a limit may be met in the middle of one.
  const Answer bytewise = read(reader, bytes, 1);
  const bool both = once.reading == Reading::kComplete && bytewise.reading == Reading::kComplete;
  if (both && bytewise != once) std::abort();
  return 0;
}
