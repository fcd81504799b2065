#include "tokenizers/json/factory.h"

#include "tokenizers/pre_tokenizers/makers.h"

namespace weir::tokenizers {
namespace {

using pre_tokenizers::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"BertPreTokenizer", pre_tokenizers::make_bert},
    {"ByteLevel", pre_tokenizers::make_byte_level},
    {"CharDelimiterSplit", pre_tokenizers::make_delimiter},
    {"Delimiter", pre_tokenizers::make_delimiter},
    {"Digits", pre_tokenizers::make_digits},
    {"Metaspace", pre_tokenizers::make_metaspace},
    {"Punctuation", pre_tokenizers::make_punctuation},
    {"Sequence", pre_tokenizers::make_sequence},
    {"Split", pre_tokenizers::make_split},
    {"Whitespace", pre_tokenizers::make_whitespace},
    {"WhitespaceSplit", pre_tokenizers::make_whitespace_split},
};

}  // namespace

Made make_pre_tokenizer(const json::Object& config) { return json::make_by_type(config, "pre-tokenizer", kMakers); }

}  // namespace weir::tokenizers
