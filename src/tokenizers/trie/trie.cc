#include "tokenizers/trie/trie.h"

#include <algorithm>

namespace weir::tokenizers {

using Keys = std::vector<std::pair<std::string_view, std::int32_t>>;

/// Places nodes breadth-first, each one's children together. Free units are kept in a list; only those of the last
/// blocks are tried, so that building stays linear and few units are wasted.
class TrieBuilder {
 public:
  TrieBuilder(const Keys& keys, std::vector<Trie::Unit>& units) : keys_(keys), units_(units) {}

  void build() {
    add_block();
    take(Trie::kRoot, Trie::kNone);
    std::vector<Range> level = {{0, keys_.size(), Trie::kRoot}};
    for (std::size_t depth = 0; !level.empty(); ++depth) {
      std::vector<Range> next;
      for (const Range& range : level) place_children(range, depth, next);
      level = std::move(next);
    }
  }

 private:
  /// The keys [first, last) share their first `depth` bytes, which end at `node`.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
    Trie::Node node = Trie::kRoot;
  };
  static constexpr std::size_t kBlockSize = 256;
  static constexpr std::size_t kOpenBlocks = 16;

  unsigned char byte_of(std::size_t key, std::size_t depth) const {
    return static_cast<unsigned char>(keys_[key].first[depth]);
  }

  void place_children(Range range, std::size_t depth, std::vector<Range>& next) {
    for (; range.first < range.last && keys_[range.first].first.size() == depth; ++range.first) {
      units_[range.node].value = keys_[range.first].second;
    }
    if (range.first == range.last) return;
    labels_.clear();
    const std::size_t first_child = next.size();
    for (std::size_t i = range.first; i < range.last; ++i) {
      const unsigned char label = byte_of(i, depth);
      if (labels_.empty() || labels_.back() != label) {
        labels_.push_back(label);
        next.push_back({i, i, 0});
      }
      next.back().last = i + 1;
    }
    const Trie::Node base = find_base();
    units_[range.node].base = base;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      next[first_child + i].node = base ^ labels_[i];
      take(base ^ labels_[i], range.node);
    }
  }

  /// A base under which all of labels_ are free.
  Trie::Node find_base() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Trie::Node base = open_[i] ^ labels_.front();
      if (std::all_of(labels_.begin(), labels_.end(), [&](unsigned char label) { return is_free(base ^ label); })) {
        return base;
      }
    }
    const auto base = static_cast<Trie::Node>(units_.size());
    add_block();
    return base;
  }

  bool is_free(Trie::Node unit) const { return free_[unit]; }

  void take(Trie::Node unit, Trie::Node parent) {
    units_[unit].parent = parent;
    free_[unit] = false;
    if (++taken_since_sweep_ == kBlockSize / 4) sweep();
  }

  void add_block() {
    const auto begin = static_cast<Trie::Node>(units_.size());
    units_.resize(begin + kBlockSize);
    free_.resize(begin + kBlockSize, true);
    sweep();
    for (Trie::Node unit = begin; unit < begin + kBlockSize; ++unit) open_.push_back(unit);
  }

  /// Forgets the units that are taken, and those of old blocks.
  void sweep() {
    taken_since_sweep_ = 0;
    const std::size_t oldest = units_.size() > kOpenBlocks * kBlockSize ? units_.size() - kOpenBlocks * kBlockSize : 0;
    const auto is_closed = [&](Trie::Node unit) { return !free_[unit] || unit < oldest; };
    open_.erase(std::remove_if(open_.begin(), open_.end(), is_closed), open_.end());
  }

  const Keys& keys_;
  std::vector<Trie::Unit>& units_;
  std::vector<bool> free_;
  std::vector<Trie::Node> open_;  ///< Units to try, oldest first; some may have been taken since the last sweep.
  std::vector<unsigned char> labels_;
  std::size_t taken_since_sweep_ = 0;
};

Trie::Trie(Keys keys) {
  if (keys.empty()) return;
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  TrieBuilder(keys, units_).build();
}

}  // namespace weir::tokenizers
