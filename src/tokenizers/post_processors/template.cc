// TemplateProcessing: special tokens and texts in the order that the file spells out, once for a text and once for a
// pair.
#include <map>
#include <string>

#include "tokenizers/post_processors/makers.h"

namespace weir::tokenizers::post_processors {
namespace {

struct TemplatePiece {
  int sequence = PlanStep::kSpecial;
  std::vector<std::int32_t> ids;  ///< Of a special token, which may stand for several.
  std::int32_t type_id = 0;
};

using Template = std::vector<TemplatePiece>;
using SpecialTokens = std::map<std::string, std::vector<std::int32_t>, std::less<>>;

class TemplateProcessing final : public PostProcessor {
 public:
  TemplateProcessing(Template single, Template pair) : single_(std::move(single)), pair_(std::move(pair)) {}

  std::uint32_t added_tokens(bool pair) const override {
    std::size_t count = 0;
    for (const TemplatePiece& piece : pair ? pair_ : single_) count += piece.ids.size();
    return static_cast<std::uint32_t>(count);
  }

  Status apply(Plan& plan, bool add_special_tokens) const override {
    if (plan.size() != 1 && plan.size() != 2) {
      return Error(ErrorKind::kUnsupported,
                   "post_processor: a TemplateProcessing behind another one is not supported; the nearest that is: one "
                   "TemplateProcessing",
                   "post_processor");
    }
    Plan result;
    for (const TemplatePiece& piece : plan.size() == 2 ? pair_ : single_) {
      if (piece.sequence == PlanStep::kSpecial) {
        if (!add_special_tokens) continue;
        PlanPart& part = result.emplace_back();
        for (const std::int32_t id : piece.ids) part.push_back({PlanStep::kSpecial, id, piece.type_id, {}});
      } else {
        result.push_back(plan[static_cast<std::size_t>(piece.sequence)]);
        for (PlanStep& step : result.back()) step.type_id = piece.type_id;
      }
    }
    plan = std::move(result);
    return {};
  }

 private:
  Template single_;
  Template pair_;
};

Result<SpecialTokens> read_special_tokens(const json::Object& config) {
  SpecialTokens result;
  if (!config.find("special_tokens")) return result;
  WEIR_ASSIGN_OR_RETURN(const json::Object tokens, config.object("special_tokens"));
  for (const auto& field : tokens.raw()) {
    WEIR_ASSIGN_OR_RETURN(const json::Object token, json::Object::from(field.value, tokens.path_of(field.key)));
    WEIR_RETURN_IF_ERROR(token.refuse_others({"id", "ids", "tokens"}));
    WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array ids, token.array("ids"));
    std::vector<std::int32_t>& list = result[std::string(field.key)];
    list.clear();
    for (const json::Element id : ids) {
      WEIR_ASSIGN_OR_RETURN(const std::uint64_t value, json::as_unsigned(id, token.path_of("ids"), kLargestId));
      list.push_back(static_cast<std::int32_t>(value));
    }
  }
  return result;
}

Result<TemplatePiece> read_sequence(const json::Object& config, bool is_pair) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"id", "type_id"}));
  WEIR_ASSIGN_OR_RETURN(const std::string_view id, config.string("id"));
  const bool is_second = id == "B";
  if ((id != "A" && id != "B") || (is_second && !is_pair)) {
    return Error(ErrorKind::kCorrupt, config.path_of("id") + ": expected \"A\"" + (is_pair ? " or \"B\"" : ""),
                 config.path_of("id"));
  }
  TemplatePiece piece;
  piece.sequence = is_second ? 1 : 0;
  return piece;
}

Result<TemplatePiece> read_special(const json::Object& config, const SpecialTokens& special_tokens) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"id", "type_id"}));
  WEIR_ASSIGN_OR_RETURN(const std::string_view id, config.string("id"));
  const auto found = special_tokens.find(id);
  if (found == special_tokens.end()) {
    const std::string path = config.path_of("id");
    return Error(ErrorKind::kCorrupt, path + ": \"" + std::string(id) + "\" is not among special_tokens", path);
  }
  TemplatePiece piece;
  piece.ids = found->second;
  return piece;
}

Result<TemplatePiece> read_piece(const json::Element& element, const std::string& path, bool is_pair,
                                 const SpecialTokens& special_tokens) {
  WEIR_ASSIGN_OR_RETURN(const json::Object config, json::Object::from(element, path));
  WEIR_RETURN_IF_ERROR(config.refuse_others({"Sequence", "SpecialToken"}));
  const bool is_special = config.find("SpecialToken").has_value();
  WEIR_ASSIGN_OR_RETURN(const json::Object inner, config.object(is_special ? "SpecialToken" : "Sequence"));
  WEIR_ASSIGN_OR_RETURN(TemplatePiece piece,
                        is_special ? read_special(inner, special_tokens) : read_sequence(inner, is_pair));
  WEIR_ASSIGN_OR_RETURN(const std::uint64_t type_id, inner.unsigned_or("type_id", 0, kLargestId));
  piece.type_id = static_cast<std::int32_t>(type_id);
  return piece;
}

Result<Template> read_template(const json::Object& config, std::string_view field, bool is_pair,
                               const SpecialTokens& special_tokens) {
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array pieces, config.array(field));
  Template result;
  for (const json::Element element : pieces) {
    const std::string path = config.path_of(field) + "[" + std::to_string(result.size()) + "]";
    WEIR_ASSIGN_OR_RETURN(TemplatePiece piece, read_piece(element, path, is_pair, special_tokens));
    result.push_back(std::move(piece));
  }
  return result;
}

}  // namespace

Made make_template(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"single", "pair", "special_tokens"}));
  WEIR_ASSIGN_OR_RETURN(const SpecialTokens special_tokens, read_special_tokens(config));
  WEIR_ASSIGN_OR_RETURN(Template single, read_template(config, "single", /*is_pair=*/false, special_tokens));
  WEIR_ASSIGN_OR_RETURN(Template pair, read_template(config, "pair", /*is_pair=*/true, special_tokens));
  return std::unique_ptr<PostProcessor>(std::make_unique<TemplateProcessing>(std::move(single), std::move(pair)));
}

}  // namespace weir::tokenizers::post_processors
