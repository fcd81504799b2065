// Values of settings, and their one text form: the same in flags, environment variables and files. Pure functions.
//
//   integer   8080
//   size      8MiB, 512KiB, 2GiB, or bytes: 65536
//   duration  500ms, 60s, 5m, 2h; 0 needs no unit
//   boolean   true/false, on/off, yes/no, 1/0
//   choice    one of the words that the setting allows
//   text      as it is
//   list      comma-separated, except where the source has lists of its own
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace weir::settings {

enum class Kind { kInteger, kSize, kDuration, kBool, kChoice, kText, kList };

/// Bytes, so that the type tells a size from a plain number.
struct Size {
  std::int64_t bytes = 0;
  bool operator==(const Size&) const = default;
};

using Duration = std::chrono::milliseconds;
using List = std::vector<std::string>;
using Value = std::variant<std::int64_t, Size, Duration, bool, std::string, List>;

/// What a setting allows. `min` and `max` count units, bytes or milliseconds.
struct Domain {
  Kind kind = Kind::kText;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::vector<std::string_view> choices = {};
};

/// kInvalidArgument with what is allowed; the caller adds where the text stood. A list is one entry: callers split.
Result<Value> parse_value(const Domain& domain, std::string_view text);

/// In the form that parse_value() takes; a list is comma-separated.
std::string format_value(const Value& value);

/// "an integer between 0 and 65535", "one of 429, 503", …
std::string describe_domain(const Domain& domain);

/// The parts of a comma-separated list, trimmed, empty ones left out.
List split_list(std::string_view text);

}  // namespace weir::settings
