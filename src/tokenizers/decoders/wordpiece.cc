// WordPiece: a token without the continuation prefix begins a new word.
#include "tokenizers/decoders/makers.h"

namespace weir::tokenizers::decoders {
namespace {

class WordPiece final : public Decoder {
 public:
  WordPiece(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}

  void decode(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i != 0) {
        if (token.starts_with(prefix_)) {
          token.erase(0, prefix_.size());
        } else {
          token.insert(0, 1, ' ');
        }
      }
      if (cleanup_) clean_up(token);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

}  // namespace

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string result;
  std::size_t copied = 0;
  for (; at != std::string::npos; at = text.find(from, copied)) {
    result.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  text = result.append(text, copied);
}

void clean_up(std::string& text) {
  static constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) replace_all(text, from, to);
}

Made make_wordpiece(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"prefix", "cleanup"}));
  WEIR_ASSIGN_OR_RETURN(const std::string_view prefix, config.string_or("prefix", "##"));
  WEIR_ASSIGN_OR_RETURN(const bool cleanup, config.boolean_or("cleanup", true));
  return std::unique_ptr<Decoder>(std::make_unique<WordPiece>(std::string(prefix), cleanup));
}

}  // namespace weir::tokenizers::decoders
