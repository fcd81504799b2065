// The flags that every command has which computes the texts of files: the model, the texts, the instances.
#pragma once

#include <string>
#include <vector>

#include "bulk/records.h"

namespace CLI {
class App;
}

namespace weir::cli {

struct OfflineFlags {
  std::string model;
  std::vector<std::string> files;
  std::string input_format;
  std::string field = "text";
  int instances = 0;
  int threads = 0;

  /// How the files are read.
  bulk::RecordOptions record_options() const;
};

/// --model, FILE, --input-format, --field. `flags` outlives `app`.
void define_text_flags(CLI::App& app, OfflineFlags& flags);

/// --instances, --threads. `flags` outlives `app`.
void define_instance_flags(CLI::App& app, OfflineFlags& flags);

}  // namespace weir::cli
