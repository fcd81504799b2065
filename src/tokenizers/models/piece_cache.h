// What recent pieces were turned into, for models that are slow to say: words come again and again. One per thread, of
// a fixed size; a piece that falls on another's slot takes it. The models of the process share it, each under a key of
// its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizers/models/model.h"

namespace weir::tokenizers::models {

class PieceCache {
 public:
  static PieceCache& of_this_thread();
  /// A key that no other model of the process has.
  static std::uint32_t new_key();

  /// Appends the tokens of `piece`, their places counted from `base`; false when they are not known.
  bool find(std::uint32_t key, std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const;
  /// Remembers them unless they are too many or too long.
  void store(std::uint32_t key, std::string_view piece, std::uint32_t base, std::span<const Token> tokens);

 private:
  static constexpr std::size_t kSlots = 8192;
  static constexpr std::size_t kLongestPiece = 32;
  static constexpr std::size_t kMostTokens = 8;

  struct Slot {
    std::uint32_t key = 0;  ///< 0: free.
    std::uint8_t piece_bytes = 0;
    std::uint8_t tokens = 0;
    std::array<std::uint8_t, kMostTokens> ends{};  ///< In the piece; a token begins where the one before it ends.
    std::array<std::int32_t, kMostTokens> ids{};
    std::array<char, kLongestPiece> piece{};
  };

  PieceCache() : slots_(kSlots) {}
  static std::size_t slot_of(std::uint32_t key, std::string_view piece);

  std::vector<Slot> slots_;
};

}  // namespace weir::tokenizers::models
