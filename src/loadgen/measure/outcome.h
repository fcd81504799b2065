// How a request of the load ended, and how many ended in which way. Values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weir::loadgen {

enum class Ending : std::uint8_t {
  kAnswered,        ///< Status 2xx and an answer of the form that was asked for.
  kStatus,          ///< Another status; Outcome::code says which.
  kConnectRefused,  ///< Nobody listens.
  kConnectFailed,   ///< The connection could not be made for another reason.
  kClosedEarly,     ///< The server closed before the answer was complete.
  kReset,           ///< The connection broke.
  kTimeout,         ///< No complete answer in time.
  kNotTheProtocol,  ///< Bytes that are not HTTP.
  kWrongAnswer,     ///< Status 2xx, and not what was asked for.
  kTooLarge,        ///< An answer beyond the limit.
};
inline constexpr std::size_t kEndings = 10;

/// Such as "connect_refused": the key in reports.
std::string_view ending_name(Ending ending);

struct Outcome {
  Ending ending = Ending::kAnswered;
  int code = 0;  ///< HTTP or gRPC status, if there was one.

  bool answered() const { return ending == Ending::kAnswered; }
};

class OutcomeCounts {
 public:
  void add(Outcome outcome);
  void merge(const OutcomeCounts& other);

  std::uint64_t answered() const { return by_ending_[0]; }
  std::uint64_t failed() const;
  std::uint64_t total() const { return answered() + failed(); }
  double failed_share() const;

  /// Failures by name, those with a status as "status_429". Empty when there are none.
  std::map<std::string, std::uint64_t> failures() const;

 private:
  std::array<std::uint64_t, kEndings> by_ending_{};
  std::map<int, std::uint64_t> by_status_;
};

}  // namespace weir::loadgen
