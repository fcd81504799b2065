// Which of a tokenizer's tokens have a part of their own, as transformers takes it: tokenizer_config.json, else
// special_tokens_map.json. Pure but for reading files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::huggingface {

/// The text of the token `key` ("mask_token"), from `path` in the first of the folders that has it; empty: none is
/// named. kCorrupt names file and field.
Result<std::optional<std::string>> read_special_token(const std::vector<std::string>& folders, const std::string& path,
                                                      const std::string& key);

}  // namespace weir::huggingface
