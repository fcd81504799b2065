#include "hub/model_files.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace weir::hub {
namespace {

constexpr std::size_t kLongestPath = 512;

/// In the repository's root, or in a folder of a module such as 0_Transformer, 1_Pooling or 2_Dense.
constexpr std::array<std::string_view, 16> kSmallFiles = {
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "modules.json",
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_albert_config.json",
    "sentence_mpnet_config.json",
    "config_sentence_transformers.json",
    "model.safetensors.index.json",
    "sparse_linear.pt",
    "colbert_linear.pt",
    "artifact.metadata",
};

bool contains(const std::vector<std::string>& files, std::string_view name) {
  return std::find(files.begin(), files.end(), name) != files.end();
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// "" for the root, "1_Pooling" for that folder; other folders hold exports and checkpoints.
bool is_model_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return true;
  const std::string_view folder = path.substr(0, slash);
  const std::size_t digits = folder.find_first_not_of("0123456789");
  return path.find('/', slash + 1) == std::string_view::npos && digits != 0 && digits != std::string_view::npos &&
         folder[digits] == '_';
}

bool is_small(std::string_view path) {
  return is_model_folder(path) &&
         std::find(kSmallFiles.begin(), kSmallFiles.end(), file_name(path)) != kSmallFiles.end();
}

/// model.safetensors, or a shard of it: model-00001-of-00002.safetensors.
bool is_safetensors(std::string_view path) {
  const std::string_view name = file_name(path);
  return is_model_folder(path) &&
         (name == "model.safetensors" || (name.starts_with("model-") && name.ends_with(".safetensors") &&
                                          name.find("-of-") != std::string_view::npos));
}

/// pytorch_model.bin; shards of that form are not read.
bool is_torch_file(std::string_view path) { return is_model_folder(path) && file_name(path) == "pytorch_model.bin"; }

/// Those of modules such as 2_Dense that have nothing else.
void add_torch_files_of_modules(const std::vector<std::string>& files, std::vector<std::string>& weights) {
  for (const std::string& file : files) {
    const std::size_t slash = file.find('/');
    if (slash == std::string::npos || !is_safe_path(file) || !is_torch_file(file)) continue;
    const std::string folder = file.substr(0, slash);
    const bool is_dense = folder.ends_with("_Dense");
    if (is_dense && !contains(weights, folder + "/model.safetensors")) weights.push_back(file);
  }
}

/// The one that Optimum exports by default, and its external data.
std::vector<std::string> onnx_files(const std::vector<std::string>& files) {
  for (const std::string_view name : {"onnx/model.onnx", "model.onnx"}) {
    if (!contains(files, name)) continue;
    std::vector<std::string> chosen = {std::string(name)};
    for (const char* suffix : {"_data", ".data"}) {
      if (contains(files, std::string(name) + suffix)) chosen.push_back(std::string(name) + suffix);
    }
    return chosen;
  }
  return {};
}

Error no_weights(const std::vector<std::string>& files, const std::string& repository) {
  std::string others;
  for (const char* name : {"pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack"}) {
    if (contains(files, name)) others += (others.empty() ? "" : ", ") + std::string(name);
  }
  return {
      ErrorKind::kNotFound,
      repository + ": neither model.safetensors, nor an ONNX model, nor pytorch_model.bin in the repository" +
          (others.empty() ? "" : " (only " + others + "); convert it to safetensors, or take a revision that has it")};
}

}  // namespace

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath || path.find('\0') != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\\') != std::string_view::npos) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
  return false;  // A slash at the end.
}

Result<std::vector<std::string>> choose_files(const std::vector<std::string>& files, const std::string& repository) {
  std::vector<std::string> chosen;
  std::vector<std::string> weights;
  for (const std::string& file : files) {
    if (!is_safe_path(file)) continue;
    if (is_small(file)) chosen.push_back(file);
    if (is_safetensors(file)) weights.push_back(file);
  }
  const bool is_whole = contains(weights, "model.safetensors");
  if (is_whole) {
    std::erase_if(weights, [](const std::string& file) { return file.find("-of-") != std::string::npos; });
    std::erase(chosen, "model.safetensors.index.json");
  }
  add_torch_files_of_modules(files, weights);
  // A module's own weights (2_Dense) are none of the model's.
  const auto is_models = [](const std::string& file) {
    return file.find('/') == std::string::npos || file.find("Transformer") != std::string::npos;
  };
  if (std::none_of(weights.begin(), weights.end(), is_models)) {
    std::vector<std::string> others = onnx_files(files);
    if (others.empty()) {
      std::copy_if(files.begin(), files.end(), std::back_inserter(others), [&](const std::string& file) {
        return is_safe_path(file) && is_torch_file(file) && is_models(file);
      });
    }
    if (others.empty()) return no_weights(files, repository);
    weights.insert(weights.end(), others.begin(), others.end());
  }
  std::sort(chosen.begin(), chosen.end());
  std::sort(weights.begin(), weights.end());
  chosen.insert(chosen.end(), weights.begin(), weights.end());
  return chosen;
}

}  // namespace weir::hub
