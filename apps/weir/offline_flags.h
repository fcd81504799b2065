// The flags that every command has which computes the texts of files: the model, the texts, the instances.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bulk/records.h"

namespace CLI {
class App;
}

namespace weir::cli {

struct OfflineFlags {
  std::string model;  ///< As the user named it, then the bundle's folder.
  std::string bundle_cache;
  std::vector<std::string> files;
  std::string input_format;
  std::string field = "text";
  int instances = 0;
  int threads = 0;

  /// How the files are read.
  bulk::RecordOptions record_options() const;
};

/// --model, --bundle-cache, FILE, --input-format, --field. `flags` outlives `app`.
void define_text_flags(CLI::App& app, OfflineFlags& flags);

/// Replaces a model of the hub in `flags.model` by a bundle on this machine. `command` begins the lines on standard
/// error; `cancelled` is asked a few times a second.
Status find_bundle(OfflineFlags& flags, const std::string& command, const std::function<bool()>& cancelled);

/// --instances, --threads. `flags` outlives `app`.
void define_instance_flags(CLI::App& app, OfflineFlags& flags);

}  // namespace weir::cli
