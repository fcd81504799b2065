// A configuration file and a control group's CPU list from anywhere: any bytes give values or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/cgroup.h"
#include "settings/serve_settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  const weir::settings::Table table = weir::settings::serve_table();
  if (const auto given = weir::settings::read_toml(table, content, "weir.toml"); given.ok()) {
    for (const auto& entry : *given) {
      for (const auto& text : entry.texts) {
        const auto value = weir::settings::parse_value(entry.setting->domain, text);
        if (!value.ok()) continue;
        const auto again = weir::settings::parse_value(entry.setting->domain, weir::settings::format_value(*value));
        if (!again.ok() || *again != *value) std::abort();
      }
    }
  }
  if (const auto cpus = weir::parse_cpu_list(content)) {
    if (weir::parse_cpu_list(weir::format_cpu_list(*cpus)) != *cpus) std::abort();
  }
  return 0;
}
