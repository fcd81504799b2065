// Compares a bundle with vectors that another program computed.
#pragma once

#include <string>

#include "bundle/bundle.h"

namespace weir::importer {

/// How far a bundle's vectors are from the expected ones.
struct Distance {
  double largest_difference = 0;  ///< Of any number.
  double least_cosine = 1;        ///< Of any vector.
};

/// Over all texts of `expected_path` (an array of {text, vector}); each text is computed alone and in one batch of all.
/// A failure to compute is a test failure, and infinitely far.
Distance distance(const bundle::Bundle& bundle, const std::string& expected_path);

inline double largest_difference(const bundle::Bundle& bundle, const std::string& expected_path) {
  return distance(bundle, expected_path).largest_difference;
}

}  // namespace weir::importer
