#include <algorithm>

#include <unistd.h>

#include "settings/setting.h"

namespace weir::settings {
namespace {

constexpr std::string_view kPrefix = "WEIR_";

/// Kubernetes gives every container variables for each service of its namespace. For a service named "weir" these are
/// WEIR_SERVICE_HOST, WEIR_SERVICE_PORT…, WEIR_PORT=tcp://10.0.0.7:80 and WEIR_PORT_80_TCP…; "weir-small" makes
/// WEIR_SMALL_SERVICE_HOST and so on.
bool is_service_link(std::string_view name, std::string_view value) {
  const auto contains = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (name.ends_with("_SERVICE_HOST") || contains("_SERVICE_PORT")) return true;
  const std::size_t port = name.rfind("_PORT");
  if (port == std::string_view::npos) return false;
  const std::string_view rest = name.substr(port + 5);
  if (rest.empty()) {
    return value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
  }
  return rest.size() > 1 && rest[0] == '_' && rest[1] >= '0' && rest[1] <= '9' &&
         (contains("_TCP") || contains("_UDP") || contains("_SCTP"));
}

const Setting* find_by_environment_name(Table table, std::string_view name) {
  for (const Setting& setting : table) {
    if (environment_name(setting.name) == name) return &setting;
  }
  return nullptr;
}

}  // namespace

Result<EnvironmentGiven> read_environment(Table table, const Environment& environment,
                                          std::span<const std::string_view> others) {
  EnvironmentGiven out;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix) || std::find(others.begin(), others.end(), name) != others.end()) continue;
    const Setting* setting = find_by_environment_name(table, name);
    if (is_service_link(name, value)) {
      if (setting != nullptr) {
        out.warnings.push_back(name + "=" + value +
                               " is Kubernetes' variable for a service, not a setting: ignored; use " +
                               flag_name(setting->name));
      }
      continue;
    }
    if (setting == nullptr) {
      return Error(ErrorKind::kInvalidArgument,
                   "environment variable " + name + ": no such setting" + suggestion(table, name, environment_name),
                   name);
    }
    // An empty variable is how shells and compose files say "not set".
    if (value.empty()) continue;
    out.settings.push_back({setting, setting->domain.kind == Kind::kList ? split_list(value) : List{value}, name});
  }
  return out;
}

Environment process_environment() {
  Environment out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

}  // namespace weir::settings
