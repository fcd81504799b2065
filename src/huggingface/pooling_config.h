// A Pooling module's config.json, in its old form (a boolean per mode) and its new one (`pooling_mode`).
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "bundle/bundle.h"
#include "huggingface/json_object.h"

namespace weir::huggingface {

struct PoolingConfig {
  bundle::Pooling pooling = bundle::Pooling::kMean;
  std::optional<std::uint32_t> dimensions;
};

/// kUnsupported for modes that weir has not, combinations of modes and `include_prompt: false`, by name.
Result<PoolingConfig> read_pooling_config(const JsonObject& config);

}  // namespace weir::huggingface
