#include "tokenizers/text/pieces.h"

#include <algorithm>

namespace weir::tokenizers {

std::optional<SplitBehavior> split_behavior_from_name(std::string_view name) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return std::nullopt;
}

void Pieces::end_stretches(const Piece& piece, bool invert) {
  if (piece.end > covered_) stretches_.push_back({covered_, piece.end, false});
  if (invert) {
    for (Stretch& stretch : stretches_) stretch.is_delimiter = !stretch.is_delimiter;
  }
}

void Pieces::emit(SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      for (const Stretch& stretch : stretches_) {
        if (!stretch.is_delimiter) push(stretch.begin, stretch.end);
      }
      return;
    case SplitBehavior::kIsolated:
      for (const Stretch& stretch : stretches_) push(stretch.begin, stretch.end);
      return;
    default:
      emit_merged(behavior);
  }
}

/// The three behaviors that join neighbours. As in the library, a stretch joins the one before it (seen from the side
/// the scan comes from) by what that one is, whatever it has itself been joined to.
void Pieces::emit_merged(SplitBehavior behavior) {
  const bool backwards = behavior == SplitBehavior::kMergedWithNext;
  if (backwards) std::reverse(stretches_.begin(), stretches_.end());
  const std::size_t first = next_.size();
  bool previous_is_delimiter = false;
  for (const Stretch& stretch : stretches_) {
    const bool joins = behavior == SplitBehavior::kContiguous ? stretch.is_delimiter == previous_is_delimiter
                                                              : stretch.is_delimiter && !previous_is_delimiter;
    if (joins && next_.size() > first) {
      if (backwards) {
        next_.back().begin = stretch.begin;
      } else {
        next_.back().end = stretch.end;
      }
    } else {
      next_.push_back({stretch.begin, stretch.end});
    }
    previous_is_delimiter = stretch.is_delimiter;
  }
  if (backwards) std::reverse(next_.begin() + static_cast<std::ptrdiff_t>(first), next_.end());
  const auto is_empty = [](const Piece& piece) { return piece.begin == piece.end; };
  next_.erase(std::remove_if(next_.begin() + static_cast<std::ptrdiff_t>(first), next_.end(), is_empty), next_.end());
}

}  // namespace weir::tokenizers
