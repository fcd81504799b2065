// WordLevel: a piece is a token, or the unknown token.
#include "tokenizers/models/makers.h"

namespace weir::tokenizers::models {
namespace {

class WordLevel final : public Model {
 public:
  WordLevel(Vocabulary vocabulary, std::string unknown_token)
      : vocabulary_(std::move(vocabulary)),
        unknown_token_(std::move(unknown_token)),
        unknown_(vocabulary_.find_id(unknown_token_)) {}

  Status tokenize(std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const override {
    std::int32_t id = vocabulary_.find_id(piece);
    if (id < 0) id = unknown_;
    if (id < 0) return missing_unknown_token("model.unk_token", unknown_token_);
    tokens.push_back({id, base, base + static_cast<std::uint32_t>(piece.size())});
    return {};
  }

  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  std::string unknown_token_;
  std::int32_t unknown_;
};

}  // namespace

Made make_wordlevel(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"vocab", "unk_token"}));
  WEIR_ASSIGN_OR_RETURN(const std::string_view unknown_token, config.string_or("unk_token", "<unk>"));
  WEIR_ASSIGN_OR_RETURN(const json::Element element, config.require("vocab"));
  WEIR_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::from_object(element, config.path_of("vocab")));
  return std::unique_ptr<Model>(std::make_unique<WordLevel>(std::move(vocabulary), std::string(unknown_token)));
}

}  // namespace weir::tokenizers::models
