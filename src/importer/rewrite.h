// An ONNX file's encoder, found in its graph, as a checkpoint that the usual path imports; held to the original first.
//
// One thread. Writes into `folder`/recognized.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "importer/conversion.h"
#include "importer/onnx_interface.h"
#include "recognize/recognize.h"

namespace weir::importer {

/// The checkpoint made of an ONNX file.
struct Recognition {
  Source source;                     ///< The checkpoint; other files still lie beside the ONNX file.
  huggingface::Overrides overrides;  ///< The request's, and the graph's own pooling.
  std::vector<std::string> files;    ///< The ONNX file and what it keeps its weights in.
  OutputChoice output;               ///< What of the graph was read, and is compared.
  std::uint32_t vocabulary_size = 0;
  std::uint32_t max_positions = 0;
  std::uint32_t pad_token_id = 0;
  bool is_half = false;
  recognize::Rounding rounding = recognize::Rounding::kNone;
  std::string description;  ///< "6 layers of 384, 12 heads, gelu".
};

/// kUnsupported: the graph is no encoder that weir knows; names the node that stopped the match. kNotFound, kCorrupt:
/// of the file; kIo; kCancelled.
Result<Recognition> recognize_onnx(const ConversionRequest& request);

/// How well the rewritten graph's rows agree with the original's on token ids of our own.
struct RewriteAgreement {
  double least_cosine = 1;
  double mean_cosine = 0;
  std::size_t rows = 0;  ///< Tokens or, where the original pools, texts.
  /// To the original with the rounding of its activations taken out, where that can be done.
  std::optional<double> least_without_rounding;

  /// "least cosine to the original 0.9999998, mean 0.9999999, of 130 rows".
  std::string text() const;
};

/// `conversion` stands in the request's folder. kUnsupported: too far from the original for what it is (rounding in
/// fp32 for a graph in fp32; more for one in 16 or 8 bits); kBackend: ONNX Runtime cannot run the original.
Result<RewriteAgreement> check_rewrite(const Recognition& recognition, const Conversion& conversion,
                                       const ConversionRequest& request);

}  // namespace weir::importer
