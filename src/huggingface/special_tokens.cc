#include "huggingface/special_tokens.h"

#include "huggingface/json_object.h"
#include "huggingface/layout.h"

namespace weir::huggingface {
namespace {

/// A string, or an object with one.
Result<std::optional<std::string>> token_text(const JsonObject& object, const std::string& key) {
  if (const auto text = object.text(key); text.ok()) return text;
  WEIR_ASSIGN_OR_RETURN(const auto token, object.object(key));
  if (!token) return std::optional<std::string>();
  return token->text("content");
}

}  // namespace

Result<std::optional<std::string>> read_special_token(const std::vector<std::string>& folders, const std::string& path,
                                                      const std::string& key) {
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    const auto file = find_file(folders, path.empty() ? name : path + "/" + name);
    if (!file) continue;
    WEIR_ASSIGN_OR_RETURN(const JsonObject object, JsonObject::read(*file));
    WEIR_ASSIGN_OR_RETURN(const auto text, token_text(object, key));
    if (text) return text;
  }
  return std::optional<std::string>();
}

}  // namespace weir::huggingface
