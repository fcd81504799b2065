// What one thread of the engine computes with: a session, its own or (of a packed model) one that all use, and the
// buffers that a batch is padded or packed into. Used by one thread at a time, after it has been pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "bundle/bundle.h"
#include "serve/request/hidden_rows.h"
#include "session/session.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve::engine {

/// Texts times columns of a padded batch.
struct BatchShape {
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t tokens() const { return rows * columns; }
};

/// The largest of `largest`, then fewer rows, then fewer columns, that holds at most `most_tokens`; at least one token.
BatchShape bounded_shape(BatchShape largest, std::size_t most_tokens);

class Instance {
 public:
  /// kCorrupt when the graph's inputs and output are not what the manifest says, kUnsupported when weir cannot feed
  /// them; else as session::Session::load. A batch of more than `regular_tokens` gives its memory back afterwards, so
  /// that one long text does not hold it for good.
  static Result<std::unique_ptr<Instance>> load(const bundle::Bundle& bundle, const session::Options& options,
                                                session::SharedWeights& weights, std::size_t regular_tokens);

  /// Sessions of a packed model.
  struct PackedSessions {
    std::shared_ptr<session::Session> narrow;  ///< One thread: the caller's.
    std::shared_ptr<session::Session> wide;    ///< The threads of all callers; empty where there is only one.
  };
  /// As load(), for the sessions that an engine's instances share. `wide_options` has more than one thread, or the
  /// second session is left out.
  static Result<PackedSessions> load_packed(const bundle::Bundle& bundle, const session::Options& narrow_options,
                                            const session::Options& wide_options, session::SharedWeights& weights);
  Instance(const bundle::Bundle& bundle, PackedSessions sessions, std::size_t regular_tokens);

  /// What to compute, and how. Of a graph with one output that is what comes.
  struct Wanted {
    bool wide = false;  ///< On the threads of all callers, if there are any.
    bool texts = true;
    bool tokens = false;
  };
  /// Computes texts as one batch. The rows are valid until the next call or release().
  Result<HiddenRows> compute(std::span<const tokenizers::Encoding* const> texts, Wanted wanted);

  /// Lets go of the last outputs.
  void release() { outputs_.clear(); }

  /// Runs a short text, then the largest batch that is expected to take at most `limit`. `wide` as in compute().
  Status warm_up(BatchShape largest, Clock::duration limit, bool wide = false);

 private:
  void pad(std::span<const tokenizers::Encoding* const> texts, std::size_t columns);
  void pack(std::span<const tokenizers::Encoding* const> texts);
  std::vector<std::string> output_names(Wanted wanted) const;
  Result<HiddenRows> run(Wanted wanted, std::size_t rows, std::size_t columns);
  Status check_shape(const session::Tensor& output, const std::string& name,
                     const std::vector<std::int64_t>& wanted) const;
  Result<Clock::duration> timed_run(BatchShape shape, bool wide);

  std::string place_;  ///< For messages.
  bundle::Manifest manifest_;
  std::shared_ptr<session::Session> session_;
  std::shared_ptr<session::Session> wide_session_;  ///< May be empty.
  std::size_t regular_tokens_;
  std::vector<std::int64_t> input_ids_;
  std::vector<std::int64_t> attention_mask_;
  std::vector<std::int64_t> token_type_ids_;
  std::vector<std::int64_t> offsets_;  ///< Empty: padded.
  std::vector<std::int64_t> keys_;     ///< Empty where the graph does not take them.
  std::vector<session::Tensor> outputs_;
};

}  // namespace weir::serve::engine
