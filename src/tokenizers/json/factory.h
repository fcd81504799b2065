// Making a part by the name that its "type" field has. Each kind of part has one table of names and makers; a new part
// is a file and a row.
#pragma once

#include <array>
#include <string_view>

#include "tokenizers/json/object.h"

namespace weir::tokenizers::json {

template <class Made>
struct Maker {
  std::string_view name;
  Made (*make)(const Object& config);
};

/// kUnsupported names a type that the table lacks, and the nearest one that it has.
template <class Made, std::size_t kCount>
Made make_by_name(const Object& config, std::string_view what, std::string_view type,
                  const Maker<Made> (&makers)[kCount]) {
  std::array<std::string_view, kCount> names;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (makers[i].name == type) return makers[i].make(config);
    names[i] = makers[i].name;
  }
  return unsupported_type(config.path_of("type"), what, type, names);
}

template <class Made, std::size_t kCount>
Made make_by_type(const Object& config, std::string_view what, const Maker<Made> (&makers)[kCount]) {
  WEIR_ASSIGN_OR_RETURN(const std::string_view type, config.string("type"));
  return make_by_name(config, what, type, makers);
}

}  // namespace weir::tokenizers::json
