// Which precision and layout a bundle gets: a model's graph in packed form (docs/operators.md) is made beside the
// padded one in fp32, compared with it, and takes its place if it is wanted and good enough. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "bundle/bundle.h"
#include "importer/agreement.h"
#include "importer/conversion.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {

/// kInvalidArgument unless it is fp32, bf16, int8 or auto.
Status check_precision(const std::string& precision);

/// Why this machine gains nothing by packed graphs in a precision; empty where it does.
Result<std::string> reason_against(const std::string& precision);

struct PackingRequest {
  ConversionRequest conversion;                    ///< Of the padded fp32 graph, which lies in its folder.
  std::string precision;                           ///< As check_precision.
  std::function<Status(const std::string&)> step;  ///< Told what is done; an error ends it.
  const tokenizers::Tokenizer* tokenizer = nullptr;
};

struct Packing {
  std::optional<Agreement> agreement;  ///< Of the packed graph that was taken, or of the last that was not.
  std::string reason;                  ///< Why the bundle got what it got.
};

/// Replaces the graph in the folder, and the manifest with it, or leaves both. bf16 and int8 are taken however far from
/// fp32 they are, or fail with kUnsupported for a model that has no packed form. fp32 and auto take the first of their
/// precisions that agrees, else padded fp32.
Result<Packing> pack(const PackingRequest& request, bundle::Manifest& manifest);

}  // namespace weir::importer
