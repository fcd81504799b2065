// From the settings and the machine to the options of the pipeline and the HTTP server: what `weir serve` starts. Pure
// functions but for the file of API keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "base/result.h"
#include "base/sizing.h"
#include "serve/pipeline/pipeline.h"
#include "serve/server/server.h"
#include "settings/serve_settings.h"

namespace weir::cli {

struct ServeOptions {
  serve::PipelineOptions pipeline;
  serve::server::ServerOptions server;
  std::vector<std::string> warnings;  ///< For the log.
};

/// From the words of --long-text, --chunk-overlap and --chunk-pooling, which have been checked.
serve::LongTextRule long_text_rule(std::string_view what, std::int64_t overlap_tokens, std::string_view pooling);

SizingRequest sizing_request(const settings::ServeSettings& settings);

/// kInvalidArgument: no model, or one that is not written as it must be. Errors of read_api_keys().
Result<ServeOptions> serve_options(const settings::ServeSettings& settings, const Sizing& sizing,
                                   const std::string& version);

/// "FOLDER" or "NAME=FOLDER". An equals sign after a slash belongs to the folder.
Result<serve::ModelSource> parse_model(std::string_view text);

/// A key per line; empty lines are skipped. kNotFound, kIo, kInvalidArgument (no key in it, or one with bytes that no
/// header may hold). Messages never hold keys.
Result<std::vector<std::string>> read_api_keys(const std::string& path);

/// True for addresses that only this machine reaches.
bool is_loopback(std::string_view address);

/// "http://127.0.0.1:8080", "http://[::1]:8080".
std::string url_of(std::string_view address, unsigned port);

}  // namespace weir::cli
