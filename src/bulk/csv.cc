#include "bulk/csv.h"

#include <algorithm>

namespace weir::bulk {

bool csv_is_open(std::string_view row) { return std::count(row.begin(), row.end(), '"') % 2 == 1; }

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
