// A tokenizer.json from anywhere: any bytes give a tokenizer or an error, and the tokenizer works.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tokenizers/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::tokenizers;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = Tokenizer::from_json(json, "tokenizer.json");
  if (!tokenizer.ok()) return 0;
  for (const std::string_view text : {"", "Hello  wörld, [CLS] it's 12 漢字 e\xCC\x81\xF0\x9F\x98\x80", "\xFF a\r\n"}) {
    const auto encoding = (*tokenizer)->encode(text, {.with_offsets = true});
    if (!encoding.ok()) continue;
    if (encoding->ids.size() != encoding->offsets.size()) std::abort();
    (void)(*tokenizer)->encode_pair(text, "b", {.max_tokens = 4, .truncation_side = Side::kLeft});
    (void)(*tokenizer)->decode(encoding->ids, true);
  }
  return 0;
}
