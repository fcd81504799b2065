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
    marks_.resize(size / kMarksPerSlot);
  }

  /// A later merge of the same pair takes the earlier one's place.
  void add(std::int32_t left, std::int32_t right, Merge merge) {
    Slot& slot = slots_[slot_of(key_of(left, right))];
    slot.key = key_of(left, right);
    slot.merge = merge;
    const std::uint64_t hash = hash_of(key_of(left, right));
    marks_[mark_word(hash)] |= mark_bit(hash);
  }

  Merge find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = key_of(left, right);
    const std::uint64_t hash = hash_of(key);
    if ((marks_[mark_word(hash)] & mark_bit(hash)) == 0) return {};
    return slots_[slot_of(key)].merge;
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kFree;
    Merge merge;
  };

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
  }
  static std::uint64_t hash_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u; }
  std::size_t mark_word(std::uint64_t hash) const { return (hash >> 26) & (marks_.size() - 1); }
  static std::uint64_t mark_bit(std::uint64_t hash) { return std::uint64_t{1} << (hash >> 20 & 63); }
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash_of(key) >> 20) & mask;
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  /// 4 bits for each slot, 8 or more for each merge.
  static constexpr std::size_t kMarksPerSlot = 16;

  std::vector<Slot> slots_;  ///< Open addressing, at most half full.
  /// A bit for some of the hash of each merge. Most pairs are not joined: this says so from memory that stays in the
  /// cache.
  std::vector<std::uint64_t> marks_;
};

}  // namespace weir::tokenizers::models
