// A normalized text cut into pieces, which the pre-tokenizers cut further and the model turns into tokens one by one. A
// piece that is an added token is never cut again.
//
// Plain values, reused from call to call. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizers/text/text.h"

namespace weir::tokenizers {

inline constexpr std::int32_t kNotAdded = -1;

struct Piece {
  std::uint32_t begin = 0;  ///< In the bytes of the text.
  std::uint32_t end = 0;
  std::int32_t added_id = kNotAdded;  ///< The id, if the piece is an added token.

  bool is_added() const { return added_id != kNotAdded; }
  bool operator==(const Piece&) const = default;
};

/// What becomes of a delimiter. "the-final--countdown" cut at '-':
enum class SplitBehavior {
  kRemoved,             ///< the final countdown
  kIsolated,            ///< the - final - - countdown
  kMergedWithPrevious,  ///< the- final- - countdown
  kMergedWithNext,      ///< the -final - -countdown
  kContiguous,          ///< the - final -- countdown
};

/// The name that a tokenizer.json has for it, such as "MergedWithNext".
std::optional<SplitBehavior> split_behavior_from_name(std::string_view name);

/// A stretch of a piece, and whether it is a delimiter. Together a piece's stretches cover it, in order.
struct Stretch {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool is_delimiter = false;
};

class Pieces {
 public:
  Text text;
  std::vector<Piece> list;

  /// Cuts every piece that is not an added token at the delimiters that `find` finds in it: find(view, emit) calls
  /// emit(begin, end) for each delimiter, in order, without overlap. Empty pieces are dropped.
  template <class Find>
  void split(SplitBehavior behavior, bool invert, Find find) {
    next_.clear();
    for (const Piece& piece : list) {
      if (piece.is_added()) {
        next_.push_back(piece);
        continue;
      }
      begin_stretches(piece);
      find(text.view(piece.begin, piece.end), [&](std::size_t begin, std::size_t end) {
        add_delimiter(piece.begin + static_cast<std::uint32_t>(begin), piece.begin + static_cast<std::uint32_t>(end));
      });
      end_stretches(piece, invert);
      emit(behavior);
    }
    list.swap(next_);
  }

  /// Cuts every piece that is not an added token: cut(text, piece, out) appends the parts, none of them empty.
  template <class Cut>
  void replace_each(Cut cut) {
    next_.clear();
    for (const Piece& piece : list) {
      if (piece.is_added()) {
        next_.push_back(piece);
      } else {
        cut(text, piece, next_);
      }
    }
    list.swap(next_);
  }

  /// Rewrites every piece that is not an added token into a new text: rewrite(segment, out, index) appends what becomes
  /// of it. Pieces that become empty are dropped, and all that follow once the new text is in trouble.
  template <class Rewrite>
  void rewrite(Rewrite rewrite_piece) {
    rewritten_.reset(text.aligned);
    rewritten_.trouble = text.is_usable() ? Trouble::kNone : text.trouble;  // A text already too long grows no further.
    next_.clear();
    std::size_t index = 0;
    for (const Piece& piece : list) {
      if (!rewritten_.is_usable()) break;
      const auto begin = static_cast<std::uint32_t>(rewritten_.bytes.size());
      if (piece.is_added()) {
        rewritten_.copy(text.whole(0), piece.begin, piece.end);
      } else {
        const std::uint32_t origin = text.aligned ? text.spans[piece.begin].begin : 0;
        rewrite_piece(text.segment(piece.begin, piece.end, origin), rewritten_, index);
      }
      ++index;
      const auto end = static_cast<std::uint32_t>(rewritten_.bytes.size());
      if (end > begin) next_.push_back({begin, end, piece.added_id});
    }
    std::swap(text, rewritten_);
    list.swap(next_);
  }

  /// Memory held, for deciding whether to keep it.
  std::size_t capacity_bytes() const {
    return text.bytes.capacity() + rewritten_.bytes.capacity() + (list.capacity() + next_.capacity()) * sizeof(Piece) +
           (text.spans.capacity() + rewritten_.spans.capacity()) * sizeof(Span);
  }

 private:
  void begin_stretches(const Piece& piece) {
    stretches_.clear();
    covered_ = piece.begin;
  }
  void add_delimiter(std::uint32_t begin, std::uint32_t end) {
    if (begin > covered_) stretches_.push_back({covered_, begin, false});
    stretches_.push_back({begin, end, true});
    covered_ = end;
  }
  void end_stretches(const Piece& piece, bool invert);
  void emit(SplitBehavior behavior);
  void emit_merged(SplitBehavior behavior);
  void push(std::uint32_t begin, std::uint32_t end) {
    if (end > begin) next_.push_back({begin, end});
  }

  std::vector<Piece> next_;
  std::vector<Stretch> stretches_;
  std::uint32_t covered_ = 0;
  Text rewritten_;
};

/// A finder for Pieces::split: every character for which `is_delimiter` holds, one by one.
template <class Predicate>
auto each_character(Predicate is_delimiter) {
  return [is_delimiter](std::string_view view, auto emit) {
    for (std::size_t at = 0; at < view.size();) {
      const unicode::Decoded character = unicode::decode(view, at);
      if (is_delimiter(character.code_point)) emit(at, at + character.length);
      at += character.length;
    }
  };
}

}  // namespace weir::tokenizers
