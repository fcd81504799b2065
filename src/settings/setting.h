// A table of settings: each is described once, and flags, environment variables, file keys, help and documentation are
// made from it. A table is a constant of the program.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "settings/value.h"

namespace weir::settings {

struct Setting {
  std::string_view name;  ///< "max-wait": also the flag's and, in a file, the key's name.
  Domain domain;
  std::string_view default_text;  ///< As a user would write it; empty: an empty text or list.
  std::string_view section;       ///< Heading in help and documentation. Settings of one stand together.
  std::string_view help;          ///< A sentence or two.
  bool secret = false;            ///< Its value is never shown.
  bool in_file = true;            ///< May stand in the configuration file.
};

using Table = std::span<const Setting>;

/// "--max-wait"
std::string flag_name(std::string_view name);
/// "WEIR_MAX_WAIT"
std::string environment_name(std::string_view name);

/// Null when there is none.
const Setting* find_setting(Table table, std::string_view name);

/// " (did you mean --max-wait?)" with the setting whose name, in the given spelling, is nearest to `word`; empty when
/// none is near.
std::string suggestion(Table table, std::string_view word, std::string (*spelling)(std::string_view));

/// Edits (insert, remove, replace a character) that make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// What a source says about a setting, not yet parsed. A list may have any number of texts, the others have one.
struct Given {
  const Setting* setting = nullptr;
  std::vector<std::string> texts;
  std::string where;  ///< "--port", "WEIR_PORT", "weir.toml:3".
};

struct FlagsGiven {
  std::vector<Given> settings;
  std::vector<std::string> switches;  ///< Of those that were asked for, such as "--help".
};

/// Reads a command line without program and subcommand names: `--name VALUE`, `--name=VALUE`, `--name` and `--no-name`
/// for booleans, `--` before arguments that begin with a dash. Arguments without a flag go to the list named
/// `positional`. `switches` are flags without a value that are not settings. kInvalidArgument.
Result<FlagsGiven> read_flags(Table table, std::span<const std::string> arguments, std::string_view positional,
                              std::span<const std::string_view> switches);

using Environment = std::vector<std::pair<std::string, std::string>>;

struct EnvironmentGiven {
  std::vector<Given> settings;
  std::vector<std::string> warnings;
};

/// Reads the WEIR_ variables. One that is no setting is kInvalidArgument, but for `others` (variables of other parts)
/// and for those that Kubernetes makes up for a service whose name begins with "weir": these are left out, with a
/// warning when they hide a setting.
Result<EnvironmentGiven> read_environment(Table table, const Environment& environment,
                                          std::span<const std::string_view> others);

/// The environment of this process.
Environment process_environment();

/// Reads a TOML text with keys at its top level. `name` is used in messages. kInvalidArgument names file and line.
Result<std::vector<Given>> read_toml(Table table, std::string_view content, const std::string& name);

}  // namespace weir::settings
