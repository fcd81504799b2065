#include "serve/tokenize/encode.h"

#include <string>
#include <utility>

#include "serve/tokenize/checks.h"

namespace weir::serve::tokenize {
namespace {

tokenizers::EncodeOptions options_for(const Request& request) {
  tokenizers::EncodeOptions options;
  options.truncation_side = request.options.truncation_side;
  if (request.task == Task::kTokenize) {
    options.add_special_tokens = request.options.add_special_tokens;
    options.with_offsets = true;
  } else {
    // Also where a long text is refused: what is over the limit need not be kept to be counted.
    options.max_tokens = request.view->max_tokens;
  }
  return options;
}

Result<tokenizers::Encoding> encode(const Request& request, const Input& input) {
  const tokenizers::Tokenizer& tokenizer = *request.view->tokenizer;
  const tokenizers::EncodeOptions options = options_for(request);
  if (input.is_ids) return tokenizer.encode_ids(input.ids, options);
  const std::string& prompt = prompt_of(request);
  if (prompt.empty()) return tokenizer.encode(input.text, options);
  return tokenizer.encode(prompt + input.text, options);
}

bool truncates(const Request& request, LongText long_text) {
  return request.options.truncate.value_or(long_text == LongText::kTruncate);
}

}  // namespace

Status encode_input(Request& request, std::size_t index, LongText long_text) {
  auto encoding = encode(request, request.inputs[index]);
  const std::string name = input_name(request, index);
  if (!encoding.ok()) {
    Error error = std::move(encoding).error();
    error.message = name + ": " + error.message;
    error.where = name;
    return error;
  }
  const std::uint32_t limit = request.view->max_tokens;
  if (request.task == Task::kEmbed && encoding->untruncated_tokens > limit && !truncates(request, long_text)) {
    return Error(ErrorKind::kTextTooLong,
                 name + " has " + std::to_string(encoding->untruncated_tokens) + " tokens, the model takes " +
                     std::to_string(limit) + "; shorten it, or set truncate to true",
                 name);
  }
  if (encoding->ids.empty() && request.task == Task::kEmbed) {
    return Error(ErrorKind::kEmptyInput, name + " has no tokens", name);
  }
  request.encodings[index] = std::move(encoding).value();
  return {};
}

}  // namespace weir::serve::tokenize
