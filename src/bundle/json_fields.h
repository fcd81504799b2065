// Reads the fields of one JSON object, each checked, with messages that name the file and the field's full path. The
// first fault sticks: later reads do nothing, and finish() returns it. One thread.
//
//   Fields fields(object, "weir.json", "lineage");
//   fields.text("created", lineage.created, 1, 64);
//   return fields.finish();
//
// Only fields that were asked for may stand in the object, each once. A misspelt or foreign field is an error: it would
// otherwise be a setting that silently does nothing. Names that begin with "x_" are free for people's notes and
// skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "base/result.h"

namespace weir::bundle {

class Fields {
 public:
  using Element = simdjson::dom::element;

  /// `path` is where the object stands in the file; empty for the whole file.
  Fields(simdjson::dom::object object, std::string file, std::string path = {});

  /// A string of `min_bytes` to `max_bytes`.
  void text(std::string_view name, std::string& value, std::size_t min_bytes, std::size_t max_bytes);
  void boolean(std::string_view name, bool& value);
  void number(std::string_view name, std::uint64_t& value, std::uint64_t min, std::uint64_t max);
  void number(std::string_view name, std::uint32_t& value, std::uint32_t min, std::uint32_t max);

  /// Calls `read` with each element of an array and its path ("steps[2]"), until one fails.
  using ReadElement = std::function<Status(Element, const std::string& path)>;
  void array(std::string_view name, std::size_t max_elements, const ReadElement& read);

  /// Calls `read` with an object's value.
  void object(std::string_view name, const std::function<Status(simdjson::dom::object, const std::string& path)>& read);

  /// Whether the field is there and not null; it counts as asked for.
  bool present(std::string_view name);

  void fail(std::string_view name, const std::string& what, ErrorKind kind = ErrorKind::kCorrupt);

  /// The first fault; or a field that is twice there or was never asked for.
  Status finish();

 private:
  std::optional<Element> find(std::string_view name);
  std::string full_name(std::string_view name) const;

  simdjson::dom::object object_;
  std::string file_;
  std::string path_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

/// "FILE: field 'FIELD': WHAT", with `where` set to the file.
Error field_error(const std::string& file, const std::string& field, const std::string& what,
                  ErrorKind kind = ErrorKind::kCorrupt);

/// "a string", "a number", …: what stands where something else was wanted.
std::string_view json_type_name(simdjson::dom::element element);

/// Parses a whole file into `parser`, which owns the elements. kCorrupt when it is not JSON, nests deeper than 16, or
/// is not an object.
Result<simdjson::dom::object> parse_object(simdjson::dom::parser& parser, const std::string& json,
                                           const std::string& file);

}  // namespace weir::bundle
