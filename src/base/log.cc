#include "base/log.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/utf8.h"

namespace weir::log {
namespace {

using Line = fmt::memory_buffer;

/// A line stays readable and a hostile value cannot fill the disk.
constexpr std::size_t kMaxStringBytes = 4096;

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warn", "error"};

std::atomic<Level> g_level{Level::kInfo};
std::atomic<Format> g_format{Format::kText};

/// spdlog writes the lines: whole ones, one at a time. Levels and layout are ours, so that both formats carry fields.
spdlog::logger& logger() {
  // Never destroyed: threads may still log while the program ends.
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("weir", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

void append(Line& line, std::string_view text) { line.append(text.data(), text.data() + text.size()); }

void append_escaped_ascii(Line& line, char c) {
  switch (c) {
    case '"':
      append(line, "\\\"");
      return;
    case '\\':
      append(line, "\\\\");
      return;
    case '\n':
      append(line, "\\n");
      return;
    case '\r':
      append(line, "\\r");
      return;
    case '\t':
      append(line, "\\t");
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7F) {
    fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned>(byte));
  } else {
    line.push_back(c);
  }
}

/// The inside of a JSON string: escaped, and valid UTF-8 whatever came in.
void append_escaped(Line& line, std::string_view text) {
  const std::string_view cut = cut_utf8(text, kMaxStringBytes);
  for (std::string_view rest = cut; !rest.empty();) {
    const std::size_t valid = valid_utf8_length(rest);
    if (valid == 1) {
      append_escaped_ascii(line, rest[0]);
    } else if (valid > 1) {
      append(line, rest.substr(0, valid));
    } else {
      append(line, "\xEF\xBF\xBD");
    }
    rest.remove_prefix(valid != 0 ? valid : invalid_utf8_length(rest));
  }
  if (cut.size() < text.size()) append(line, "\xE2\x80\xA6");
}

void append_quoted(Line& line, std::string_view text) {
  line.push_back('"');
  append_escaped(line, text);
  line.push_back('"');
}

void append_time(Line& line) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  fmt::format_to(std::back_inserter(line), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                 utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, since % 1000);
}

/// A value that a reader or a script could take for something else stands in quotes.
bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7F || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

void append_text_value(Line& line, const Field::Value& value) {
  std::visit(
      [&line](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          needs_quotes(v) || v.size() > kMaxStringBytes ? append_quoted(line, v) : append(line, v);
        } else {
          fmt::format_to(std::back_inserter(line), "{}", v);
        }
      },
      value);
}

void append_json_value(Line& line, const Field::Value& value) {
  std::visit(
      [&line](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          append_quoted(line, v);
        } else if constexpr (std::is_same_v<T, double>) {
          // JSON has no NaN or Inf.
          std::isfinite(v) ? append(line, fmt::format("{}", v)) : append_quoted(line, fmt::format("{}", v));
        } else {
          fmt::format_to(std::back_inserter(line), "{}", v);
        }
      },
      value);
}

void format_text(Line& line, Level level, std::string_view message, std::initializer_list<Field> fields) {
  append_time(line);
  fmt::format_to(std::back_inserter(line), " {} ", kLevelNames[static_cast<std::size_t>(level)]);
  append_escaped(line, message);
  for (const Field& field : fields) {
    line.push_back(' ');
    append_escaped(line, field.key);
    line.push_back('=');
    append_text_value(line, field.value);
  }
}

void format_json(Line& line, Level level, std::string_view message, std::initializer_list<Field> fields) {
  append(line, "{\"time\":\"");
  append_time(line);
  fmt::format_to(std::back_inserter(line),
                 "\",\"level\":\"{}\",\"message\":", kLevelNames[static_cast<std::size_t>(level)]);
  append_quoted(line, message);
  for (const Field& field : fields) {
    line.push_back(',');
    append_quoted(line, field.key);
    line.push_back(':');
    append_json_value(line, field.value);
  }
  line.push_back('}');
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  Line line;
  if (g_format.load(std::memory_order_relaxed) == Format::kJson) {
    format_json(line, level, message, fields);
  } else {
    format_text(line, level, message, fields);
  }
  logger().log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

void configure(Level level, Format format) {
  g_level.store(level, std::memory_order_relaxed);
  g_format.store(format, std::memory_order_relaxed);
}

bool enabled(Level level) { return level != Level::kOff && level >= g_level.load(std::memory_order_relaxed); }

void debug(std::string_view message, std::initializer_list<Field> fields) { write(Level::kDebug, message, fields); }
void info(std::string_view message, std::initializer_list<Field> fields) { write(Level::kInfo, message, fields); }
void warn(std::string_view message, std::initializer_list<Field> fields) { write(Level::kWarn, message, fields); }
void error(std::string_view message, std::initializer_list<Field> fields) { write(Level::kError, message, fields); }

}  // namespace weir::log
