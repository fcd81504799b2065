// A set of byte strings with a value each, walked byte by byte: which of them begin a text, and which is the longest.
//
// A double array: the child of node n under byte b is the unit base(n) ^ b, if that unit's parent is n. One step costs
// one memory access. Immutable once built; reading from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::tokenizers {

class Trie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = 0xFFFFFFFF;
  static constexpr std::int32_t kNoValue = -1;

  Trie() = default;
  /// Values are not negative. Of equal keys the last counts.
  explicit Trie(std::vector<std::pair<std::string_view, std::int32_t>> keys);

  bool empty() const { return units_.empty(); }

  /// The node one byte further, or kNone.
  Node step(Node node, char byte) const {
    const Node next = units_[node].base ^ static_cast<unsigned char>(byte);
    return units_[next].parent == node ? next : kNone;
  }
  /// The value of the key that ends at `node`, or kNoValue.
  std::int32_t value(Node node) const { return units_[node].value; }

  /// The node of `key`, or kNone when no key begins with it.
  Node find(std::string_view key) const {
    if (empty()) return kNone;
    Node node = kRoot;
    for (const char byte : key) {
      node = step(node, byte);
      if (node == kNone) break;
    }
    return node;
  }

 private:
  friend class TrieBuilder;
  struct Unit {
    Node base = 0;
    Node parent = kNone;
    std::int32_t value = kNoValue;
  };
  std::vector<Unit> units_;
};

}  // namespace weir::tokenizers
