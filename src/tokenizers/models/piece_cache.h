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
  static constexpr std::size_t kHeldBytes = 122;
  static constexpr std::size_t kTokenBytes = 5;

  /// Two cache lines, of which a common word needs the first.
  struct alignas(64) Slot {
    std::uint32_t key = 0;  ///< 0: free.
    std::uint8_t piece_bytes = 0;
    std::uint8_t tokens = 0;
    /// The piece, then for each token its id (4 bytes) and where in the piece it ends; it begins where the one before
    /// it ends.
    std::array<char, kHeldBytes> held{};
  };

  PieceCache() : slots_(kSlots) {}
  static std::size_t slot_of(std::uint32_t key, std::string_view piece);

  std::vector<Slot> slots_;
};

}  // namespace weir::tokenizers::models
