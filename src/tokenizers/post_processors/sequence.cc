// Sequence: several post-processors, one after the other.
#include "tokenizers/post_processors/makers.h"

namespace weir::tokenizers::post_processors {
namespace {

class Sequence final : public PostProcessor {
 public:
  explicit Sequence(std::vector<std::unique_ptr<PostProcessor>> steps) : steps_(std::move(steps)) {}

  std::uint32_t added_tokens(bool pair) const override {
    std::uint32_t count = 0;
    for (const auto& step : steps_) count += step->added_tokens(pair);
    return count;
  }

  Status apply(Plan& plan, bool add_special_tokens) const override {
    for (const auto& step : steps_) WEIR_RETURN_IF_ERROR(step->apply(plan, add_special_tokens));
    return {};
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> steps_;
};

}  // namespace

Made make_sequence(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"processors"}));
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array list, config.array("processors"));
  std::vector<std::unique_ptr<PostProcessor>> steps;
  for (const json::Element element : list) {
    const std::string path = config.path_of("processors") + "[" + std::to_string(steps.size()) + "]";
    WEIR_ASSIGN_OR_RETURN(const json::Object step, json::Object::from(element, path));
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<PostProcessor> post_processor, make_post_processor(step));
    steps.push_back(std::move(post_processor));
  }
  return std::unique_ptr<PostProcessor>(std::make_unique<Sequence>(std::move(steps)));
}

}  // namespace weir::tokenizers::post_processors
