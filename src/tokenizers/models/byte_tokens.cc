#include "tokenizers/models/makers.h"

namespace weir::tokenizers::models {

std::array<std::int32_t, 256> byte_token_ids(const Vocabulary& vocabulary) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::array<std::int32_t, 256> ids{};
  std::string token = "<0x00>";
  for (std::size_t byte = 0; byte < ids.size(); ++byte) {
    token[3] = kHex[byte >> 4];
    token[4] = kHex[byte & 15];
    ids[byte] = vocabulary.find_id(token);
  }
  return ids;
}

Error missing_unknown_token(std::string_view field, std::string_view token) {
  return {ErrorKind::kTokenizer,
          "the text has a part that the vocabulary does not cover, and the vocabulary has no unknown token" +
              (token.empty() ? std::string() : " \"" + std::string(token) + "\""),
          std::string(field)};
}

}  // namespace weir::tokenizers::models
