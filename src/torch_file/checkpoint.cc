#include "torch_file/checkpoint.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "torch_file/torch_file.h"

namespace weir::torch_file {

Result<safetensors::Checkpoint> open_checkpoint(const std::string& folder) {
  using safetensors::Checkpoint;
  const std::string path = folder + "/" + kModelFile;
  std::error_code code;
  if (Checkpoint::is_in(folder) || !std::filesystem::exists(path, code)) return Checkpoint::open(folder);
  WEIR_ASSIGN_OR_RETURN(File opened, File::open(path));
  const auto file = std::make_shared<const File>(std::move(opened));
  return Checkpoint::of(file, file->tensors(), kModelFile);
}

}  // namespace weir::torch_file
