// ONNX Runtime behind our own types: one loaded graph and the threads that compute it. The only folder, with
// ops, that includes ONNX Runtime's headers; its exceptions end here. Graphs may use the operators of ops.
//
// run() may be called by several threads at once. Callers of a session with one intra-op thread compute each on its own
// thread; of one with more, the callers share them, so that an engine instance of a padded model has a Session of its
// own. The weights' file is mapped and shared by all sessions and processes that load it;
// what SharedWeights copies and what ONNX Runtime packs anew is shared by the sessions made from one SharedWeights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir::session {

/// Where a session's intermediate tensors come from.
enum class Arena {
  kNone,     ///< malloc, freed after every run.
  kSession,  ///< An arena of its own, unbounded; keeps its largest extent until a run shrinks it.
  kProcess,  ///< One arena for all sessions of the process that say so, bounded by `arena_limit_bytes`.
};

/// When threads that have nothing to do spin, instead of sleeping: they start at once, and keep a core busy.
enum class Spinning { kNever, kDuringRuns, kAlways };

struct Options {
  int intra_op_threads = 1;  ///< Includes the calling thread.
  std::vector<int> cpus;     ///< Logical CPUs to pin to, one per thread; empty: not pinned.
  Spinning spinning = Spinning::kNever;
  bool memory_pattern = false;      ///< Plan memory per input shape: for graphs of few shapes (docs/decisions/0030).
  bool parallel_execution = false;  ///< Execution mode parallel, for multi-tower graphs.
  Arena arena = Arena::kSession;
  std::size_t arena_limit_bytes = 0;  ///< Of the process's arena, as its first session says; 0: unbounded.
};

/// Weights that several sessions of one model share. Must outlive them.
class SharedWeights {
 public:
  /// `huge_pages`: the weights that the operators of ops packed are copied from the file's mapping into huge pages,
  /// where the kernel has them and half of the available memory is enough (docs/decisions/0033).
  explicit SharedWeights(bool huge_pages = false);
  /// How many bytes were copied so, in whole pages; 0 before the first session, or if none were.
  std::size_t huge_page_bytes() const;
  ~SharedWeights();
  SharedWeights(const SharedWeights&) = delete;
  SharedWeights& operator=(const SharedWeights&) = delete;

 private:
  friend class Session;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A graph's input or output as the file declares it. A dimension of -1 is free.
struct TensorInfo {
  std::string name;
  std::string type;  ///< "int64", "float", …, as ONNX names them.
  std::vector<std::int64_t> shape;
};

/// Texts to compute: padded, row-major [rows, columns], or packed, [tokens] with `offsets`. Spans, so that the caller's
/// buffers are used without a copy.
struct Batch {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const std::int64_t> input_ids;
  std::span<const std::int64_t> attention_mask;
  std::span<const std::int64_t> token_type_ids;  ///< Empty when the graph does not take them.
  std::span<const std::int64_t> offsets = {};    ///< [rows + 1] of packed texts; empty: padded.
  std::span<const std::int64_t> keys = {};       ///< [rows] of packed texts, where the graph takes them.
};

/// An output, row-major, owned by the session's arena until destroyed or the session's next run() on the same thread.
class Tensor {
 public:
  Tensor();
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  std::span<const float> values() const { return values_; }
  std::span<const std::int64_t> shape() const { return shape_; }

 private:
  friend class Session;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::span<const float> values_;
  std::vector<std::int64_t> shape_;
};

class Session {
 public:
  /// kNotFound, kCorrupt (not a graph ONNX Runtime accepts; its message is passed on), kBackend.
  static Result<std::unique_ptr<Session>> load(const std::string& model_path, const Options& options,
                                               SharedWeights* shared = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  /// Computes `output_name` (float). kBackend with ONNX Runtime's message. Nothing is checked for NaN here: pooling
  /// does. `shrink` gives the arena's unused memory back afterwards.
  Result<Tensor> run(const Batch& batch, const std::string& output_name, bool shrink = false);
  /// The same of several outputs, in their order.
  Result<std::vector<Tensor>> run(const Batch& batch, std::span<const std::string> output_names, bool shrink = false);

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The library's version, such as "1.32.0".
std::string runtime_version();

}  // namespace weir::session
