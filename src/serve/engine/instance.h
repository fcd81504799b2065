// One session of a model with its own threads, and the buffers that a batch is padded into. Used by one thread at a
// time, after it has been pinned.
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

  /// Computes texts as one batch, padded to the longest. The rows are valid until the next call or release().
  Result<HiddenRows> compute(std::span<const tokenizers::Encoding* const> texts);

  /// Lets go of the last output.
  void release() { output_ = {}; }

  /// Runs a short text, then the largest batch that is expected to take at most `limit`.
  Status warm_up(BatchShape largest, Clock::duration limit);

 private:
  Instance(const bundle::Bundle& bundle, std::unique_ptr<session::Session> session, std::size_t regular_tokens);

  void pad(std::span<const tokenizers::Encoding* const> texts, std::size_t columns);
  Result<HiddenRows> run(std::size_t rows, std::size_t columns);
  Result<Clock::duration> timed_run(BatchShape shape);

  std::string place_;  ///< For messages.
  bundle::Manifest manifest_;
  std::unique_ptr<session::Session> session_;
  std::size_t regular_tokens_;
  std::vector<std::int64_t> input_ids_;
  std::vector<std::int64_t> attention_mask_;
  std::vector<std::int64_t> token_type_ids_;
  session::Tensor output_;
};

}  // namespace weir::serve::engine
