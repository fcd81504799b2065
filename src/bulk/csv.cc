#include "bulk/csv.h"

#include <algorithm>

namespace weir::bulk {

CsvRowScanner::State CsvRowScanner::after(State state, char c) {
  switch (state) {
    case State::kFieldBegin:
      return c == '"' ? State::kQuoted : c == ',' ? State::kFieldBegin : State::kPlain;
    case State::kPlain:
      return c == '"' ? State::kBroken : c == ',' ? State::kFieldBegin : State::kPlain;
    case State::kQuoted:
      return c == '"' ? State::kQuoteInQuoted : State::kQuoted;
    case State::kQuoteInQuoted:
      return c == '"' ? State::kQuoted : c == ',' ? State::kFieldBegin : State::kBroken;
    case State::kBroken:
      break;
  }
  return State::kBroken;
}

void CsvRowScanner::add_line(std::string_view line) {
  for (const char c : line) state_ = after(state_, c);
}

std::optional<std::vector<std::string>> csv_fields(std::string_view row) {
  std::vector<std::string> fields(1);
  std::size_t at = 0;
  while (at < row.size()) {
    std::string& field = fields.back();
    if (row[at] == '"') {
      for (++at;; ++at) {
        if (at >= row.size()) return std::nullopt;
        if (row[at] != '"') {
          field += row[at];
        } else if (at + 1 < row.size() && row[at + 1] == '"') {
          field += '"';
          ++at;
        } else {
          break;
        }
      }
      ++at;
      if (at < row.size() && row[at] != ',') return std::nullopt;
    } else {
      const auto comma = std::min(row.find(',', at), row.size());
      field = row.substr(at, comma - at);
      if (field.find('"') != std::string::npos) return std::nullopt;
      at = comma;
    }
    if (at < row.size()) {
      ++at;
      fields.emplace_back();
    }
  }
  return fields;
}

}  // namespace weir::bulk
