#include "tokenizers/pattern/pattern.h"

#include <unicode/regex.h>
#include <unicode/utext.h>

#include "tokenizers/pattern/oniguruma.h"

namespace weir::tokenizers {
namespace {

/// In ICU's own units: about half a second.
constexpr std::int32_t kTimeLimit = 1000;

/// As in Oniguruma's default syntax, only a line feed ends a line, and ^ and $ stand at every one.
constexpr std::uint32_t kFlags = UREGEX_MULTILINE | UREGEX_UNIX_LINES;

}  // namespace

struct Pattern::Regex {
  std::unique_ptr<icu::RegexPattern> pattern;
};

Pattern::Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::read(const json::Object& config, std::string_view field) {
  WEIR_ASSIGN_OR_RETURN(const json::Object object, config.object(field));
  WEIR_RETURN_IF_ERROR(object.refuse_others({"String", "Regex"}));
  Pattern pattern;
  if (object.find("String")) {
    WEIR_ASSIGN_OR_RETURN(pattern.literal_, object.string("String"));
    if (pattern.literal_.empty()) {
      return Error(ErrorKind::kUnsupported,
                   object.path_of("String") + ": an empty string is not supported as a pattern",
                   object.path_of("String"));
    }
    return pattern;
  }
  WEIR_ASSIGN_OR_RETURN(const std::string_view regex, object.string("Regex"));
  WEIR_ASSIGN_OR_RETURN(const std::string rewritten, icu_from_oniguruma(regex, object.path_of("Regex")));
  UErrorCode code = U_ZERO_ERROR;
  UParseError where{};
  pattern.regex_ = std::make_unique<Regex>();
  pattern.regex_->pattern.reset(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(rewritten), kFlags, where, code));
  if (U_FAILURE(code)) {
    return Error(ErrorKind::kUnsupported,
                 object.path_of("Regex") + ": the regular expression is not supported (" + u_errorName(code) + ")",
                 object.path_of("Regex"));
  }
  return pattern;
}

bool Pattern::find_all(std::string_view text, std::vector<Match>& matches) const {
  matches.clear();
  if (regex_ == nullptr) {
    for (std::size_t at = text.find(literal_); at != std::string_view::npos;
         at = text.find(literal_, at + literal_.size())) {
      matches.push_back({at, at + literal_.size()});
    }
    return true;
  }
  UErrorCode code = U_ZERO_ERROR;
  UText utext = UTEXT_INITIALIZER;
  utext_openUTF8(&utext, text.data(), static_cast<std::int64_t>(text.size()), &code);
  const std::unique_ptr<icu::RegexMatcher> matcher(regex_->pattern->matcher(code));
  if (U_SUCCESS(code)) {
    matcher->setTimeLimit(kTimeLimit, code);
    matcher->reset(&utext);
    while (matcher->find(code) && U_SUCCESS(code)) {
      const auto begin = static_cast<std::size_t>(matcher->start64(code));
      const auto end = static_cast<std::size_t>(matcher->end64(code));
      const bool is_empty_behind_another = begin == end && !matches.empty() && matches.back().end == begin;
      if (!is_empty_behind_another) matches.push_back({begin, end});
    }
  }
  utext_close(&utext);
  return U_SUCCESS(code);
}

}  // namespace weir::tokenizers
