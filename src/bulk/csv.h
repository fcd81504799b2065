// One CSV row, RFC 4180. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bulk {

/// Whether a quoted field is still open at the end of `row`, so that the next line belongs to it.
bool csv_is_open(std::string_view row);

/// The fields of a row; empty when a quote stands where none may.
std::optional<std::vector<std::string>> csv_fields(std::string_view row);

}  // namespace weir::bulk
