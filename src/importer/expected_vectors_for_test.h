// Compares a bundle with vectors that another program computed.
#pragma once

#include <string>

#include "bundle/bundle.h"

namespace weir::importer {

/// The largest difference of any number, over all texts of `expected_path` (an array of {text, vector}); each text is
/// computed alone and in one padded batch of all. A failure to compute gives infinity and a test failure.
double largest_difference(const bundle::Bundle& bundle, const std::string& expected_path);

}  // namespace weir::importer
