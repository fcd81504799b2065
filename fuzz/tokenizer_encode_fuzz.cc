// Any bytes as a text, through a tokenizer of each kind: lengths, ids and offsets are in bounds, and asking for offsets
// changes no id.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "tokenizers/tokenizer.h"
#include "tokenizers/unicode/utf8.h"

namespace {

using namespace weir::tokenizers;

constexpr std::string_view kFiles[] = {
    R"({"added_tokens": [{"id": 0, "content": "[A]", "special": true, "normalized": false, "lstrip": true},
                         {"id": 9, "content": "Word", "normalized": true, "single_word": true, "rstrip": true}],
        "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "cls": ["[A]", 0], "sep": ["[U]", 1]},
        "decoder": {"type": "WordPiece"},
        "model": {"type": "WordPiece", "unk_token": "[U]", "vocab": {"[A]": 0, "[U]": 1, "a": 2, "##a": 3, "漢": 4}}})",
    R"({"normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "ByteLevel"},
        "post_processor": {"type": "RobertaProcessing", "cls": ["?", 0], "sep": ["?", 0]}, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "Ġ": 2, "Ã": 3, "Ġa": 4, "ĠaĠa": 5},
                  "merges": ["Ġ a", "Ġa Ġa"]}})",
    R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKD"}, {"type": "StripAccents"},
          {"type": "Lowercase"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "Strip"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits"},
          {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]},
        "decoder": {"type": "Metaspace", "replacement": "▁"},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true,
                  "vocab": [["?", 0], ["▁", -1], ["a", -2], ["▁a", -1.5], ["<0x62>", -3]]}})"};

const std::array<std::unique_ptr<Tokenizer>, std::size(kFiles)>& tokenizers() {
  static const auto loaded = [] {
    std::array<std::unique_ptr<Tokenizer>, std::size(kFiles)> result;
    for (std::size_t i = 0; i < result.size(); ++i) {
      auto tokenizer = Tokenizer::from_json(kFiles[i], "file");
      if (!tokenizer.ok()) std::abort();
      result[i] = std::move(*tokenizer);
    }
    return result;
  }();
  return loaded;
}

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  const auto encoding = tokenizer.encode(text, options);
  require(encoding.ok());
  require(!options.max_tokens || encoding->ids.size() <= *options.max_tokens);
  require(encoding->offsets.size() == encoding->ids.size() && encoding->special.size() == encoding->ids.size());
  require(encoding->type_ids.size() == encoding->ids.size());
  for (const Offset& offset : encoding->offsets) require(offset.begin <= offset.end && offset.end <= text.size());
  for (const std::int32_t id : encoding->ids) require(!tokenizer.id_to_token(id).empty());
  EncodeOptions plain = options;
  plain.with_offsets = false;
  require(tokenizer.encode(text, plain)->ids == encoding->ids);
  const auto decoded = tokenizer.decode(encoding->ids, true);
  require(decoded.ok() && unicode::is_valid(*decoded));
  require(tokenizer.encode_ids(encoding->ids, options).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  EncodeOptions options;
  options.with_offsets = true;
  if ((data[0] & 1) != 0) options.max_tokens = 2 + (data[0] >> 3);
  if ((data[0] & 2) != 0) options.truncation_side = Side::kLeft;
  options.add_special_tokens = (data[0] & 4) == 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  for (const auto& tokenizer : tokenizers()) check(*tokenizer, text, options);
  return 0;
}
