// The routes of the HTTP server, one row each. Constant data.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "serve/respond/error_table.h"

namespace weir::serve::server {

enum class Action {
  kOpenAiEmbeddings,
  kOpenAiModels,
  kOpenAiModel,
  kTeiEmbed,
  kTeiEmbedAll,
  kTeiEmbedSparse,
  kTeiRerank,
  kTeiPredict,
  kTeiSimilarity,
  kTeiDecode,
  kTeiTokenize,
  kCohereRerank,
  kTeiInfo,
  kHealth,
  kLive,
  kReady,
  kMetrics,
};

struct Route {
  std::string_view path;    ///< What logs and metrics call it, too. "{id}" at the end stands for anything but nothing.
  std::string_view method;  ///< GET or POST. GET brings HEAD; OPTIONS always works.
  Action action;
  respond::Dialect dialect;
  bool needs_key = true;  ///< When keys are configured.
  bool routine = false;   ///< Asked for every few seconds by machines: logged at level debug.

  bool allows(std::string_view asked) const { return asked == method || (asked == "HEAD" && method == "GET"); }
  /// The value of an Allow field.
  std::string_view allow() const { return method == "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS"; }
};

std::span<const Route> routes();

/// nullptr when there is none. `path` without query.
const Route* find_route(std::string_view path);

/// Of a route that ends in "{id}": what stands there in `path`.
std::string_view path_parameter(const Route& route, std::string_view path);

/// "POST /v1/embeddings, GET /v1/models, …"
std::string list_of_routes();

}  // namespace weir::serve::server
