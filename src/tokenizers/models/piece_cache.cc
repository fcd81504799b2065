#include "tokenizers/models/piece_cache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

namespace weir::tokenizers::models {

PieceCache& PieceCache::of_this_thread() {
  static thread_local PieceCache cache;
  return cache;
}

std::uint32_t PieceCache::new_key() {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::size_t PieceCache::slot_of(std::uint32_t key, std::string_view piece) {
  return (std::hash<std::string_view>()(piece) + key * 0x9E3779B9u) % kSlots;
}

bool PieceCache::find(std::uint32_t key, std::string_view piece, std::uint32_t base, std::vector<Token>& tokens) const {
  if (piece.size() > kHeldBytes) return false;
  const Slot& slot = slots_[slot_of(key, piece)];
  if (slot.key != key || std::string_view(slot.held.data(), slot.piece_bytes) != piece) return false;
  std::uint32_t begin = base;
  const char* at = slot.held.data() + slot.piece_bytes;
  for (std::size_t i = 0; i < slot.tokens; ++i, at += kTokenBytes) {
    std::int32_t id = 0;
    std::memcpy(&id, at, sizeof id);
    const std::uint32_t end = base + static_cast<unsigned char>(at[sizeof id]);
    tokens.push_back({id, begin, end});
    begin = end;
  }
  return true;
}

void PieceCache::store(std::uint32_t key, std::string_view piece, std::uint32_t base, std::span<const Token> tokens) {
  if (piece.size() + tokens.size() * kTokenBytes > kHeldBytes) return;
  Slot& slot = slots_[slot_of(key, piece)];
  slot.key = key;
  slot.piece_bytes = static_cast<std::uint8_t>(piece.size());
  slot.tokens = static_cast<std::uint8_t>(tokens.size());
  char* at = std::copy(piece.begin(), piece.end(), slot.held.data());
  for (const Token& token : tokens) {
    std::memcpy(at, &token.id, sizeof token.id);
    at[sizeof token.id] = static_cast<char>(token.end - base);
    at += kTokenBytes;
  }
}

}  // namespace weir::tokenizers::models
