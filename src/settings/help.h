// A table of settings as text: help for the terminal, a page of documentation, and the values in force.
#pragma once

#include <string>

#include "settings/resolve.h"
#include "settings/setting.h"

namespace weir::settings {

/// Flag, environment variable, default and meaning of each setting, by section.
std::string help_text(Table table);

/// The same as Markdown tables.
std::string help_markdown(Table table);

/// Each value in force and where it came from, as a TOML file that would give the same values. Secrets are only
/// counted.
std::string print_config(const Resolved& resolved);

}  // namespace weir::settings
