// The values in force, and where each came from: flags before environment variables before the configuration file
// before the defaults.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "settings/setting.h"

namespace weir::settings {

enum class Source { kDefault, kFile, kEnvironment, kFlag };

struct InForce {
  const Setting* setting = nullptr;
  Value value;
  Source source = Source::kDefault;
  std::string where;  ///< "default", "weir.toml:3", "WEIR_PORT", "--port".
};

struct Resolved {
  std::vector<InForce> entries;       ///< One per setting, in the table's order.
  std::vector<std::string> switches;  ///< As read_flags() gives them.
  std::vector<std::string> warnings;

  const InForce& entry(std::string_view name) const;
  bool has_switch(std::string_view name) const;
};

/// How a command uses its table.
struct Usage {
  std::string_view positional;  ///< The list that takes arguments without a flag.
  std::string_view config;      ///< The text that names the configuration file.
  std::span<const std::string_view> switches;
  std::span<const std::string_view> other_variables;
};

/// kInvalidArgument, naming the flag, variable, or file and line; kNotFound or kIo when the configuration file cannot
/// be read. With one of the switches of `Usage` that only show something, a broken environment or file is still an
/// error.
Result<Resolved> resolve(Table table, const Usage& usage, std::span<const std::string> arguments,
                         const Environment& environment);

/// All defaults. A default that the setting itself does not allow is a bug and asserts.
std::vector<InForce> defaults(Table table);

}  // namespace weir::settings
