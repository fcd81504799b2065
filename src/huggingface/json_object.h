// A JSON object of a model folder, read leniently: fields nobody asks for are skipped, as these files hold much that is
// of no concern, and null is the same as missing. Errors are kCorrupt and name the file and the field.
//
// A value; copies share the parsed document. One thread. Whole numbers beyond 64 bits, which tokenizer_config.json uses
// for "no limit", are read as floating-point numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::huggingface {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

class JsonObject {
 public:
  /// `name` is for messages. Nesting is limited to 32.
  static Result<JsonObject> parse(std::string_view json, const std::string& name);
  /// kNotFound, kIo, kCorrupt.
  static Result<JsonObject> read(const std::string& path);
  /// A file that holds an array of objects, as modules.json does.
  static Result<std::vector<JsonObject>> parse_array(std::string_view json, const std::string& name);
  static Result<std::vector<JsonObject>> read_array(const std::string& path);

  JsonObject(const JsonObject&);
  JsonObject& operator=(const JsonObject&);
  ~JsonObject();

  const std::string& file() const;
  bool has(std::string_view key) const;

  Result<std::optional<std::string>> text(std::string_view key) const;
  Result<std::optional<bool>> boolean(std::string_view key) const;
  Result<std::optional<double>> number(std::string_view key) const;
  /// A whole number of at most `max`.
  Result<std::optional<std::uint32_t>> count(std::string_view key, std::uint32_t max) const;
  Result<std::optional<JsonObject>> object(std::string_view key) const;
  /// An array of whole numbers from 1 to `max`.
  Result<std::optional<std::vector<std::uint32_t>>> counts(std::string_view key, std::uint32_t max) const;
  /// An array of strings; a single string counts as an array of one.
  Result<std::optional<std::vector<std::string>>> texts(std::string_view key) const;
  /// An object whose values are all strings; null is the empty one.
  Result<std::optional<std::map<std::string, std::string>>> text_map(std::string_view key) const;

  /// kUnsupported when a text is there and is another.
  Status expect_text(std::string_view key, const std::string& usual) const;

  /// "FILE: field 'KEY': WHAT".
  Error error(std::string_view key, const std::string& what, ErrorKind kind = ErrorKind::kCorrupt) const;

 private:
  struct Node;
  explicit JsonObject(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

}  // namespace weir::huggingface
