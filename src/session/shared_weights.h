// Internal: the weights that sessions of one model share.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/huge_memory.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "session/runtime.h"
#include "session/session.h"

namespace weir::session {

struct SharedWeights::Impl {
  std::mutex mutex;  ///< Held while a session is made: the first one packs for all.
  bool huge_pages = false;
  std::string model_path;
  std::map<std::string, MappedFile> files;  ///< By path.
  HugeMemory copies;                        ///< Of the packed weights, with huge_pages.
  std::vector<std::string> names;           ///< Of initializers kept outside of the graph …
  std::vector<Ort::Value> values;           ///< … and views of their bytes in `files` or `copies`.
  OrtPrepackedWeightsContainer* packed = nullptr;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// Reads the graph of `path` and maps its external initializers, the first time. `mutex` is held.
  Status prepare(const std::string& path);
  /// Gives the mapping's pages back after ONNX Runtime has packed them; what is read later comes from the page cache.
  void release_pages() const;
};

}  // namespace weir::session
