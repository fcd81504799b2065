#include "huggingface/pooling_config.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace weir::huggingface {
namespace {

constexpr std::uint32_t kMaxDimensions = 1u << 20;

struct Mode {
  std::string_view old_key;
  std::string_view name;
  bundle::Pooling pooling;
};

constexpr std::array<Mode, 6> kModes = {{
    {"pooling_mode_cls_token", "cls", bundle::Pooling::kCls},
    {"pooling_mode_max_tokens", "max", bundle::Pooling::kMax},
    {"pooling_mode_mean_tokens", "mean", bundle::Pooling::kMean},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", bundle::Pooling::kMeanSqrtLength},
    {"pooling_mode_weightedmean_tokens", "weightedmean", bundle::Pooling::kWeightedMean},
    {"pooling_mode_lasttoken", "lasttoken", bundle::Pooling::kLast},
}};

/// The names of the modes that are on.
Result<std::vector<std::string>> active_modes(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto named, config.texts("pooling_mode"));
  if (named) return *named;
  std::vector<std::string> modes;
  for (const Mode& mode : kModes) {
    WEIR_ASSIGN_OR_RETURN(const auto on, config.boolean(mode.old_key));
    if (on.value_or(false)) modes.emplace_back(mode.name);
  }
  return modes;
}

Result<bundle::Pooling> pooling_of(const JsonObject& config, const std::vector<std::string>& modes) {
  if (modes.empty()) return config.error("pooling_mode", "no mode is on; give --pooling");
  if (modes.size() > 1) {
    std::string list;
    for (const std::string& mode : modes) list += (list.empty() ? "" : " + ") + mode;
    return config.error("pooling_mode", "the combination " + list + " is not supported; weir pools by one mode",
                        ErrorKind::kUnsupported);
  }
  for (const Mode& mode : kModes) {
    if (mode.name == modes.front()) return mode.pooling;
  }
  return config.error(
      "pooling_mode",
      "'" + modes.front() +
          "' is not supported; weir has mean, cls, max, lasttoken, mean_sqrt_len_tokens and weightedmean",
      ErrorKind::kUnsupported);
}

}  // namespace

Result<PoolingConfig> read_pooling_config(const JsonObject& config) {
  PoolingConfig result;
  WEIR_ASSIGN_OR_RETURN(const auto modes, active_modes(config));
  WEIR_ASSIGN_OR_RETURN(result.pooling, pooling_of(config, modes));
  WEIR_ASSIGN_OR_RETURN(const auto include_prompt, config.boolean("include_prompt"));
  if (!include_prompt.value_or(true)) {
    return config.error("include_prompt", "false is not supported: weir pools over the prompt's tokens too",
                        ErrorKind::kUnsupported);
  }
  WEIR_ASSIGN_OR_RETURN(result.dimensions, config.count("embedding_dimension", kMaxDimensions));
  if (!result.dimensions) {
    WEIR_ASSIGN_OR_RETURN(result.dimensions, config.count("word_embedding_dimension", kMaxDimensions));
  }
  return result;
}

}  // namespace weir::huggingface
