#include "tokenizers/pattern/oniguruma.h"

#include <array>
#include <utility>

namespace weir::tokenizers {
namespace {

using Rewriting = std::pair<std::string_view, std::string_view>;

/// What these mean to Oniguruma. \w lacks ICU's joiners; outside of brackets it has six more characters of Latin-1.
#define WEIR_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
#define WEIR_WORD_ALONE "[" WEIR_WORD "\\u00B2\\u00B3\\u00B9\\u00BC-\\u00BE]"

constexpr std::array<Rewriting, 7> kEscapes = {{
    {"s", "\\p{White_Space}"},
    {"S", "\\P{White_Space}"},
    {"w", "[" WEIR_WORD "]"},
    {"W", "[^" WEIR_WORD "]"},
    {"h", "[0-9A-Fa-f]"},
    {"H", "[^0-9A-Fa-f]"},
    {"v", "\\u000B"},
}};

constexpr std::array<Rewriting, 4> kEscapesOutsideBrackets = {{
    {"w", WEIR_WORD_ALONE},
    {"W", "[^" WEIR_WORD_ALONE "]"},
    {"b", "(?:(?<=" WEIR_WORD_ALONE ")(?!" WEIR_WORD_ALONE ")|(?<!" WEIR_WORD_ALONE ")(?=" WEIR_WORD_ALONE "))"},
    {"B", "(?:(?<=" WEIR_WORD_ALONE ")(?=" WEIR_WORD_ALONE ")|(?<!" WEIR_WORD_ALONE ")(?!" WEIR_WORD_ALONE "))"},
}};

#undef WEIR_WORD_ALONE
#undef WEIR_WORD

constexpr std::array<Rewriting, 4> kNamedClasses = {{
    {"[:punct:]", "[\\p{P}\\p{S}]"},
    {"[:^punct:]", "[^\\p{P}\\p{S}]"},
    {"[:xdigit:]", "[0-9A-Fa-f]"},
    {"[:^xdigit:]", "[^0-9A-Fa-f]"},
}};

/// Letters that mean something else to ICU, or nothing, when a backslash stands before them.
constexpr std::string_view kForeignEscapes = "KONyYMCcgk0";

class Rewriter {
 public:
  Rewriter(std::string_view regex, const std::string& path) : regex_(regex), path_(path) {}

  Result<std::string> run() {
    while (at_ < regex_.size()) WEIR_RETURN_IF_ERROR(step());
    return std::move(out_);
  }

 private:
  Status step() {
    const std::string_view rest = regex_.substr(at_);
    if (rest[0] == '\\' && rest.size() > 1) return escape(rest);
    if (rest.starts_with("(?") && brackets_ == 0) return group(rest), Status();
    if (rest.starts_with("[:") && brackets_ > 0 && replace_from(kNamedClasses, rest, 0)) return {};
    if (rest[0] == '[') ++brackets_;
    if (rest[0] == ']' && brackets_ > 0) --brackets_;
    copy(1);
    return {};
  }

  Status escape(std::string_view rest) {
    if (brackets_ == 0 && replace_from(kEscapesOutsideBrackets, rest, 1)) return {};
    if (replace_from(kEscapes, rest, 1)) return {};
    if (kForeignEscapes.find(rest[1]) != std::string_view::npos) {
      return Error(
          ErrorKind::kUnsupported,
          path_ + ": the regular expression's \\" + rest[1] + " is not supported; write the characters it means",
          path_);
    }
    const bool is_negated_property = rest.starts_with("\\p{^");
    if (is_negated_property) {
      out_ += "\\P{";
      at_ += 4;
    } else {
      copy(2);
    }
    return {};
  }

  /// "(?m" or "(?imx:": the dot's meaning has another letter.
  void group(std::string_view rest) {
    copy(2);
    for (std::size_t i = 2; i < rest.size() && std::string_view("imx-").find(rest[i]) != std::string_view::npos; ++i) {
      out_ += rest[i] == 'm' ? 's' : rest[i];
      ++at_;
    }
  }

  /// Rewrites the first of `list` that `rest` begins with, `skipped` characters on.
  template <class List>
  bool replace_from(const List& list, std::string_view rest, std::size_t skipped) {
    for (const auto& [from, to] : list) {
      if (!rest.substr(skipped).starts_with(from)) continue;
      out_ += to;
      at_ += skipped + from.size();
      return true;
    }
    return false;
  }

  void copy(std::size_t count) {
    out_ += regex_.substr(at_, count);
    at_ += count;
  }

  std::string_view regex_;
  const std::string& path_;
  std::string out_;
  std::size_t at_ = 0;
  int brackets_ = 0;  ///< How many sets are open.
};

}  // namespace

Result<std::string> icu_from_oniguruma(std::string_view regex, const std::string& path) {
  return Rewriter(regex, path).run();
}

}  // namespace weir::tokenizers
