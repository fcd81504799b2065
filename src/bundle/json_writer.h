// JSON for people: two spaces a level, fields in the order they are written, a list of numbers on one line. Knows the
// level of indentation and whether a comma is due; that brackets match is up to the caller. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"

namespace weir::bundle {

class JsonWriter {
 public:
  std::string take() && { return std::move(out_) + "\n"; }

  void key(std::string_view name) {
    next();
    append_json_string(out_, name, InvalidUtf8::kKept);
    out_ += ": ";
    after_key_ = true;
  }
  void text(std::string_view value) {
    next();
    append_json_string(out_, value, InvalidUtf8::kKept);
  }
  void raw(std::string_view value) {
    next();
    out_ += value;
  }
  void number(std::uint64_t value) { raw(std::to_string(value)); }
  void boolean(bool value) { raw(value ? "true" : "false"); }

  void open(char bracket) {
    next();
    out_ += bracket;
    ++level_;
    first_ = true;
  }
  void close(char bracket) {
    --level_;
    if (!first_) new_line();
    out_ += bracket;
    first_ = false;
  }

  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void field(std::string_view name, std::uint64_t value) {
    key(name);
    number(value);
  }

  template <class Numbers>
  void line_of_numbers(const Numbers& numbers, void (*append)(std::string&, typename Numbers::value_type)) {
    next();
    out_ += '[';
    bool comma = false;
    for (const auto number : numbers) {
      if (std::exchange(comma, true)) out_ += ", ";
      append(out_, number);
    }
    out_ += ']';
  }

 private:
  void next() {
    if (std::exchange(after_key_, false) || level_ == 0) return;
    if (!std::exchange(first_, false)) out_ += ',';
    new_line();
  }
  void new_line() {
    out_ += '\n';
    out_.append(2 * level_, ' ');
  }

  std::string out_;
  std::size_t level_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace weir::bundle
