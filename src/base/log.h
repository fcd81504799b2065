// Structured log lines on standard error: a time, a level, a message that never varies, and fields. Thread-safe; lines
// are whole. Secrets (keys, tokens, request bodies) are never passed in.
//
//   log::info("request", {{"request_id", id}, {"status", 200}, {"duration_ms", 3.2}});
//
// text: 2026-01-31T12:00:00.123Z info request request_id=4f… status=200 duration_ms=3.2
// json: {"time":"2026-01-31T12:00:00.123Z","level":"info","message":"request","request_id":"4f…","status":200,…}
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace weir::log {

enum class Level { kDebug, kInfo, kWarn, kError, kOff };
enum class Format { kText, kJson };

struct Field {
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;
  std::string_view key;
  Value value;

  Field(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  Field(std::string_view k, T v) : key(k), value(widen(v)) {}

 private:
  template <class T>
  static Value widen(T v) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(v);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<std::int64_t>(v);
    else
      return static_cast<std::uint64_t>(v);
  }
};

/// Before other threads log. The default is info, text.
void configure(Level level, Format format);
bool enabled(Level level);

void debug(std::string_view message, std::initializer_list<Field> fields = {});
void info(std::string_view message, std::initializer_list<Field> fields = {});
void warn(std::string_view message, std::initializer_list<Field> fields = {});
void error(std::string_view message, std::initializer_list<Field> fields = {});

}  // namespace weir::log
