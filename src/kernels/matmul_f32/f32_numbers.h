// What matmul/matmul_generic.h must know of fp32 layers. Internal linkage: each ISA file includes it.
#pragma once

#include "kernels/matmul_f32/matmul_f32.h"

namespace weir::kernels {
namespace {
using MatmulArgs = MatmulF32;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/plain_numbers.h"
