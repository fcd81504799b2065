#include "settings/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace weir::settings {
namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

constexpr std::array<Unit, 5> kSizeUnits = {
    {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", std::int64_t{1} << 40}}};
constexpr std::array<Unit, 4> kDurationUnits = {{{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A whole number and one of the units; `bare` is the factor of a number without one, 0 when only zero may stand so.
std::optional<std::int64_t> parse_with_unit(std::string_view text, std::span<const Unit> units, std::int64_t bare) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::int64_t> number = parse_integer(text.substr(0, digits));
  const std::string_view suffix = trimmed(text.substr(digits));
  if (!number) return std::nullopt;
  if (suffix.empty()) return bare != 0 || *number == 0 ? std::optional(*number * bare) : std::nullopt;
  for (const Unit& unit : units) {
    std::int64_t value = 0;
    if (suffix == unit.suffix && !__builtin_mul_overflow(*number, unit.factor, &value)) return value;
  }
  return std::nullopt;
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"true", "on", "yes", "1"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "off", "no", "0"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

/// The largest unit that divides the value.
std::string format_with_unit(std::int64_t value, std::span<const Unit> units) {
  const Unit* best = &units[0];
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) best = &unit;
  }
  return value == 0 ? "0" : std::to_string(value / best->factor) + std::string(best->suffix);
}

std::optional<Value> parse_number(const Domain& domain, std::string_view text) {
  std::optional<std::int64_t> number;
  if (domain.kind == Kind::kInteger) number = parse_integer(text);
  if (domain.kind == Kind::kSize) number = parse_with_unit(text, kSizeUnits, 1);
  if (domain.kind == Kind::kDuration) number = parse_with_unit(text, kDurationUnits, 0);
  if (!number || *number < domain.min || *number > domain.max) return std::nullopt;
  if (domain.kind == Kind::kSize) return Size{*number};
  if (domain.kind == Kind::kDuration) return Duration(*number);
  return *number;
}

std::optional<Value> parse(const Domain& domain, std::string_view text) {
  switch (domain.kind) {
    case Kind::kBool: {
      const std::optional<bool> flag = parse_bool(text);
      return flag ? std::optional<Value>(*flag) : std::nullopt;
    }
    case Kind::kChoice:
      if (std::find(domain.choices.begin(), domain.choices.end(), text) == domain.choices.end()) return std::nullopt;
      return std::string(text);
    case Kind::kText:
      return std::string(text);
    case Kind::kList:
      return text.empty() ? std::optional<Value>() : List{std::string(text)};
    default:
      return parse_number(domain, text);
  }
}

}  // namespace

Result<Value> parse_value(const Domain& domain, std::string_view text) {
  std::optional<Value> value = parse(domain, trimmed(text));
  if (value) return std::move(*value);
  constexpr std::size_t kShownBytes = 80;
  return Error(ErrorKind::kInvalidArgument, "'" + std::string(text.substr(0, kShownBytes)) +
                                                "' is not allowed; it takes " + describe_domain(domain));
}

std::string format_value(const Value& value) {
  struct Formatter {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(Size v) const { return format_with_unit(v.bytes, kSizeUnits); }
    std::string operator()(Duration v) const { return format_with_unit(v.count(), kDurationUnits); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const List& v) const {
      std::string out;
      for (const std::string& entry : v) out += (out.empty() ? "" : ",") + entry;
      return out;
    }
  };
  return std::visit(Formatter(), value);
}

std::string describe_domain(const Domain& domain) {
  const auto between = [&domain](auto make) {
    return " between " + format_value(make(domain.min)) + " and " + format_value(make(domain.max));
  };
  switch (domain.kind) {
    case Kind::kInteger:
      return "an integer" + between([](std::int64_t v) { return Value(v); });
    case Kind::kSize:
      return "a size in B, KiB, MiB, GiB or TiB" + between([](std::int64_t v) { return Value(Size{v}); });
    case Kind::kDuration:
      return "a duration in ms, s, m or h" + between([](std::int64_t v) { return Value(Duration(v)); });
    case Kind::kBool:
      return "true or false";
    case Kind::kChoice: {
      std::string out;
      for (const std::string_view choice : domain.choices) out.append(out.empty() ? "one of " : ", ").append(choice);
      return out;
    }
    case Kind::kText:
      return "a text";
    case Kind::kList:
      return "a list of texts, none empty";
  }
  return {};
}

List split_list(std::string_view text) {
  List parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = trimmed(text.substr(0, comma));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace weir::settings
