// One maker per post-processor; factory.cc lists them by name.
#pragma once

#include "tokenizers/post_processors/post_processor.h"

namespace weir::tokenizers::post_processors {

using Made = Result<std::unique_ptr<PostProcessor>>;

Made make_bert(const json::Object& config);
Made make_byte_level(const json::Object& config);
Made make_roberta(const json::Object& config);
Made make_sequence(const json::Object& config);
Made make_template(const json::Object& config);

/// Ids above this are taken for damage.
inline constexpr std::uint64_t kLargestId = (1 << 24) - 1;

/// Reads ["[SEP]", 102]: a token and its id, of which only the id counts.
Result<std::int32_t> read_token_and_id(const json::Object& config, std::string_view field);

}  // namespace weir::tokenizers::post_processors
