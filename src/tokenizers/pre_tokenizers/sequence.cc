// Sequence: several pre-tokenizers, one after the other.
#include <algorithm>

#include "tokenizers/pre_tokenizers/makers.h"

namespace weir::tokenizers::pre_tokenizers {
namespace {

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<PreTokenizer>> steps) : steps_(std::move(steps)) {}

  void pre_tokenize(Pieces& pieces) const override {
    for (const auto& step : steps_) step->pre_tokenize(pieces);
  }
  bool needs_alignment() const override {
    return std::any_of(steps_.begin(), steps_.end(), [](const auto& step) { return step->needs_alignment(); });
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

}  // namespace

Made make_sequence(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"pretokenizers"}));
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array list, config.array("pretokenizers"));
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  for (const json::Element element : list) {
    const std::string path = config.path_of("pretokenizers") + "[" + std::to_string(steps.size()) + "]";
    WEIR_ASSIGN_OR_RETURN(const json::Object step, json::Object::from(element, path));
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<PreTokenizer> pre_tokenizer, make_pre_tokenizer(step));
    steps.push_back(std::move(pre_tokenizer));
  }
  return std::unique_ptr<PreTokenizer>(std::make_unique<Sequence>(std::move(steps)));
}

}  // namespace weir::tokenizers::pre_tokenizers
