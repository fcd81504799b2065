#include "apps/weir/offline_flags.h"

#include <CLI/CLI.hpp>

#include "apps/weir/hub_model.h"

namespace weir::cli {

bulk::RecordOptions OfflineFlags::record_options() const {
  bulk::RecordOptions records;
  records.field = field;
  if (!input_format.empty()) records.format = bulk::input_format_from_name(input_format);
  return records;
}

void define_text_flags(CLI::App& app, OfflineFlags& flags) {
  app.add_option("--model", flags.model, "A bundle's folder, or a model of the hub: org/name[@revision]")->required();
  app.add_option(
      "--bundle-cache", flags.bundle_cache,
      "The folder for bundles made of models of the hub; not given: weir/bundles in XDG_CACHE_HOME or ~/.cache");
  app.add_option("FILE", flags.files, "Texts; - or none reads standard input");
  app.add_option("--input-format", flags.input_format,
                 "txt (a text a line), jsonl or csv (with a header); by the files' names if not given")
      ->check(CLI::IsMember({"txt", "jsonl", "csv"}));
  app.add_option("--field", flags.field, "Which field of a JSON object or column of a CSV file is the text")
      ->capture_default_str();
}

Status find_bundle(OfflineFlags& flags, const std::string& command, const std::function<bool()>& cancelled) {
  WEIR_ASSIGN_OR_RETURN(flags.model, bundle_folder(flags.model, flags.bundle_cache, {command, false, cancelled}));
  return {};
}

void define_instance_flags(CLI::App& app, OfflineFlags& flags) {
  app.add_option("--instances", flags.instances, "Model instances; 0: one per core")->check(CLI::NonNegativeNumber);
  app.add_option("--threads", flags.threads, "Threads per instance; 0: 1, or cores / instances")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace weir::cli
