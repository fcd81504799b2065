// Models named as on the hub, "org/name[@revision]", where a command takes a folder. One thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "hub/snapshot.h"

namespace weir::cli {

/// Whether `text` means a model of the hub: it looks like one, and no file or folder has that name.
bool names_hub_model(const std::string& text);

struct HubRequest {
  std::string command;              ///< Begins the lines on standard error.
  bool quiet = false;               ///< No such lines.
  std::function<bool()> cancelled;  ///< Asked a few times a second.
};

/// The model's files on this machine, fetched as the environment says (src/hub/environment.h).
Result<hub::Snapshot> fetch_hub_model(const std::string& text, const HubRequest& request);

/// "org/name@commit": where a bundle's files came from.
std::string hub_origin(const std::string& text, const hub::Snapshot& snapshot);

/// The folder of a bundle of the model, made by an import with its defaults unless `bundles` has it already; an empty
/// `bundles` is the user's cache, ~/.cache/weir/bundles. Fails as fetching and importing do.
Result<std::string> hub_bundle(const std::string& text, const std::string& bundles, const HubRequest& request);

/// The folder of the bundle that `model` means: a model of the hub as by hub_bundle(), else `model` itself.
Result<std::string> bundle_folder(const std::string& model, const std::string& bundles, const HubRequest& request);

}  // namespace weir::cli
