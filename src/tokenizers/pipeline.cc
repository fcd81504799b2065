#include "tokenizers/pipeline.h"

#include "base/utf8.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers {
namespace {

/// Buffers above this are not kept.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

template <class Buffer>
void shrink_buffer(Buffer& buffer) {
  if (buffer.capacity() * sizeof(buffer[0]) > kKeptBytes) Buffer().swap(buffer);
}

/// From bytes to code points, as the library converts them: a place inside a character counts as its beginning.
class CodePointOffsets {
 public:
  CodePointOffsets(std::string_view text, std::vector<std::uint32_t>& before) : before_(before) {
    before.resize(text.size());
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!unicode::is_continuation(text[i])) ++count;
      before[i] = count - 1;
    }
  }

  Offset convert(Span span) const {
    const auto size = static_cast<std::uint32_t>(before_.size());
    if (span.begin >= size) return {span.begin, span.end};
    if (span.end < size) return {before_[span.begin], before_[span.end]};
    return {before_[span.begin], before_[size - 1] + 1};
  }

 private:
  const std::vector<std::uint32_t>& before_;
};

void fill_offsets(std::string_view text, Sequence& sequence) {
  const CodePointOffsets offsets(text, sequence.code_points_before);
  const std::vector<Span>& spans = sequence.pieces.text.spans;
  sequence.offsets.clear();
  for (const Token& token : sequence.tokens) {
    sequence.offsets.push_back(offsets.convert({spans[token.begin].begin, spans[token.end - 1].end}));
  }
}

Error error_of(Trouble trouble) {
  if (trouble == Trouble::kPattern) {
    return {ErrorKind::kTokenizer, "a regular expression of the tokenizer takes too long on the text"};
  }
  return {ErrorKind::kInvalidArgument,
          "the tokenizer makes the text longer than " + std::to_string(kLongestText) + " bytes, which is the limit"};
}

}  // namespace

void Sequence::shrink() {
  shrink_buffer(tokens);
  shrink_buffer(offsets);
  shrink_buffer(repaired);
  shrink_buffer(code_points_before);
  if (original.bytes.capacity() > kKeptBytes || original.spans.capacity() > kKeptBytes / sizeof(Span)) original = {};
  if (pieces.capacity_bytes() > kKeptBytes) pieces = {};
}

Status Pipeline::run(std::string_view text, bool with_offsets, Sequence& sequence) const {
  if (text.size() > kLongestText) {
    return Error(ErrorKind::kInvalidArgument, "the text has " + std::to_string(text.size()) + " bytes; the limit is " +
                                                  std::to_string(kLongestText));
  }
  if (!unicode::is_valid(text)) {
    sequence.repaired = replace_invalid_utf8(text);
    text = sequence.repaired;
  }
  const bool aligned = with_offsets || (pre_tokenizer != nullptr && pre_tokenizer->needs_alignment());
  cut(text, aligned, sequence);
  if (!sequence.pieces.text.is_usable()) return error_of(sequence.pieces.text.trouble);
  if (pre_tokenizer != nullptr) pre_tokenizer->pre_tokenize(sequence.pieces);
  if (!sequence.pieces.text.is_usable()) return error_of(sequence.pieces.text.trouble);
  sequence.tokens.clear();
  for (const Piece& piece : sequence.pieces.list) {
    if (piece.is_added()) {
      sequence.tokens.push_back({piece.added_id, piece.begin, piece.end, /*is_added=*/true});
    } else {
      WEIR_RETURN_IF_ERROR(
          model->tokenize(sequence.pieces.text.view(piece.begin, piece.end), piece.begin, sequence.tokens));
    }
  }
  if (with_offsets) fill_offsets(text, sequence);
  return {};
}

/// Cuts out the added tokens that are looked for in the text as it came, and normalizes what lies between.
void Pipeline::cut(std::string_view text, bool aligned, Sequence& sequence) const {
  sequence.pieces.text.reset(aligned);
  sequence.pieces.list.clear();
  sequence.original.reset(aligned);
  if (aligned && normalizer != nullptr) sequence.original.append_original(text, 0);
  added_tokens.find(text, /*normalized=*/false, [&](std::size_t begin, std::size_t end, std::int32_t id) {
    if (id == kNotAdded) return add_segment(text, begin, end, sequence);
    Text& out = sequence.pieces.text;
    const auto at = static_cast<std::uint32_t>(out.bytes.size());
    out.append_original(text.substr(begin, end - begin), static_cast<std::uint32_t>(begin));
    sequence.pieces.list.push_back({at, static_cast<std::uint32_t>(out.bytes.size()), id});
  });
}

/// Normalizes text[begin, end) and cuts out the added tokens that are looked for in normalized text.
void Pipeline::add_segment(std::string_view text, std::size_t begin, std::size_t end, Sequence& sequence) const {
  Text& out = sequence.pieces.text;
  if (!out.is_usable()) return;
  const std::size_t at = out.bytes.size();
  const auto origin = static_cast<std::uint32_t>(begin);
  const std::string_view bytes = text.substr(begin, end - begin);
  if (normalizer != nullptr) {
    normalizer->normalize({bytes, out.aligned ? sequence.original.spans.data() + begin : nullptr, origin}, out);
  } else {
    out.append_original(bytes, origin);
  }
  const std::string_view normal = std::string_view(out.bytes).substr(at);
  added_tokens.find(normal, /*normalized=*/true, [&](std::size_t from, std::size_t to, std::int32_t id) {
    sequence.pieces.list.push_back({static_cast<std::uint32_t>(at + from), static_cast<std::uint32_t>(at + to), id});
  });
}

}  // namespace weir::tokenizers
