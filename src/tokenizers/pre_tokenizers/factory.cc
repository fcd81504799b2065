#include "tokenizers/json/factory.h"

#include "tokenizers/pre_tokenizers/makers.h"

namespace weir::tokenizers {
namespace {

using pre_tokenizers::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"BertPreTokenizer", pre_tokenizers::make_bert},
};

}  // namespace

Made make_pre_tokenizer(const json::Object& config) { return json::make_by_type(config, "pre-tokenizer", kMakers); }

}  // namespace weir::tokenizers
