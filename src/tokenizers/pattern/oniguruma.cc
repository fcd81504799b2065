#include "tokenizers/pattern/oniguruma.h"

#include <charconv>
#include <optional>
#include <utility>

#include "tokenizers/unicode/regex_classes.h"

namespace weir::tokenizers {
namespace {

using unicode::bracket_class;
using unicode::CodePointSet;
using unicode::property_class;

void append_character(std::string& out, char32_t code_point) {
  char digits[8];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), static_cast<std::uint32_t>(code_point), 16).ptr;
  out.append("\\x{").append(digits, end).append("}");
}

/// `set` in brackets, every character by its number.
std::string as_brackets(const CodePointSet& set, bool negated) {
  std::string out = negated ? "[^" : "[";
  for (const unicode::CodePointRange& range : set) {
    append_character(out, range.first);
    out += '-';
    append_character(out, range.last);
  }
  out += ']';
  return out;
}

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
    if (rest.starts_with("[:") && brackets_ > 0 && named_class(rest)) return {};
    if (rest[0] == '[') ++brackets_;
    if (rest[0] == ']' && brackets_ > 0) --brackets_;
    copy(1);
    return {};
  }

  Status escape(std::string_view rest) {
    if (class_escape(rest) || (brackets_ == 0 && boundary(rest[1]))) return {};
    if (rest[1] == 'v') return replace(2, "\\u000B"), Status();
    if (kForeignEscapes.find(rest[1]) != std::string_view::npos) {
      return Error(
          ErrorKind::kUnsupported,
          path_ + ": the regular expression's \\" + rest[1] + " is not supported; write the characters it means",
          path_);
    }
    copy(2);
    return {};
  }

  /// \w, \d, \s, \h and \p{name}; a capital letter negates.
  bool class_escape(std::string_view rest) {
    const bool negated = rest[1] >= 'A' && rest[1] <= 'Z';
    switch (negated ? rest[1] - 'A' + 'a' : rest[1]) {
      case 'w':
        return write_class(brackets_ == 0 ? property_class("word") : bracket_class("word"), negated, 2);
      case 'd':
        return write_class(bracket_class("digit"), negated, 2);
      case 's':
        return write_class(bracket_class("space"), negated, 2);
      case 'h':
        return write_class(bracket_class("xdigit"), negated, 2);
      case 'p':
        return property(rest, negated);
      default:
        return false;
    }
  }

  /// A name that the tables do not have is left to ICU.
  bool property(std::string_view rest, bool negated) {
    const std::size_t end = rest.find('}');
    if (end == std::string_view::npos || rest[2] != '{') return false;
    std::string_view name = rest.substr(3, end - 3);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    if (write_class(property_class(name), negated, end + 1)) return true;
    replace(end + 1, (negated ? "\\P{" : "\\p{") + std::string(name) + "}");
    return true;
  }

  /// [:name:] or [:^name:] inside of brackets.
  bool named_class(std::string_view rest) {
    const std::size_t end = rest.find(":]");
    if (end == std::string_view::npos) return false;
    const bool negated = rest.substr(2).starts_with('^');
    const std::size_t begin = negated ? 3 : 2;
    if (end < begin) return false;
    return write_class(bracket_class(rest.substr(begin, end - begin)), negated, end + 2);
  }

  /// \b and \B, whose words are those of \w.
  bool boundary(char letter) {
    if (letter != 'b' && letter != 'B') return false;
    const std::string word = as_brackets(*property_class("word"), false);
    const bool same = letter == 'B';
    replace(2, "(?:(?<=" + word + (same ? ")(?=" : ")(?!") + word + ")|(?<!" + word + (same ? ")(?!" : ")(?=") + word +
                   "))");
    return true;
  }

  /// "(?m" or "(?imx:": the dot's meaning has another letter.
  void group(std::string_view rest) {
    copy(2);
    for (std::size_t i = 2; i < rest.size() && std::string_view("imx-").find(rest[i]) != std::string_view::npos; ++i) {
      out_ += rest[i] == 'm' ? 's' : rest[i];
      ++at_;
    }
  }

  bool write_class(const std::optional<CodePointSet>& set, bool negated, std::size_t length) {
    if (set) replace(length, as_brackets(*set, negated));
    return set.has_value();
  }

  /// The next `length` characters become `text`.
  void replace(std::size_t length, std::string_view text) {
    out_ += text;
    at_ += length;
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
