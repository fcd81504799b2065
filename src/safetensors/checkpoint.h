// The tensors of a model folder: one model.safetensors, or shards listed by model.safetensors.index.json; or what a
// reader of another form found. Immutable once opened, any thread; owns the mappings that its tensors point into.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "safetensors/safetensors.h"

namespace weir::safetensors {

class Checkpoint {
 public:
  /// model.safetensors if it is there, else the index's shards. kNotFound names both; kCorrupt when a shard lacks a
  /// tensor that the index places in it, holds one it does not, or lies outside the folder.
  static Result<Checkpoint> open(const std::string& folder);

  /// Tensors of another form's file, named relative to the folder. `owner` keeps alive what they point into.
  static Checkpoint of(std::shared_ptr<const void> owner, Tensors tensors, std::string file);

  /// Whether a folder has the files that open() reads.
  static bool is_in(const std::string& folder);

  /// Null when there is none of that name.
  const Tensor* find(std::string_view name) const;
  const Tensors& tensors() const { return tensors_; }

  /// The files that were read, relative to the folder, the index first.
  const std::vector<std::string>& files() const { return files_; }

 private:
  static Result<Checkpoint> open_sharded(const std::string& folder);

  std::vector<File> shards_;
  std::shared_ptr<const void> owner_;  ///< Of tensors that are in no shard.
  Tensors tensors_;
  std::vector<std::string> files_;
};

}  // namespace weir::safetensors
