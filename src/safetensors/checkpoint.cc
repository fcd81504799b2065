#include "safetensors/checkpoint.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <simdjson.h>

#include "base/file.h"

namespace weir::safetensors {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr std::size_t kMaxShards = 4096;

/// Shard → the tensors that the index places in it.
using Placement = std::map<std::string, std::set<std::string>>;

Error corrupt(const std::string& file, const std::string& what) {
  return {ErrorKind::kCorrupt, file + ": " + what, file};
}

/// A shard stands beside its index; anything else is a path that leads out of the model's folder.
bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

Result<Placement> read_index(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxHeaderBytes));
  dom::parser parser;
  if (const auto code = parser.allocate(text.size() + 1, 8)) return corrupt(path, simdjson::error_message(code));
  dom::element root;
  if (const auto code = parser.parse(text).get(root)) {
    return corrupt(path, std::string("not valid JSON: ") + simdjson::error_message(code));
  }
  dom::object weight_map;
  if (root.at_key("weight_map").get(weight_map)) return corrupt(path, "field 'weight_map' is missing or not an object");
  Placement placement;
  std::set<std::string_view> seen;
  for (const auto field : weight_map) {
    const std::string tensor(field.key.substr(0, 200));
    std::string_view shard;
    if (field.value.get(shard)) return corrupt(path, "weight_map: '" + tensor + "' has no file name");
    if (!is_plain_file_name(shard)) {
      return corrupt(path, "weight_map: '" + tensor + "' lies in '" + std::string(shard.substr(0, 200)) +
                               "'; a shard must be a file in the index's own folder");
    }
    if (!seen.insert(field.key).second) return corrupt(path, "weight_map: '" + tensor + "' stands there twice");
    placement[std::string(shard)].emplace(field.key);
    if (seen.size() > kMaxTensors || placement.size() > kMaxShards) {
      return corrupt(path, "weight_map: too many entries");
    }
  }
  if (placement.empty()) return corrupt(path, "weight_map is empty");
  return placement;
}

Status check_shard(const std::string& path, const Tensors& found, const std::set<std::string>& placed) {
  for (const std::string& name : placed) {
    if (found.contains(name)) continue;
    return corrupt(path, "tensor '" + name + "' is missing, though " + kIndexFile + " places it here");
  }
  for (const auto& [name, tensor] : found) {
    if (placed.contains(name)) continue;
    return corrupt(path, "tensor '" + name + "' is here, though " + kIndexFile + " does not place it here");
  }
  return {};
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& folder) {
  const std::string path = folder + "/" + kSingleFile;
  std::error_code code;
  if (fs::exists(path, code)) {
    Checkpoint checkpoint;
    WEIR_ASSIGN_OR_RETURN(File file, File::open(path));
    checkpoint.tensors_ = file.tensors();
    checkpoint.shards_.push_back(std::move(file));
    checkpoint.files_ = {kSingleFile};
    return checkpoint;
  }
  if (fs::exists(folder + "/" + kIndexFile, code)) return open_sharded(folder);
  return Error(ErrorKind::kNotFound,
               folder + ": no " + kSingleFile + " and no " + kIndexFile +
                   "; weights in another form have to be saved as safetensors first",
               folder);
}

Checkpoint Checkpoint::of(std::shared_ptr<const void> owner, Tensors tensors, std::string file) {
  Checkpoint checkpoint;
  checkpoint.owner_ = std::move(owner);
  checkpoint.tensors_ = std::move(tensors);
  checkpoint.files_ = {std::move(file)};
  return checkpoint;
}

bool Checkpoint::is_in(const std::string& folder) {
  std::error_code code;
  return fs::exists(folder + "/" + kSingleFile, code) || fs::exists(folder + "/" + kIndexFile, code);
}

Result<Checkpoint> Checkpoint::open_sharded(const std::string& folder) {
  WEIR_ASSIGN_OR_RETURN(const Placement placement, read_index(folder + "/" + kIndexFile));
  Checkpoint checkpoint;
  checkpoint.files_.emplace_back(kIndexFile);
  for (const auto& [shard, placed] : placement) {
    const std::string path = folder + "/" + shard;
    auto file = File::open(path);
    if (!file.ok() && file.error().kind == ErrorKind::kNotFound) {
      return Error(ErrorKind::kNotFound, path + ": missing, though " + kIndexFile + " names it", path);
    }
    if (!file.ok()) return std::move(file).error();
    WEIR_RETURN_IF_ERROR(check_shard(path, file->tensors(), placed));
    checkpoint.tensors_.insert(file->tensors().begin(), file->tensors().end());
    checkpoint.shards_.push_back(std::move(*file));
    checkpoint.files_.push_back(shard);
  }
  return checkpoint;
}

const Tensor* Checkpoint::find(std::string_view name) const {
  const auto position = tensors_.find(name);
  return position == tensors_.end() ? nullptr : &position->second;
}

}  // namespace weir::safetensors
