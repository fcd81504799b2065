// How much scratch a linear layer needs.
#pragma once

#include "kernels/matmul/blocking.h"
#include "kernels/matmul/matmul.h"

namespace weir::kernels {

/// Floats that a variant's `run` needs: a block of rows and the bounds of each.
template <class Args>
std::size_t matmul_scratch_floats(const Args& args) {
  return kMostScratchRows * (args.weights.padded_channels() + 2 * kPanelChannels);
}

}  // namespace weir::kernels
