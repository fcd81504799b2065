#include <optional>

#include <toml++/toml.h>

#include "settings/setting.h"

namespace weir::settings {
namespace {

/// Deep inside a node toml++ uses up stack and memory; a file of settings needs neither.
constexpr std::size_t kMaxContentBytes = 1 << 20;

std::string place(const std::string& file, const toml::source_region& source) {
  return file + ":" + std::to_string(source.begin.line);
}

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorKind::kInvalidArgument, where + ": " + what, where};
}

/// A value as flags would have it; nothing when its TOML type cannot stand for a `kind`.
std::optional<std::string> scalar_text(Kind kind, const toml::node& node) {
  if (node.is_string() && kind != Kind::kInteger && kind != Kind::kBool) return node.as_string()->get();
  if (node.is_boolean() && kind == Kind::kBool) return node.as_boolean()->get() ? "true" : "false";
  const bool number = kind == Kind::kInteger || kind == Kind::kSize || kind == Kind::kChoice || kind == Kind::kDuration;
  if (node.is_integer() && number) return std::to_string(node.as_integer()->get());
  return std::nullopt;
}

std::string expected(const Setting& setting) {
  const bool quoted = setting.domain.kind == Kind::kDuration || setting.domain.kind == Kind::kSize;
  return "'" + std::string(setting.name) + "' takes " + describe_domain(setting.domain) + (quoted ? ", in quotes" : "");
}

Result<std::vector<std::string>> list_texts(const Setting& setting, const toml::node& node, const std::string& where) {
  std::vector<std::string> texts;
  if (node.is_string()) return std::vector<std::string>{node.as_string()->get()};
  if (!node.is_array()) return wrong(where, expected(setting));
  for (const toml::node& entry : *node.as_array()) {
    if (!entry.is_string()) return wrong(where, expected(setting));
    texts.push_back(entry.as_string()->get());
  }
  return texts;
}

Result<Given> read_entry(Table table, std::string_view key, const toml::node& node, const std::string& file) {
  const std::string where = place(file, node.source());
  const Setting* setting = find_setting(table, key);
  if (setting == nullptr) {
    const auto as_it_is = [](std::string_view setting_name) { return std::string(setting_name); };
    if (node.is_table()) {
      return wrong(where, "no section '" + std::string(key) + "'; settings stand at the top of the file");
    }
    return wrong(where, "no setting '" + std::string(key) + "'" + suggestion(table, key, as_it_is));
  }
  if (!setting->in_file) return wrong(where, "'" + std::string(key) + "' cannot be set in a file");
  if (setting->domain.kind == Kind::kList) {
    WEIR_ASSIGN_OR_RETURN(std::vector<std::string> texts, list_texts(*setting, node, where));
    return Given{setting, std::move(texts), where};
  }
  std::optional<std::string> text = scalar_text(setting->domain.kind, node);
  if (!text) return wrong(where, expected(*setting));
  return Given{setting, {std::move(*text)}, where};
}

}  // namespace

Result<std::vector<Given>> read_toml(Table table, std::string_view content, const std::string& name) {
  if (content.size() > kMaxContentBytes) return wrong(name, "a configuration file has at most 1 MiB");
  toml::table document;
  try {
    document = toml::parse(content, name);
  } catch (const toml::parse_error& error) {
    return wrong(place(name, error.source()), "not TOML: " + std::string(error.description()));
  } catch (const std::exception& error) {
    return wrong(name, std::string("cannot be read: ") + error.what());
  }
  std::vector<Given> out;
  for (const auto& [key, node] : document) {
    WEIR_ASSIGN_OR_RETURN(Given given, read_entry(table, key.str(), node, name));
    out.push_back(std::move(given));
  }
  return out;
}

}  // namespace weir::settings
