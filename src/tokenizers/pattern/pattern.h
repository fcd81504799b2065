// What Split and Replace look for: a literal string or a regular expression.
//
// Regular expressions are ICU's, which reads those of the `tokenizers` library (Oniguruma) but for rare constructs.
// What classes such as \s and \p{L} hold differs and is written out (oniguruma.h). A pattern that ICU does not read is
// refused when it is made.
//
// Immutable once made; any number of threads may search at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizers/json/object.h"

namespace weir::tokenizers {

class Pattern {
 public:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const Match&) const = default;
  };

  /// Reads {"String": …} or {"Regex": …} from the field `field`. kUnsupported: a regular expression that ICU does not
  /// read.
  static Result<Pattern> read(const json::Object& config, std::string_view field);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  /// The matches in `text`, in order, without overlap; `matches` is overwritten. False when a search was given up
  /// because it took too long or too much memory.
  [[nodiscard]] bool find_all(std::string_view text, std::vector<Match>& matches) const;

 private:
  struct Regex;
  Pattern();

  std::string literal_;
  std::unique_ptr<Regex> regex_;  ///< Null for a literal.
};

}  // namespace weir::tokenizers
