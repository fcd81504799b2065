// The pre-tokenizers that cut at single characters: WhitespaceSplit, Whitespace, Punctuation, Digits,
// CharDelimiterSplit.
#include "tokenizers/pre_tokenizers/makers.h"
#include "tokenizers/unicode/properties.h"

namespace weir::tokenizers::pre_tokenizers {
namespace {

/// Cuts at the characters of some classes.
class ClassSplit final : public PreTokenizer {
 public:
  ClassSplit(unsigned classes, SplitBehavior behavior) : classes_(classes), behavior_(behavior) {}

  void pre_tokenize(Pieces& pieces) const override {
    const unicode::Properties& table = unicode::properties();
    pieces.split(behavior_, /*invert=*/false, each_character([&](char32_t c) { return table.has(c, classes_); }));
  }

 private:
  unsigned classes_;
  SplitBehavior behavior_;
};

class Delimiter final : public PreTokenizer {
 public:
  explicit Delimiter(char32_t delimiter) : delimiter_(delimiter) {}

  void pre_tokenize(Pieces& pieces) const override {
    pieces.split(SplitBehavior::kRemoved, /*invert=*/false,
                 each_character([this](char32_t c) { return c == delimiter_; }));
  }

 private:
  char32_t delimiter_;
};

/// Runs of word characters, and runs of what is neither that nor white space.
class Whitespace final : public PreTokenizer {
 public:
  void pre_tokenize(Pieces& pieces) const override {
    pieces.replace_each([](const Text& text, const Piece& piece, std::vector<Piece>& out) {
      const unicode::Properties& table = unicode::properties();
      const std::string_view bytes = std::string_view(text.bytes).substr(0, piece.end);
      unsigned kind_before = unicode::kWhitespace;
      for (std::uint32_t at = piece.begin; at < piece.end;) {
        const unicode::Decoded character = unicode::decode(bytes, at);
        const unsigned kind = table[character.code_point].classes & (unicode::kWord | unicode::kWhitespace);
        const std::uint32_t end = at + character.length;
        if (kind == kind_before && kind != unicode::kWhitespace) {
          out.back().end = end;
        } else if (kind != unicode::kWhitespace) {
          out.push_back({at, end});
        }
        kind_before = kind;
        at = end;
      }
    });
  }
};

Made make_class_split(unsigned classes, SplitBehavior behavior) {
  return std::unique_ptr<PreTokenizer>(std::make_unique<ClassSplit>(classes, behavior));
}

}  // namespace

Result<char32_t> read_character(const json::Object& config, std::string_view field) {
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, config.string(field));
  if (unicode::count_code_points(text) != 1) {
    return Error(ErrorKind::kCorrupt, config.path_of(field) + ": expected exactly one character",
                 config.path_of(field));
  }
  return unicode::decode(text, 0).code_point;
}

Result<SplitBehavior> read_behavior(const json::Object& config, std::string_view field) {
  WEIR_ASSIGN_OR_RETURN(const std::string_view name, config.string(field));
  if (const auto behavior = split_behavior_from_name(name)) return *behavior;
  static constexpr std::string_view kNames[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                                "Contiguous"};
  return json::unsupported_type(config.path_of(field), "behavior", name, kNames);
}

Made make_whitespace_split(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({}));
  return make_class_split(unicode::kWhitespace, SplitBehavior::kRemoved);
}

Made make_whitespace(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({}));
  return std::unique_ptr<PreTokenizer>(std::make_unique<Whitespace>());
}

Made make_punctuation(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"behavior"}));
  SplitBehavior behavior = SplitBehavior::kIsolated;
  if (config.find("behavior")) {
    WEIR_ASSIGN_OR_RETURN(behavior, read_behavior(config, "behavior"));
  }
  return make_class_split(unicode::kPunctuation, behavior);
}

Made make_digits(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"individual_digits"}));
  WEIR_ASSIGN_OR_RETURN(const bool individual, config.boolean_or("individual_digits", false));
  return make_class_split(unicode::kNumeric, individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

Made make_delimiter(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"delimiter"}));
  WEIR_ASSIGN_OR_RETURN(const char32_t delimiter, read_character(config, "delimiter"));
  return std::unique_ptr<PreTokenizer>(std::make_unique<Delimiter>(delimiter));
}

}  // namespace weir::tokenizers::pre_tokenizers
