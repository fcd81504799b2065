#include "tokenizers/pattern/pattern.h"

#include <mutex>
#include <utility>

#include <unicode/regex.h>
#include <unicode/utext.h>

#include "tokenizers/pattern/oniguruma.h"

namespace weir::tokenizers {
namespace {

/// In ICU's own units: about half a second.
constexpr std::int32_t kTimeLimit = 1000;

/// What a search in a longer text needed is not kept.
constexpr std::size_t kKeptTextBytes = std::size_t{1} << 20;

/// As in Oniguruma's default syntax, only a line feed ends a line, and ^ and $ stand at every one.
constexpr std::uint32_t kFlags = UREGEX_MULTILINE | UREGEX_UNIX_LINES;

/// A matcher and the text it reads, with the memory that a search needs. Made once per thread that searches at the same
/// time; a file's expression is searched for in every piece of every text.
class Searcher {
 public:
  static std::unique_ptr<Searcher> make(const icu::RegexPattern& pattern) {
    UErrorCode code = U_ZERO_ERROR;
    std::unique_ptr<Searcher> searcher(new Searcher);
    searcher->matcher_.reset(pattern.matcher(code));
    if (U_SUCCESS(code)) searcher->matcher_->setTimeLimit(kTimeLimit, code);
    return U_SUCCESS(code) ? std::move(searcher) : nullptr;
  }
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  ~Searcher() { utext_close(&text_); }

  /// False when it was given up.
  bool find_all(std::string_view text, std::vector<Pattern::Match>& matches) {
    UErrorCode code = U_ZERO_ERROR;
    utext_openUTF8(&text_, text.data(), static_cast<std::int64_t>(text.size()), &code);
    if (U_FAILURE(code)) return false;
    matcher_->reset(&text_);
    while (matcher_->find(code) && U_SUCCESS(code)) {
      const auto begin = static_cast<std::size_t>(matcher_->start64(code));
      const auto end = static_cast<std::size_t>(matcher_->end64(code));
      const bool is_empty_behind_another = begin == end && !matches.empty() && matches.back().end == begin;
      if (!is_empty_behind_another) matches.push_back({begin, end});
    }
    return U_SUCCESS(code);
  }

 private:
  Searcher() = default;

  std::unique_ptr<icu::RegexMatcher> matcher_;
  UText text_ = UTEXT_INITIALIZER;
};

}  // namespace

struct Pattern::Regex {
  std::unique_ptr<icu::RegexPattern> pattern;
  std::mutex mutex;
  std::vector<std::unique_ptr<Searcher>> idle;  ///< Guarded by `mutex`.

  std::unique_ptr<Searcher> take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<Searcher> searcher = std::move(idle.back());
        idle.pop_back();
        return searcher;
      }
    }
    return Searcher::make(*pattern);
  }
  void give_back(std::unique_ptr<Searcher> searcher) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(searcher));
  }
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
  std::unique_ptr<Searcher> searcher = regex_->take();
  if (searcher == nullptr) return false;
  const bool found = searcher->find_all(text, matches);
  if (text.size() <= kKeptTextBytes) regex_->give_back(std::move(searcher));
  return found;
}

}  // namespace weir::tokenizers
