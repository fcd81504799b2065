// How much scratch a linear layer needs.
#pragma once

#include "kernels/matmul/blocking.h"
#include "kernels/matmul/matmul.h"

namespace weir::kernels {

/// Floats that a variant's `run` needs: a block of rows and the largest magnitudes in each.
template <class Args>
std::size_t matmul_scratch_floats(const Args& args) {
  return kMaximumBlockRows * (args.weights.padded_channels() + kPanelChannels);
}

}  // namespace weir::kernels
