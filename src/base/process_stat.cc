#include "base/process_stat.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace weir {
namespace {

constexpr std::size_t kFirstField = 3;

}  // namespace

std::vector<std::string> process_stat_fields(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  // The program's name, in parentheses, may hold anything.
  const std::size_t end = line.rfind(')');
  std::vector<std::string> fields;
  if (end == std::string::npos) return fields;
  std::istringstream rest(line.substr(end + 1));
  for (std::string field; rest >> field;) fields.push_back(std::move(field));
  return fields;
}

double process_stat_number(const std::vector<std::string>& fields, std::size_t number) {
  if (number < kFirstField || number - kFirstField >= fields.size()) return std::nan("");
  return std::strtod(fields[number - kFirstField].c_str(), nullptr);
}

}  // namespace weir
