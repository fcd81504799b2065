// The JSON of a bundle, apart from its folder: what load() and write_*() do to the bytes. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"

namespace weir::bundle {

inline constexpr std::size_t kManifestLimitBytes = 4 << 20;
inline constexpr std::size_t kGoldenLimitBytes = 64 << 20;
inline constexpr std::size_t kMaxGoldenTexts = 1000;
inline constexpr std::uint32_t kMaxDimensions = 1 << 18;
inline constexpr std::uint32_t kMaxTokens = 1 << 20;
inline constexpr std::uint32_t kMaxVocabulary = (1U << 31) - 1;

/// `file` is used in messages. kCorrupt, kUnsupported.
Result<Manifest> parse_manifest(const std::string& json, const std::string& file);
/// Every vector must have `dimensions` numbers.
Result<std::vector<Golden>> parse_golden(const std::string& json, const std::string& file, std::uint32_t dimensions);

/// What no single field can tell: that they agree. Also used before writing. kCorrupt, kUnsupported.
Status check_manifest(const Manifest& manifest, const std::string& file);
/// Not empty, all vectors of one length and finite.
Status check_golden(const std::vector<Golden>& golden, const std::string& file);

/// Whether a model of this task gives scores, of pairs or labels.
bool gives_scores(Task task);

/// Indented, fields in the order of docs/formats/bundle.md, the same bytes for the same value.
std::string manifest_json(const Manifest& manifest);
/// A vector a line; numbers are the shortest that read back as the same float.
std::string golden_json(const std::vector<Golden>& golden);

std::string_view output_kind_name(Output output);
std::optional<Output> output_kind_from_name(std::string_view name);

}  // namespace weir::bundle
