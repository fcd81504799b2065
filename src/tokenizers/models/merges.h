// Which pairs of tokens byte-pair encoding joins, in which order, and into what. Immutable once filled; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace weir::tokenizers::models {

struct Merge {
  std::uint32_t rank = 0;  ///< Smaller is sooner.
  std::int32_t id = -1;    ///< Of the joined token; -1: the pair is not joined.
};

class MergeTable {
 public:
  explicit MergeTable(std::size_t merges) {
    std::size_t size = 16;
    while (size < merges * 2) size *= 2;
    slots_.resize(size);
  }

  /// A later merge of the same pair takes the earlier one's place.
  void add(std::int32_t left, std::int32_t right, Merge merge) {
    Slot& slot = slots_[slot_of(key_of(left, right))];
    slot.key = key_of(left, right);
    slot.merge = merge;
  }

  Merge find(std::int32_t left, std::int32_t right) const { return slots_[slot_of(key_of(left, right))].merge; }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kFree;
    Merge merge;
  };

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 20) & mask;
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;  ///< Open addressing, at most half full.
};

}  // namespace weir::tokenizers::models
