// Which of a repository's files weir needs: weights once (safetensors, else ONNX, else PyTorch's), the configuration,
// the tokenizer. What other programs read (TensorFlow's and Flax's weights, other exports) stays on the hub. Pure
// functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::hub {

/// Those of `files` to download, in order of need: small ones first. Shards are in if their index is. kNotFound says
/// which kind of weights the repository has instead.
Result<std::vector<std::string>> choose_files(const std::vector<std::string>& files, const std::string& repository);

/// A path inside a repository that may become a file: relative, no part of it is empty, "." or "..".
bool is_safe_path(std::string_view path);

}  // namespace weir::hub
