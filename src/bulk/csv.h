// One CSV row, RFC 4180.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bulk {

/// Where a row ends: fed with its lines, tells whether the next one still belongs to it.
class CsvRowScanner {
 public:
  void add_line(std::string_view line);

  /// A quoted field goes on in the next line. Never true of a row in which a quote stands where none may.
  bool is_open() const { return state_ == State::kQuoted; }

 private:
  enum class State { kFieldBegin, kPlain, kQuoted, kQuoteInQuoted, kBroken };
  static State after(State state, char c);

  State state_ = State::kFieldBegin;
};

/// The fields of a row; empty when a quote stands where none may.
std::optional<std::vector<std::string>> csv_fields(std::string_view row);

}  // namespace weir::bulk
