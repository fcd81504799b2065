#include "importer/conversion.h"

namespace weir::importer {

void apply_layout(const huggingface::Layout& layout, bundle::Manifest& manifest) {
  manifest.max_tokens = layout.max_tokens;
  manifest.pooling = layout.pooling;
  manifest.normalize = layout.normalize;
  manifest.prompts = layout.prompts;
  manifest.default_prompt = layout.default_prompt;
}

Result<std::string> find_tokenizer(const std::vector<std::string>& folders, const std::string& transformer_path) {
  const std::string name = transformer_path.empty() ? "tokenizer.json" : transformer_path + "/tokenizer.json";
  if (auto path = huggingface::find_file(folders, name)) return *path;
  const std::string path = folders.front() + "/" + name;
  return Error(ErrorKind::kNotFound,
               path +
                   ": missing; weir reads this form of a tokenizer only (transformers' save_pretrained() of a fast "
                   "tokenizer writes it)",
               path);
}

}  // namespace weir::importer
