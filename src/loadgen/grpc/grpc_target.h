// A server that speaks the Open Inference Protocol over gRPC, without TLS: texts as one BYTES tensor, one call for each
// slot, all calls of a thread over one connection. The library gRPC is kept in this folder's one source.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "loadgen/dialects/dialect.h"
#include "loadgen/dialects/workload.h"
#include "loadgen/http/url.h"
#include "loadgen/target/driver.h"

namespace weir::loadgen {

/// Looks at `model` and `input_name` of the options. Connects when the first request is sent. A call that fails ends as
/// kStatus with gRPC's code, except that code 14 (unavailable) of a server that is not there is kConnectFailed.
Result<std::unique_ptr<Target>> make_grpc_target(const DialectOptions& options, const Url& url,
                                                 const Workload& workload);

}  // namespace weir::loadgen
