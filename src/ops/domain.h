// The operators of the domain "weir", version 1, on packed tokens: what docs/operators.md describes. Loaded by our
// sessions as part of the program, and by any other ONNX Runtime from libweir_ops.so (register_custom_ops.cc).
//
// An operator is a thin shell: it checks shapes, attributes and values, and calls kernels. Nothing that a graph or its
// inputs hold may crash it; errors name node and input. Its threads are ONNX Runtime's. Results are the same bits for
// any number of threads and any texts beside a text.
#pragma once

struct OrtCustomOpDomain;

namespace weir::ops {

inline constexpr const char* kDomainName = "weir";

/// The domain for sessions of `threads` intra-op threads (into how many parts an operator divides its work; 0: as many
/// as the machine has). Lives until the process ends; any thread. ONNX Runtime's API has been initialized.
OrtCustomOpDomain* domain(int threads);

}  // namespace weir::ops
