// Replace: every match of a pattern becomes a fixed text, which stands where the last character of the match stood.
#include "tokenizers/normalizers/makers.h"
#include "tokenizers/pattern/pattern.h"

namespace weir::tokenizers::normalizers {
namespace {

class Replace final : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void normalize(const Segment& in, Text& out) const override {
    static thread_local std::vector<Pattern::Match> matches;
    if (!pattern_.find_all(in.bytes, matches)) return out.fail(Trouble::kPattern);
    if (matches.size() * content_.size() > kLongestText) return out.fail(Trouble::kTooLong);
    std::size_t copied = 0;
    for (const Pattern::Match& match : matches) {
      out.copy(in, copied, match.begin);
      out.append(content_, span_before(in, match.end));
      copied = match.end;
    }
    out.copy(in, copied, in.bytes.size());
  }

 private:
  static Span span_before(const Segment& in, std::size_t end) {
    if (!in.aligned()) return {};
    return end == 0 ? Span{in.origin, in.origin} : in.spans[end - 1];
  }

  Pattern pattern_;
  std::string content_;
};

}  // namespace

Made make_replace(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"pattern", "content"}));
  WEIR_ASSIGN_OR_RETURN(Pattern pattern, Pattern::read(config, "pattern"));
  WEIR_ASSIGN_OR_RETURN(const std::string_view content, config.string("content"));
  return std::unique_ptr<Normalizer>(std::make_unique<Replace>(std::move(pattern), std::string(content)));
}

}  // namespace weir::tokenizers::normalizers
