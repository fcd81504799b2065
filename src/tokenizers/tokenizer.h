// Text to token ids, as a Hugging Face tokenizer.json describes it: normalizer → pre-tokenizer → model →
// post-processor, with added tokens cut out first. Ids, offsets and special-token masks are those of the `tokenizers`
// library.
//
// A Tokenizer is immutable once loaded; any number of threads may encode with it at once. What a file asks for and weir
// does not implement is refused when it is loaded, by name.
//
// Text is UTF-8. Bytes that are not valid UTF-8 are each replaced by U+FFFD, one per maximal invalid subpart (the rule
// of the Unicode standard, section 3.9, and of Python's `errors="replace"`), before anything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::tokenizers {

/// Where a token came from in the original text: [begin, end), counted in Unicode code points as Python counts them.
/// Special tokens have {0, 0}.
struct Offset {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Offset&) const = default;
};

/// One encoded text. The vectors have one entry per token; offsets and special mask are filled only when asked for.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<Offset> offsets;
  std::vector<std::uint8_t> special;     ///< 1 where the post-processor added the token.
  std::uint32_t untruncated_tokens = 0;  ///< Tokens the whole text has, special ones included.
  /// The last ones that no token attends to, put there by whoever encoded the text for a model that has such (ColBERT's
  /// queries). A tokenizer makes none.
  std::uint32_t unattended_tokens = 0;
};

enum class Side { kLeft, kRight };  ///< Which end of a text truncation removes.

/// Which text of a pair truncation shortens. kLongestFirst takes from the longer one until both are of one length.
enum class PairTruncation { kLongestFirst, kOnlyFirst, kOnlySecond };

struct EncodeOptions {
  bool add_special_tokens = true;
  bool with_offsets = false;                  ///< Fill `offsets` and `special`.
  std::optional<std::uint32_t> max_tokens{};  ///< Truncate to this many, special tokens included; empty: never.
  Side truncation_side = Side::kRight;
  PairTruncation pair_truncation = PairTruncation::kLongestFirst;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Reads a tokenizer.json. The file's own `truncation` and `padding` sections are ignored: the caller decides.
  /// kCorrupt: not JSON, or a field is missing or of the wrong type; kUnsupported: a part weir does not implement. Both
  /// name the field (`model.type`) and its value. `name` is used in messages.
  static Result<std::unique_ptr<Tokenizer>> from_json(std::string_view json, const std::string& name);
  static Result<std::unique_ptr<Tokenizer>> from_file(const std::string& path);

  /// kInvalidArgument when `max_tokens` leaves no room for the special tokens, or (a pair) when the text that
  /// truncation may shorten is too short for it; kTokenizer when the vocabulary has no token for a part of the text,
  /// or a regular expression of the file takes too long on it.
  virtual Result<Encoding> encode(std::string_view text, const EncodeOptions& options) const = 0;
  virtual Result<Encoding> encode_pair(std::string_view first, std::string_view second,
                                       const EncodeOptions& options) const = 0;

  /// Wraps ids that a client sent (without special tokens) as encode() would have: adds special tokens, truncates.
  /// kInvalidArgument when an id is not in the vocabulary.
  virtual Result<Encoding> encode_ids(std::span<const std::int32_t> ids, const EncodeOptions& options) const = 0;

  /// Ids to text through the file's decoder. kInvalidArgument when an id is not in the vocabulary.
  virtual Result<std::string> decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const = 0;

  virtual std::optional<std::int32_t> token_to_id(std::string_view token) const = 0;
  /// Empty when `id` is out of range.
  virtual std::string_view id_to_token(std::int32_t id) const = 0;
  /// One more than the largest id.
  virtual std::uint32_t vocabulary_size() const = 0;
  /// How many special tokens a single text gets.
  virtual std::uint32_t special_tokens_added() const = 0;
};

}  // namespace weir::tokenizers
