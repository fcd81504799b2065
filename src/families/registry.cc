#include <array>
#include <string>

#include "families/bert.h"
#include "families/family.h"

namespace weir::families {
namespace {

using ReadConfig = Result<std::unique_ptr<Architecture>> (*)(const huggingface::JsonObject&);

struct Family {
  std::string_view model_type;  ///< As config.json names it.
  ReadConfig read;
};

constexpr std::array<Family, 1> kFamilies = {{
    {"bert", read_bert},
}};

}  // namespace

Result<std::unique_ptr<Architecture>> read_architecture(const huggingface::JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto model_type, config.text("model_type"));
  if (!model_type) return config.error("model_type", "missing");
  std::string known;
  for (const Family& family : kFamilies) {
    if (family.model_type == *model_type) return family.read(config);
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  return config.error("model_type", "'" + *model_type + "' is not supported; weir knows: " + known,
                      ErrorKind::kUnsupported);
}

}  // namespace weir::families
