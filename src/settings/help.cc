#include "settings/help.h"

#include <algorithm>

namespace weir::settings {
namespace {

constexpr std::size_t kTextWidth = 100;

/// What stands for the value in help.
std::string value_name(const Setting& setting) {
  switch (setting.domain.kind) {
    case Kind::kInteger:
      return "N";
    case Kind::kSize:
      return "SIZE";
    case Kind::kDuration:
      return "DURATION";
    case Kind::kBool:
      return "BOOL";
    case Kind::kChoice: {
      std::string out;
      for (const std::string_view choice : setting.domain.choices) out.append(out.empty() ? "" : "|").append(choice);
      return out;
    }
    case Kind::kText:
      return "TEXT";
    case Kind::kList:
      return "TEXT…";
  }
  return {};
}

/// Breaks `text` into lines that begin with `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end + indent > kTextWidth) {
      end = text.rfind(' ', kTextWidth - indent);
      if (end == std::string_view::npos) end = text.size();
    }
    out.append(indent, ' ').append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// `text` with '|' kept from ending a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '|' ? "\\" : "").push_back(c);
  return out;
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string toml_value(const InForce& entry) {
  const Kind kind = entry.setting->domain.kind;
  if (kind == Kind::kInteger || kind == Kind::kBool) return format_value(entry.value);
  if (kind != Kind::kList) return toml_text(format_value(entry.value));
  std::string out;
  for (const std::string& text : std::get<List>(entry.value)) out += (out.empty() ? "" : ", ") + toml_text(text);
  return "[" + out + "]";
}

std::size_t count_of(const Value& value) {
  const List* list = std::get_if<List>(&value);
  return list != nullptr ? list->size() : 1;
}

}  // namespace

std::string help_text(Table table) {
  std::string out;
  std::string_view section;
  for (const Setting& setting : table) {
    if (setting.section != section) {
      section = setting.section;
      out.append("\n").append(section).append(":\n");
    }
    out.append("  ").append(flag_name(setting.name)).append(" ").append(value_name(setting));
    out.append("   ").append(environment_name(setting.name)).append("   default: ");
    out.append(setting.default_text.empty() ? "none" : setting.default_text).append("\n");
    out.append(wrapped(setting.help, 6));
  }
  return out;
}

std::string help_markdown(Table table) {
  std::string out;
  std::string_view section;
  for (const Setting& setting : table) {
    if (setting.section != section) {
      section = setting.section;
      out.append("\n## ").append(section).append("\n\n| flag | environment | default | takes | meaning |\n");
      out.append("|---|---|---|---|---|\n");
    }
    out.append("| `").append(flag_name(setting.name)).append("` | `").append(environment_name(setting.name));
    out.append("` | ").append(setting.default_text.empty() ? "" : "`" + std::string(setting.default_text) + "`");
    out.append(" | ").append(cell(describe_domain(setting.domain))).append(" | ").append(cell(setting.help));
    out.append(" |\n");
  }
  return out;
}

std::string print_config(const Resolved& resolved) {
  std::string out;
  std::string_view section;
  for (const InForce& entry : resolved.entries) {
    if (entry.setting->section != section) {
      out.append(section.empty() ? "" : "\n").append("# ").append(entry.setting->section).append("\n");
      section = entry.setting->section;
    }
    std::string line;
    if (entry.setting->secret) {
      line = "# " + std::string(entry.setting->name) + ": " + std::to_string(count_of(entry.value)) + " set, not shown";
    } else {
      line = (entry.setting->in_file ? "" : "# ") + std::string(entry.setting->name) + " = " + toml_value(entry);
    }
    constexpr std::size_t kColumn = 40;
    line.resize(std::max(line.size() + 1, kColumn), ' ');
    out.append(line).append("# ").append(entry.where).append("\n");
  }
  return out;
}

}  // namespace weir::settings
