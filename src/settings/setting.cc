#include "settings/setting.h"

#include <algorithm>
#include <numeric>

namespace weir::settings {

std::string flag_name(std::string_view name) { return "--" + std::string(name); }

std::string environment_name(std::string_view name) {
  std::string out = "WEIR_";
  for (const char c : name) {
    if (c == '-')
      out += '_';
    else
      out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

const Setting* find_setting(Table table, std::string_view name) {
  for (const Setting& setting : table) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string suggestion(Table table, std::string_view word, std::string (*spelling)(std::string_view)) {
  constexpr std::size_t kMaxWordBytes = 64;
  if (word.size() > kMaxWordBytes) return {};
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const Setting& setting : table) {
    const std::string candidate = spelling(setting.name);
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? std::string() : " (did you mean " + nearest + "?)";
}

}  // namespace weir::settings
