#include "serve/request/late_interaction.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::serve {
namespace {

/// `value` before the second element, or at the end.
template <class Values, class Value>
void insert_second(Values& values, const Value& value) {
  values.insert(values.begin() + std::min<std::ptrdiff_t>(1, std::ssize(values)), value);
}

const std::optional<std::uint32_t>& marker_of(const bundle::LateInteraction& late, bool is_query) {
  return is_query ? late.query_marker : late.document_marker;
}

}  // namespace

std::uint32_t role_tokens(const bundle::LateInteraction& late, bool is_query, std::uint32_t max_tokens) {
  return std::min(is_query ? late.query_tokens : late.document_tokens, max_tokens);
}

std::uint32_t encoded_tokens(const bundle::LateInteraction& late, bool is_query, std::uint32_t max_tokens) {
  return role_tokens(late, is_query, max_tokens) - (marker_of(late, is_query) ? 1 : 0);
}

void add_role(const bundle::LateInteraction& late, bool is_query, std::uint32_t max_tokens,
              tokenizers::Encoding& encoding) {
  const bool has_offsets = !encoding.offsets.empty();
  if (const auto& marker = marker_of(late, is_query)) {
    insert_second(encoding.ids, static_cast<std::int32_t>(*marker));
    if (!encoding.type_ids.empty()) insert_second(encoding.type_ids, 0);
    if (has_offsets) {
      insert_second(encoding.offsets, tokenizers::Offset{});
      insert_second(encoding.special, std::uint8_t{1});
    }
    ++encoding.untruncated_tokens;
  }
  const std::size_t length = role_tokens(late, is_query, max_tokens);
  if (!is_query || !late.expansion_token || encoding.ids.size() >= length) return;
  if (!late.attend_to_expansion) {
    encoding.unattended_tokens = static_cast<std::uint32_t>(length - encoding.ids.size());
  }
  encoding.ids.resize(length, static_cast<std::int32_t>(*late.expansion_token));
  if (!encoding.type_ids.empty()) encoding.type_ids.resize(length, 0);
  if (has_offsets) {
    encoding.offsets.resize(length);
    encoding.special.resize(length, 1);
  }
}

Result<tokenizers::Encoding> encode_alone(const tokenizers::Tokenizer& tokenizer, const bundle::Manifest& manifest,
                                          const std::string& text, const std::optional<std::string>& pair) {
  const auto& late = manifest.late_interaction;
  tokenizers::EncodeOptions options;
  options.max_tokens = late ? encoded_tokens(*late, false, manifest.max_tokens) : manifest.max_tokens;
  auto encoding = pair ? tokenizer.encode_pair(text, *pair, options) : tokenizer.encode(text, options);
  if (encoding.ok() && late) add_role(*late, false, manifest.max_tokens, *encoding);
  return encoding;
}

void part_from_query(std::vector<Input>& inputs) {
  if (inputs.empty()) return;
  Input query;
  query.is_query = true;
  for (Input& input : inputs) {
    query.text = std::exchange(input.text, std::move(*input.pair));
    input.pair.reset();
  }
  inputs.push_back(std::move(query));
}

}  // namespace weir::serve
