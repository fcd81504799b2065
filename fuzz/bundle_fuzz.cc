// weir.json and golden.json from anywhere: any bytes give a value or an error, and a value survives being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bundle/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string json(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = weir::bundle::parse_manifest(json, "weir.json"); manifest.ok()) {
    const std::string written = weir::bundle::manifest_json(*manifest);
    const auto again = weir::bundle::parse_manifest(written, "weir.json");
    if (!again.ok() || weir::bundle::manifest_json(*again) != written) std::abort();
  }
  if (const auto golden = weir::bundle::parse_golden(json, "golden.json", 2); golden.ok()) {
    if (!weir::bundle::parse_golden(weir::bundle::golden_json(*golden), "golden.json", 2).ok()) std::abort();
  }
  return 0;
}
