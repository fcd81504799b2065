// Split: cuts at the matches of a pattern, or at what lies between them.
#include "tokenizers/pattern/pattern.h"
#include "tokenizers/pre_tokenizers/makers.h"

namespace weir::tokenizers::pre_tokenizers {
namespace {

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void pre_tokenize(Pieces& pieces) const override {
    static thread_local std::vector<Pattern::Match> matches;
    pieces.split(behavior_, invert_, [&](std::string_view view, auto emit) {
      if (!pattern_.find_all(view, matches)) pieces.text.fail(Trouble::kPattern);
      for (const Pattern::Match& match : matches) emit(match.begin, match.end);
    });
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

}  // namespace

Made make_split(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"pattern", "behavior", "invert"}));
  WEIR_ASSIGN_OR_RETURN(Pattern pattern, Pattern::read(config, "pattern"));
  WEIR_ASSIGN_OR_RETURN(const SplitBehavior behavior, read_behavior(config, "behavior"));
  WEIR_ASSIGN_OR_RETURN(const bool invert, config.boolean_or("invert", false));
  return std::unique_ptr<PreTokenizer>(std::make_unique<Split>(std::move(pattern), behavior, invert));
}

}  // namespace weir::tokenizers::pre_tokenizers
