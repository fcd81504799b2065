// BertProcessing: [CLS] A [SEP], and B [SEP] behind it.
#include "tokenizers/post_processors/makers.h"

namespace weir::tokenizers::post_processors {
namespace {

class BertProcessing final : public PostProcessor {
 public:
  BertProcessing(std::int32_t cls, std::int32_t sep) : cls_(cls), sep_(sep) {}

  std::uint32_t added_tokens(bool pair) const override { return pair ? 3 : 2; }

  Status apply(Plan& plan, bool add_special_tokens) const override {
    if (!add_special_tokens) return {};
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::int32_t type_id = i == 0 ? 0 : 1;
      if (i == 0) plan[i].insert(plan[i].begin(), special(cls_, type_id));
      plan[i].push_back(special(sep_, type_id));
    }
    return {};
  }

 private:
  static PlanStep special(std::int32_t id, std::int32_t type_id) { return {PlanStep::kSpecial, id, type_id, {}}; }

  std::int32_t cls_;
  std::int32_t sep_;
};

}  // namespace

Result<std::int32_t> read_token_and_id(const json::Object& config, std::string_view field) {
  const std::string path = config.path_of(field);
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array pair, config.array(field));
  if (pair.size() != 2) return Error(ErrorKind::kCorrupt, path + ": expected a token and its id", path);
  WEIR_RETURN_IF_ERROR(json::as_string(pair.at(0).value_unsafe(), path));
  WEIR_ASSIGN_OR_RETURN(const std::uint64_t id, json::as_unsigned(pair.at(1).value_unsafe(), path, kLargestId));
  return static_cast<std::int32_t>(id);
}

Made make_bert(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"cls", "sep"}));
  WEIR_ASSIGN_OR_RETURN(const std::int32_t cls, read_token_and_id(config, "cls"));
  WEIR_ASSIGN_OR_RETURN(const std::int32_t sep, read_token_and_id(config, "sep"));
  return std::unique_ptr<PostProcessor>(std::make_unique<BertProcessing>(cls, sep));
}

}  // namespace weir::tokenizers::post_processors
