// Token ↔ id, both ways. Immutable once filled; reading from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizers/json/object.h"

namespace weir::tokenizers {

/// Larger ids in a file are taken for damage: a table is kept with an entry for each id.
inline constexpr std::int32_t kLargestId = (1 << 24) - 1;

class Vocabulary {
 public:
  /// Reads an object of token → id. kCorrupt: not that, or an id above kLargestId.
  static Result<Vocabulary> from_object(const json::Element& element, const std::string& path);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) noexcept = default;
  Vocabulary& operator=(Vocabulary&&) noexcept = default;

  /// A later token of the same text or id takes the earlier one's place. `id` is at most kLargestId.
  void add(std::string_view token, std::int32_t id);

  std::optional<std::int32_t> find(std::string_view token) const {
    const std::int32_t id = find_id(token);
    return id < 0 ? std::nullopt : std::optional(id);
  }
  /// -1 when there is none.
  std::int32_t find_id(std::string_view token) const;

  /// Null view when `id` has no token.
  std::string_view token(std::int32_t id) const {
    return id < 0 || static_cast<std::size_t>(id) >= by_id_.size() ? std::string_view() : by_id_[id];
  }
  bool has_id(std::int32_t id) const { return token(id).data() != nullptr; }

  std::uint32_t tokens() const { return count_; }                                  ///< How many different tokens.
  std::uint32_t ids() const { return static_cast<std::uint32_t>(by_id_.size()); }  ///< One more than the largest id.

  /// Calls visit(token, id) for every token.
  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.id >= 0) visit(slot.token, slot.id);
    }
  }

 private:
  struct Slot {
    std::string_view token;
    std::uint32_t hash = 0;
    std::int32_t id = -1;  ///< -1: free.
  };
  void grow();
  std::size_t slot_of(std::string_view token, std::uint32_t hash) const;

  std::vector<Slot> slots_;  ///< Open addressing; the size is a power of two, at most half full.
  std::vector<std::string_view> by_id_;
  std::deque<std::string> texts_;  ///< What the views point into; a deque's elements stay where they are.
  std::uint32_t count_ = 0;
};

}  // namespace weir::tokenizers
