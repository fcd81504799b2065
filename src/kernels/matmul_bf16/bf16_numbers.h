// What matmul/matmul_generic.h must know of bf16 layers. Internal linkage: each ISA file includes it.
#pragma once

#include "kernels/matmul_bf16/matmul_bf16.h"

namespace weir::kernels {
namespace {
using MatmulArgs = MatmulBf16;
}  // namespace
}  // namespace weir::kernels

#include "kernels/matmul/plain_numbers.h"
