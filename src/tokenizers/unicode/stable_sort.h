// Runs of combining marks in the order of their classes. std::stable_sort takes memory each time, and accented text has
// a run for nearly every word.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::tokenizers::unicode {

/// std::stable_sort, without an allocation for the short ranges that occur.
template <class Iterator, class Less>
void stable_sort_short(Iterator begin, Iterator end, Less less) {
  constexpr std::ptrdiff_t kShort = 32;
  if (end - begin > kShort) return std::stable_sort(begin, end, less);
  for (Iterator at = begin; at != end; ++at) {
    const auto value = *at;
    Iterator place = at;
    for (; place != begin && less(value, *std::prev(place)); --place) *place = *std::prev(place);
    *place = value;
  }
}

}  // namespace weir::tokenizers::unicode
