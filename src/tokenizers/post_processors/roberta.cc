// RobertaProcessing: <s> A </s>, and </s> B </s> behind it; every type id is 0. ByteLevel only trims offsets.
#include "tokenizers/post_processors/makers.h"

namespace weir::tokenizers::post_processors {
namespace {

void trim(Plan& plan, bool add_prefix_space) {
  for (PlanPart& part : plan) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i].sequence != PlanStep::kSpecial) part[i].trims.push_back({add_prefix_space, /*at_start=*/i == 0});
    }
  }
}

class RobertaProcessing final : public PostProcessor {
 public:
  struct Options {
    std::int32_t cls = 0;
    std::int32_t sep = 0;
    bool trim_offsets = true;
    bool add_prefix_space = true;
  };
  explicit RobertaProcessing(const Options& options) : options_(options) {}

  std::uint32_t added_tokens(bool pair) const override { return pair ? 4 : 2; }

  Status apply(Plan& plan, bool add_special_tokens) const override {
    if (options_.trim_offsets) trim(plan, options_.add_prefix_space);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      for (PlanStep& step : plan[i]) step.type_id = 0;
      if (!add_special_tokens) continue;
      plan[i].insert(plan[i].begin(), special(i == 0 ? options_.cls : options_.sep));
      plan[i].push_back(special(options_.sep));
    }
    return {};
  }

 private:
  static PlanStep special(std::int32_t id) { return {PlanStep::kSpecial, id, 0, {}}; }

  Options options_;
};

class ByteLevel final : public PostProcessor {
 public:
  ByteLevel(bool trim_offsets, bool add_prefix_space)
      : trim_offsets_(trim_offsets), add_prefix_space_(add_prefix_space) {}

  std::uint32_t added_tokens(bool) const override { return 0; }

  Status apply(Plan& plan, bool) const override {
    if (trim_offsets_) trim(plan, add_prefix_space_);
    return {};
  }

 private:
  bool trim_offsets_;
  bool add_prefix_space_;
};

}  // namespace

Made make_roberta(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"cls", "sep", "trim_offsets", "add_prefix_space"}));
  RobertaProcessing::Options options;
  WEIR_ASSIGN_OR_RETURN(options.cls, read_token_and_id(config, "cls"));
  WEIR_ASSIGN_OR_RETURN(options.sep, read_token_and_id(config, "sep"));
  WEIR_ASSIGN_OR_RETURN(options.trim_offsets, config.boolean_or("trim_offsets", true));
  WEIR_ASSIGN_OR_RETURN(options.add_prefix_space, config.boolean_or("add_prefix_space", true));
  return std::unique_ptr<PostProcessor>(std::make_unique<RobertaProcessing>(options));
}

Made make_byte_level(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"trim_offsets", "add_prefix_space", "use_regex"}));
  WEIR_ASSIGN_OR_RETURN(const bool trim_offsets, config.boolean_or("trim_offsets", true));
  WEIR_ASSIGN_OR_RETURN(const bool add_prefix_space, config.boolean_or("add_prefix_space", true));
  return std::unique_ptr<PostProcessor>(std::make_unique<ByteLevel>(trim_offsets, add_prefix_space));
}

}  // namespace weir::tokenizers::post_processors
