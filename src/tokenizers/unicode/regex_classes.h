// The classes of code points that a tokenizer's own regular expressions name: \p{Letter}, \p{Han}, \w, [[:punct:]] …
// as the `tokenizers` library has them (see docs/decisions/0010-unicode-tables.md), whatever the machine's ICU knows.
//
// Pure functions over constant tables, from any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace weir::tokenizers::unicode {

struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;
  bool operator==(const CodePointRange&) const = default;
};

/// Sorted and disjoint, with a gap between any two.
using CodePointSet = std::vector<CodePointRange>;

/// The members of \p{name}: general categories, scripts and the properties that tokenizers use. Case, spaces, hyphens
/// and underscores of the name do not matter. Nothing: a name that the tables do not have.
std::optional<CodePointSet> property_class(std::string_view name);

/// The members of [:name:] inside of brackets. Nothing: no such class.
std::optional<CodePointSet> bracket_class(std::string_view name);

}  // namespace weir::tokenizers::unicode
