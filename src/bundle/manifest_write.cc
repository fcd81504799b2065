// A Manifest and golden texts into JSON for people: two spaces a level, a fixed order, one line for a list of numbers.
#include <charconv>
#include <utility>

#include "bundle/manifest.h"

namespace weir::bundle {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_number(std::string& out, float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

/// Knows the level of indentation and whether a comma is due.
class Writer {
 public:
  std::string take() && { return std::move(out_) + "\n"; }

  void key(std::string_view name) {
    next();
    append_escaped(out_, name);
    out_ += ": ";
    after_key_ = true;
  }
  void text(std::string_view value) {
    next();
    append_escaped(out_, value);
  }
  void raw(std::string_view value) {
    next();
    out_ += value;
  }
  void number(std::uint64_t value) { raw(std::to_string(value)); }
  void boolean(bool value) { raw(value ? "true" : "false"); }

  void open(char bracket) {
    next();
    out_ += bracket;
    ++level_;
    first_ = true;
  }
  void close(char bracket) {
    --level_;
    if (!first_) new_line();
    out_ += bracket;
    first_ = false;
  }

  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void field(std::string_view name, std::uint64_t value) {
    key(name);
    number(value);
  }

  template <class Numbers>
  void line_of_numbers(const Numbers& numbers, void (*append)(std::string&, typename Numbers::value_type)) {
    next();
    out_ += '[';
    bool comma = false;
    for (const auto number : numbers) {
      if (std::exchange(comma, true)) out_ += ", ";
      append(out_, number);
    }
    out_ += ']';
  }

 private:
  void next() {
    if (std::exchange(after_key_, false) || level_ == 0) return;
    if (!std::exchange(first_, false)) out_ += ',';
    new_line();
  }
  void new_line() {
    out_ += '\n';
    out_.append(2 * level_, ' ');
  }

  std::string out_;
  std::size_t level_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

void append_whole(std::string& out, std::uint32_t value) { out += std::to_string(value); }

void write_lineage(Writer& json, const Lineage& lineage) {
  json.key("lineage");
  json.open('{');
  json.field("weir_version", lineage.weir_version);
  json.field("created", lineage.created);
  json.key("sources");
  json.open('[');
  for (const auto& source : lineage.sources) {
    json.open('{');
    json.field("file", source.file);
    json.field("sha256", source.sha256);
    json.field("bytes", source.bytes);
    json.close('}');
  }
  json.close(']');
  json.key("steps");
  json.open('[');
  for (const auto& step : lineage.steps) json.text(step);
  json.close(']');
  json.close('}');
}

void write_prompts(Writer& json, const Manifest& manifest) {
  json.key("prompts");
  json.open('{');
  for (const auto& [name, text] : manifest.prompts) json.field(name, text);
  json.close('}');
  json.key("default_prompt");
  if (manifest.default_prompt) {
    json.text(*manifest.default_prompt);
  } else {
    json.raw("null");
  }
}

}  // namespace

std::string manifest_json(const Manifest& manifest) {
  Writer json;
  json.open('{');
  json.field("format_version", kFormatVersion);
  json.field("name", manifest.name);
  json.field("family", manifest.family);
  json.field("task", manifest.task);
  json.field("precision", manifest.precision);
  json.field("dimensions", manifest.dimensions);
  json.field("max_tokens", manifest.max_tokens);
  json.field("vocabulary_size", manifest.vocabulary_size);
  json.field("pad_token_id", manifest.pad_token_id);
  json.key("has_token_type_ids");
  json.boolean(manifest.has_token_type_ids);
  json.key("output");
  json.open('{');
  json.field("kind", output_kind_name(manifest.output));
  json.field("name", manifest.output_name);
  json.close('}');
  json.field("pooling", pooling_name(manifest.pooling));
  json.key("normalize");
  json.boolean(manifest.normalize);
  write_prompts(json, manifest);
  json.key("matryoshka_dimensions");
  json.line_of_numbers(manifest.matryoshka_dimensions, append_whole);
  write_lineage(json, manifest.lineage);
  json.close('}');
  return std::move(json).take();
}

std::string golden_json(const std::vector<Golden>& golden) {
  Writer json;
  json.open('{');
  json.field("format_version", kFormatVersion);
  json.key("texts");
  json.open('[');
  for (const auto& one : golden) {
    json.open('{');
    json.field("text", one.text);
    json.key("vector");
    json.line_of_numbers(one.vector, append_number);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return std::move(json).take();
}

}  // namespace weir::bundle
