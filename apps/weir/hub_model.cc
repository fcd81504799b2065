#include "apps/weir/hub_model.h"

#include <filesystem>
#include <system_error>

#include "apps/weir/hub_progress.h"
#include "bundle/bundle.h"
#include "importer/importer.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> default_bundles() {
  if (const auto cache = hub::process_variable("XDG_CACHE_HOME"); cache && !cache->empty())
    return *cache + "/weir/bundles";
  if (const auto home = hub::process_variable("HOME"); home && !home->empty()) return *home + "/.cache/weir/bundles";
  return Error(ErrorKind::kNotFound,
               "no folder for bundles: neither HOME nor XDG_CACHE_HOME is set; set --bundle-cache", "--bundle-cache");
}

Status import_to(const std::string& target, const std::string& text, const hub::Snapshot& snapshot,
                 const HubRequest& request) {
  importer::Options options;
  options.source = snapshot.folder;
  options.target = target;
  options.origin = hub_origin(text, snapshot);
  options.weir_version = WEIR_VERSION;
  options.cancelled = request.cancelled;
  // What is there was made by another version, or is damaged: it could not be loaded.
  options.replace = fs::exists(target + "/weir.json");
  WEIR_ASSIGN_OR_RETURN(const hub::Repository repository, hub::parse_repository(text));
  options.name = repository.name();
  const auto summary = importer::import_model(options);
  // Another process may have been first.
  if (summary.ok() || bundle::load(target).ok()) return {};
  return summary.error();
}

}  // namespace

bool names_hub_model(const std::string& text) {
  std::error_code code;
  return hub::looks_like_repository(text) && !fs::exists(fs::symlink_status(text, code));
}

std::string hub_origin(const std::string& text, const hub::Snapshot& snapshot) {
  return text.substr(0, text.find('@')) + "@" + snapshot.commit;
}

Result<hub::Snapshot> fetch_hub_model(const std::string& text, const HubRequest& request) {
  WEIR_ASSIGN_OR_RETURN(const hub::Repository repository, hub::parse_repository(text));
  hub::SnapshotOptions options;
  WEIR_ASSIGN_OR_RETURN(options.environment, hub::read_environment(hub::process_variable));
  HubProgress progress(request.command);
  options.client.http.cancelled = request.cancelled;
  options.client.http.certificates = options.environment.certificates;
  options.client.http.user_agent = "weir/" WEIR_VERSION;
  if (!request.quiet) {
    options.client.notice = [&progress](const std::string& notice) { progress.notice(notice); };
    options.progress = [&progress](const hub::Progress& state) { progress.update(state); };
  }
  Result<hub::Snapshot> snapshot = hub::fetch_snapshot(repository, options);
  if (!snapshot.ok() && snapshot.error().kind == ErrorKind::kNotFound) {
    return Error(ErrorKind::kNotFound, snapshot.error().message + "; there is no folder of that name either", text);
  }
  return snapshot;
}

Result<std::string> hub_bundle(const std::string& text, const std::string& bundles, const HubRequest& request) {
  std::string folder = bundles;
  if (folder.empty()) {
    WEIR_ASSIGN_OR_RETURN(folder, default_bundles());
  }
  WEIR_ASSIGN_OR_RETURN(const hub::Snapshot snapshot, fetch_hub_model(text, request));
  WEIR_ASSIGN_OR_RETURN(const hub::Repository repository, hub::parse_repository(text));
  std::string name = repository.id;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  const std::string target = folder + "/" + name + "@" + snapshot.commit.substr(0, 12);
  if (bundle::load(target).ok()) return target;
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return Error(ErrorKind::kIo, folder + ": " + code.message() + "; set --bundle-cache", "--bundle-cache");
  if (!request.quiet) HubProgress(request.command).notice("making a bundle of " + text + " in " + target);
  WEIR_RETURN_IF_ERROR(import_to(target, text, snapshot, request));
  return target;
}

Result<std::string> bundle_folder(const std::string& model, const std::string& bundles, const HubRequest& request) {
  if (!names_hub_model(model)) return model;
  return hub_bundle(model, bundles, request);
}

}  // namespace weir::cli
