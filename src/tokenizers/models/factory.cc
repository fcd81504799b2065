#include "tokenizers/json/factory.h"

#include "tokenizers/models/makers.h"

namespace weir::tokenizers {
namespace {

using models::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"BPE", models::make_bpe},
    {"Unigram", models::make_unigram},
    {"WordLevel", models::make_wordlevel},
    {"WordPiece", models::make_wordpiece},
};

/// Files written before models had a type are told apart by their fields, in the library's order.
std::string_view type_by_fields(const json::Object& config) {
  if (config.find("merges")) return "BPE";
  if (config.find("continuing_subword_prefix")) return "WordPiece";
  if (config.find("unk_token")) return "WordLevel";
  return "Unigram";
}

}  // namespace

Made make_model(const json::Object& config) {
  if (!config.find("type") && config.find("vocab")) {
    return json::make_by_name(config, "model", type_by_fields(config), kMakers);
  }
  return json::make_by_type(config, "model", kMakers);
}

}  // namespace weir::tokenizers
