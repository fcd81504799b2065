#include "serve/server/routes.h"

#include <array>

namespace weir::serve::server {
namespace {

using respond::Dialect;

constexpr std::string_view kParameter = "{id}";

constexpr std::array kRoutes = {
    Route{"/v1/embeddings", "POST", Action::kOpenAiEmbeddings, Dialect::kOpenAi},
    Route{"/v1/models", "GET", Action::kOpenAiModels, Dialect::kOpenAi},
    Route{"/v1/models/{id}", "GET", Action::kOpenAiModel, Dialect::kOpenAi},
    Route{"/embed", "POST", Action::kTeiEmbed, Dialect::kTei},
    Route{"/embed_all", "POST", Action::kTeiEmbedAll, Dialect::kTei},
    Route{"/embed_sparse", "POST", Action::kTeiEmbedSparse, Dialect::kTei},
    Route{"/rerank", "POST", Action::kTeiRerank, Dialect::kTei},
    Route{"/predict", "POST", Action::kTeiPredict, Dialect::kTei},
    Route{"/similarity", "POST", Action::kTeiSimilarity, Dialect::kTei},
    Route{"/v1/rerank", "POST", Action::kCohereRerank, Dialect::kOpenAi},
    Route{"/v2/rerank", "POST", Action::kCohereRerank, Dialect::kOpenAi},
    Route{"/decode", "POST", Action::kTeiDecode, Dialect::kTei},
    Route{"/tokenize", "POST", Action::kTeiTokenize, Dialect::kTei},
    Route{"/info", "GET", Action::kTeiInfo, Dialect::kTei},
    Route{"/health", "GET", Action::kHealth, Dialect::kTei, false, true},
    Route{"/health/live", "GET", Action::kLive, Dialect::kTei, false, true},
    Route{"/health/ready", "GET", Action::kReady, Dialect::kTei, false, true},
    Route{"/metrics", "GET", Action::kMetrics, Dialect::kOpenAi, true, true},
};

std::string_view fixed_part(const Route& route) {
  return route.path.ends_with(kParameter) ? route.path.substr(0, route.path.size() - kParameter.size()) : route.path;
}

bool matches(const Route& route, std::string_view path) {
  const std::string_view fixed = fixed_part(route);
  return fixed.size() == route.path.size() ? path == fixed : path.size() > fixed.size() && path.starts_with(fixed);
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

const Route* find_route(std::string_view path) {
  for (const Route& route : kRoutes) {
    if (matches(route, path)) return &route;
  }
  return nullptr;
}

std::string_view path_parameter(const Route& route, std::string_view path) {
  return path.substr(fixed_part(route).size());
}

std::string list_of_routes() {
  std::string list;
  for (const Route& route : kRoutes) {
    list.append(list.empty() ? "" : ", ").append(route.method).append(" ").append(route.path);
  }
  return list;
}

}  // namespace weir::serve::server
