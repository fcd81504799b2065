#include "importer/source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "safetensors/checkpoint.h"
#include "torch_file/checkpoint.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

bool holds_safetensors(const fs::path& folder) { return safetensors::Checkpoint::is_in(folder.string()); }

bool holds_torch_file(const fs::path& folder) {
  std::error_code code;
  return fs::exists(folder / torch_file::kModelFile, code);
}

/// Old sentence-transformers folders keep the transformer in a folder of its own.
bool holds_checkpoint(const fs::path& folder, bool (*holds_weights)(const fs::path&)) {
  if (holds_weights(folder)) return true;
  std::error_code code;
  if (!fs::exists(folder / "modules.json", code)) return false;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.is_directory(code) && holds_weights(entry.path())) return true;
  }
  return false;
}

std::vector<fs::path> onnx_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (const fs::path& place : {folder, folder / "onnx"}) {
    for (const auto& entry : fs::directory_iterator(place, code)) {
      if (entry.path().extension() == ".onnx") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Source onnx_source(const fs::path& file) {
  Source source;
  source.kind = Source::Kind::kOnnx;
  source.onnx_path = file.string();
  std::error_code code;
  const fs::path folder = fs::absolute(file, code).lexically_normal().parent_path();
  // Exports lie beside the model's other files or in a folder `onnx` below them.
  source.folders = {folder.string(), folder.parent_path().string()};
  source.root = fs::exists(folder / "tokenizer.json", code) ? folder.string() : folder.parent_path().string();
  return source;
}

}  // namespace

Result<Source> find_source(const std::string& path) {
  std::error_code code;
  if (!fs::exists(path, code)) return Error(ErrorKind::kNotFound, path + ": no such file or folder", path);
  if (!fs::is_directory(path, code)) {
    if (fs::path(path).extension() == ".onnx") return onnx_source(path);
    return Error(ErrorKind::kInvalidArgument, path + ": neither a model folder nor an .onnx file", path);
  }
  Source checkpoint;
  checkpoint.root = path;
  checkpoint.folders = {path};
  if (holds_checkpoint(path, holds_safetensors)) return checkpoint;
  const std::vector<fs::path> files = onnx_files(path);
  if (files.size() == 1) return onnx_source(files.front());
  if (holds_checkpoint(path, holds_torch_file)) return checkpoint;
  if (files.empty()) {
    return Error(ErrorKind::kNotFound,
                 path +
                     ": no model in it: neither model.safetensors, nor model.safetensors.index.json, nor "
                     "pytorch_model.bin, nor an .onnx file",
                 path);
  }
  std::string list;
  for (const fs::path& file : files) list += (list.empty() ? "" : ", ") + file.filename().string();
  return Error(ErrorKind::kInvalidArgument, path + ": several ONNX files (" + list + "); name the one to import", path);
}

}  // namespace weir::importer
