// Metaspace: blanks become a visible character (U+2581), one may be put in front, and the text is cut before each.
#include "tokenizers/pre_tokenizers/makers.h"

namespace weir::tokenizers::pre_tokenizers {
namespace {

enum class Prepend { kAlways, kFirst, kNever };

class Metaspace final : public PreTokenizer {
 public:
  Metaspace(char32_t replacement, Prepend prepend, bool split)
      : replacement_(replacement), prepend_(prepend), split_(split) {
    unicode::append(bytes_, replacement);
  }

  bool needs_alignment() const override { return prepend_ == Prepend::kFirst; }

  void pre_tokenize(Pieces& pieces) const override {
    pieces.rewrite([this](const Segment& in, Text& out, std::size_t) { rewrite(in, out); });
    if (!split_) return;
    pieces.split(SplitBehavior::kMergedWithNext, /*invert=*/false,
                 each_character([this](char32_t c) { return c == replacement_; }));
  }

 private:
  void rewrite(const Segment& in, Text& out) const {
    const bool begins_with_it = in.bytes.starts_with(bytes_) || in.bytes.starts_with(' ');
    const bool is_wanted = prepend_ == Prepend::kAlways || (prepend_ == Prepend::kFirst && in.origin == 0);
    if (is_wanted && !begins_with_it) out.append(bytes_, in.aligned() ? in.spans[0] : Span{});
    std::size_t copied = 0;
    for (std::size_t at = in.bytes.find(' '); at != std::string_view::npos; at = in.bytes.find(' ', copied)) {
      out.copy(in, copied, at);
      out.append(bytes_, in.aligned() ? in.spans[at] : Span{});
      copied = at + 1;
    }
    out.copy(in, copied, in.bytes.size());
  }

  char32_t replacement_;
  std::string bytes_;
  Prepend prepend_;
  bool split_;
};

Result<Prepend> read_prepend(const json::Object& config) {
  const std::string path = config.path_of("prepend_scheme");
  WEIR_ASSIGN_OR_RETURN(const std::string_view name, config.string_or("prepend_scheme", "always"));
  WEIR_ASSIGN_OR_RETURN(const bool add_prefix_space, config.boolean_or("add_prefix_space", true));
  if (!add_prefix_space && name != "never") {
    return Error(ErrorKind::kCorrupt, path + ": contradicts add_prefix_space, which is false", path);
  }
  if (name == "always") return Prepend::kAlways;
  if (name == "first") return Prepend::kFirst;
  if (name == "never") return Prepend::kNever;
  static constexpr std::string_view kNames[] = {"always", "first", "never"};
  return json::unsupported_type(path, "scheme", name, kNames);
}

}  // namespace

Made make_metaspace(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"replacement", "prepend_scheme", "split"}));
  WEIR_ASSIGN_OR_RETURN(const char32_t replacement, read_character(config, "replacement"));
  WEIR_ASSIGN_OR_RETURN(const Prepend prepend, read_prepend(config));
  WEIR_ASSIGN_OR_RETURN(const bool split, config.boolean_or("split", true));
  return std::unique_ptr<PreTokenizer>(std::make_unique<Metaspace>(replacement, prepend, split));
}

}  // namespace weir::tokenizers::pre_tokenizers
