#include "serve/tokenize/encode.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "serve/request/late_interaction.h"
#include "serve/tokenize/checks.h"

namespace weir::serve::tokenize {
namespace {

tokenizers::EncodeOptions options_for(const Request& request) {
  tokenizers::EncodeOptions options;
  options.truncation_side = request.options.truncation_side;
  options.with_offsets = request.task != Task::kTokenize && is_per_token(request.task, request.view->manifest);
  if (request.task == Task::kTokenize) {
    options.add_special_tokens = request.options.add_special_tokens;
    options.with_offsets = true;
  } else {
    // Also where a long text is refused: what is over the limit need not be kept to be counted.
    options.max_tokens = request.view->max_tokens;
  }
  return options;
}

/// What multi-vector models make of a text; empty for other models, and where only tokens are asked for.
const bundle::LateInteraction* late_interaction(const Request& request) {
  const auto& late = request.view->manifest.late_interaction;
  return late && computes(request.task) ? &*late : nullptr;
}

std::uint32_t limit_of(const Request& request, const Input& input) {
  const std::uint32_t limit = request.view->max_tokens;
  const bundle::LateInteraction* late = late_interaction(request);
  return late == nullptr ? limit : role_tokens(*late, is_query(request, input), limit);
}

Result<tokenizers::Encoding> encode_plain(const Request& request, const Input& input,
                                          const tokenizers::EncodeOptions& options) {
  const tokenizers::Tokenizer& tokenizer = *request.view->tokenizer;
  if (input.is_ids) return tokenizer.encode_ids(input.ids, options);
  if (input.pair) return tokenizer.encode_pair(input.text, *input.pair, options);
  const std::string& prompt = prompt_of(request, input);
  if (prompt.empty()) return tokenizer.encode(input.text, options);
  return tokenizer.encode(prompt + input.text, options);
}

Result<tokenizers::Encoding> encode(const Request& request, const Input& input) {
  tokenizers::EncodeOptions options = options_for(request);
  const bundle::LateInteraction* late = late_interaction(request);
  if (late == nullptr) return encode_plain(request, input, options);
  const bool of_query = is_query(request, input);
  options.max_tokens = encoded_tokens(*late, of_query, request.view->max_tokens);
  WEIR_ASSIGN_OR_RETURN(tokenizers::Encoding encoding, encode_plain(request, input, options));
  add_role(*late, of_query, request.view->max_tokens, encoding);
  return encoding;
}

LongText what_with_long_text(const Request& request, const LongTextRule& rule) {
  if (request.options.truncate) return *request.options.truncate ? LongText::kTruncate : LongText::kReject;
  return rule.what == LongText::kChunk && !takes_windows(request.task, request.view->manifest) ? LongText::kTruncate
                                                                                               : rule.what;
}

/// Ids without special tokens.
Result<std::vector<std::int32_t>> content_of(const tokenizers::Tokenizer& tokenizer, const std::string& text) {
  tokenizers::EncodeOptions options;
  options.add_special_tokens = false;
  WEIR_ASSIGN_OR_RETURN(tokenizers::Encoding encoding, tokenizer.encode(text, options));
  return std::move(encoding.ids);
}

/// Cuts a long text into windows of as many tokens as the model takes, each with the prompt before it.
Status encode_windows(Request& request, std::size_t index, std::uint32_t overlap_tokens) {
  const tokenizers::Tokenizer& tokenizer = *request.view->tokenizer;
  const Input& input = request.inputs[index];
  std::vector<std::int32_t> ids = input.ids;
  if (!input.is_ids) {
    WEIR_ASSIGN_OR_RETURN(ids, content_of(tokenizer, input.text));
  }
  WEIR_ASSIGN_OR_RETURN(const std::vector<std::int32_t> prompt,
                        content_of(tokenizer, input.is_ids ? std::string() : prompt_of(request, input)));
  const std::size_t around = tokenizer.special_tokens_added() + prompt.size();
  const std::size_t limit = request.view->max_tokens;
  if (around >= limit) {
    return Error(ErrorKind::kInvalidArgument,
                 "the prompt leaves no room for text in a window of " + std::to_string(limit) + " tokens",
                 "prompt_name");
  }
  const std::size_t room = limit - around;
  const std::size_t step = room - std::min<std::size_t>(overlap_tokens, room / 2);
  tokenizers::EncodeOptions options;
  for (std::size_t begin = 0; begin == 0 || begin + (room - step) < ids.size(); begin += step) {
    std::vector<std::int32_t> window = prompt;
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
    window.insert(window.end(), first, ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + room, ids.size())));
    WEIR_ASSIGN_OR_RETURN(tokenizers::Encoding encoding, tokenizer.encode_ids(window, options));
    if (begin == 0) {
      request.encodings[index] = std::move(encoding);
    } else {
      request.windows[index].push_back(std::move(encoding));
    }
  }
  return {};
}

Error named(Error error, const std::string& name) {
  error.message = name + ": " + error.message;
  error.where = name;
  return error;
}

}  // namespace

Status encode_input(Request& request, std::size_t index, const LongTextRule& rule) {
  const std::string name = input_name(request, index);
  if (request.task == Task::kDecode) {
    auto text = request.view->tokenizer->decode(request.inputs[index].ids, request.options.skip_special_tokens);
    if (!text.ok()) return named(std::move(text).error(), name);
    request.decoded[index] = std::move(text).value();
    return {};
  }
  auto encoding = encode(request, request.inputs[index]);
  if (!encoding.ok()) return named(std::move(encoding).error(), name);
  const std::uint32_t limit = limit_of(request, request.inputs[index]);
  const bool too_long = computes(request.task) && encoding->untruncated_tokens > limit;
  const LongText what = what_with_long_text(request, rule);
  if (too_long && what == LongText::kChunk) {
    const Status cut = encode_windows(request, index, rule.overlap_tokens);
    return cut.ok() ? cut : Status(named(cut.error(), name));
  }
  if (too_long && what == LongText::kReject) {
    return Error(ErrorKind::kTextTooLong,
                 name + " has " + std::to_string(encoding->untruncated_tokens) + " tokens, the model takes " +
                     std::to_string(limit) + "; shorten it, or set truncate to true",
                 name);
  }
  if (encoding->ids.empty() && computes(request.task)) {
    return Error(ErrorKind::kEmptyInput, name + " has no tokens", name);
  }
  request.encodings[index] = std::move(encoding).value();
  return {};
}

}  // namespace weir::serve::tokenize
