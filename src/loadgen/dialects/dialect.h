// The dialects in which embedding servers are asked over HTTP: where, with what body, and what an answer looks like.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loadgen/dialects/workload.h"
#include "loadgen/http/http_target.h"

namespace weir::loadgen {

enum class Dialect {
  kOpenAi,   ///< POST /v1/embeddings
  kTei,      ///< POST /embed, of Text Embeddings Inference
  kOip,      ///< POST /v2/models/MODEL/infer, the Open Inference Protocol, texts as BYTES
  kOipGrpc,  ///< The same over gRPC; not of this folder.
};

std::optional<Dialect> dialect_from_name(std::string_view name);  ///< "openai", "tei", "oip", "oip-grpc"
std::string_view dialect_name(Dialect dialect);

struct DialectOptions {
  Dialect dialect = Dialect::kOpenAi;
  std::string model = "model";      ///< As the server calls it.
  std::string input_name = "text";  ///< Of the Open Inference Protocol.
  std::string api_key;              ///< Sent as a bearer token, unless empty.
};

/// Requests for a server at `url`. A path in it takes the place of the dialect's own.
HttpRequests http_requests(const DialectOptions& options, Url url, const Workload& workload);

/// The body of one request.
std::string request_body(const DialectOptions& options, const std::vector<std::string>& texts);

/// Whether `body` holds as many vectors as the request has texts: read whole with `thoroughly`, else by its ends.
bool is_answer(Dialect dialect, std::string_view body, const RequestSize& request, bool thoroughly);

}  // namespace weir::loadgen
