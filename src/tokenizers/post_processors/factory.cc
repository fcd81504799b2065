#include "tokenizers/json/factory.h"

#include "tokenizers/post_processors/makers.h"

namespace weir::tokenizers {
namespace {

using post_processors::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"TemplateProcessing", post_processors::make_template}, {"BertProcessing", post_processors::make_bert},
    {"ByteLevel", post_processors::make_byte_level},        {"RobertaProcessing", post_processors::make_roberta},
    {"Sequence", post_processors::make_sequence},
};

}  // namespace

Made make_post_processor(const json::Object& config) { return json::make_by_type(config, "post-processor", kMakers); }

}  // namespace weir::tokenizers
