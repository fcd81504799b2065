// What `weir import` does: makes a bundle of a model folder or an ONNX file.
//
//   find the source (source.h) → of an ONNX file: find its encoder (rewrite.h) → read what the folder says
//   (huggingface) → write graph and weights (families or onnx) → tokenizer → golden vectors, computed by the graph just
//   written (golden.h) → weir.json → rename to the target
//
// All is written to a hidden folder beside the target, which is renamed at the end: the target's name never holds half
// a bundle. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "bundle/bundle.h"
#include "huggingface/layout.h"
#include "importer/agreement.h"

namespace weir::importer {

/// Whether an ONNX file's encoder is looked for and imported in our own form.
enum class Rewrite {
  kNever,     ///< The file's graph is taken as it is.
  kAuto,      ///< Where it is recognized, computes the same, and is not 8-bit while --precision asks for more.
  kRequired,  ///< Else the import fails.
};

struct Options {
  std::string source;  ///< A model folder or an .onnx file.
  std::string target;  ///< The bundle's folder.
  bool replace = false;
  std::string name;  ///< For clients; empty: the target's own name.
  huggingface::Overrides overrides;
  /// fp32, bf16 or int8, or auto: int8 where the CPU has instructions for it and the vectors agree with those of fp32
  /// (agreement.h), else bf16 likewise, else fp32. packing.h
  std::string precision = "fp32";
  /// Inside attention of packed graphs: fp32 or int8, whose vectors are the same bits on every x86 CPU; bf16, fastest
  /// on CPUs with AMX; auto: as the layers.
  std::string attention = "auto";
  bool padded = false;  ///< Standard operators only, which any ONNX Runtime computes; fp32.
  Rewrite rewrite = Rewrite::kAuto;
  std::string origin;  ///< Where the source came from, such as "org/name@commit"; empty: nothing is known.
  std::string weir_version;
  std::function<void(const std::string&)> progress;  ///< Told each step.
  std::function<bool()> cancelled;                   ///< Asked between steps and tensors.
};

struct Summary {
  bundle::Manifest manifest;
  std::uint64_t bundle_bytes = 0;
  std::size_t golden_texts = 0;
  std::optional<Agreement> agreement;  ///< Of the packed graph with padded fp32; empty when none was made.
  std::string precision_reason;        ///< Why the bundle got its precision and layout.
  std::string rewrite;  ///< What was recognized in an ONNX file, or why it runs as it is; empty: not looked for.
};

/// kNotFound, kCorrupt, kUnsupported: something of the source, by file and field, with the flag that would help;
/// kInvalidArgument: the target exists, or a flag contradicts the model; kIo: the target cannot be written; kCancelled;
/// kBackend: the model computes NaN, or ONNX Runtime fails.
Result<Summary> import_model(const Options& options);

}  // namespace weir::importer
