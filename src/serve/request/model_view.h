// What a request's stages, and clients who ask, may know about a model. Immutable and shared: a view that a request
// holds stays valid whatever happens to the model meanwhile. A model that becomes ready publishes a new view.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bundle/bundle.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve {

enum class ModelState { kLoading, kReady, kFailed };

/// What happens to a text of more tokens than the model takes, unless the request says otherwise.
enum class LongText {
  kTruncate,
  kReject,
  kChunk,  ///< Computed in windows, whose vectors become one. Embeddings only; other tasks truncate.
};

/// How the vectors of a long text's windows become one.
enum class WindowPooling {
  kMean,  ///< Each counts as often as it has tokens.
  kMax,
};

struct LongTextRule {
  LongText what = LongText::kTruncate;
  std::uint32_t overlap_tokens = 64;  ///< Tokens that a window shares with the one before it.
  WindowPooling pooling = WindowPooling::kMean;
};

struct ModelSource {
  std::string name;    ///< As clients name it; empty: the bundle's own.
  std::string folder;  ///< The bundle.
};

struct ModelView {
  std::string name;
  bundle::Manifest manifest;
  std::shared_ptr<const tokenizers::Tokenizer> tokenizer;  ///< Empty until the model has been loaded.
  std::uint32_t max_tokens = 0;     ///< Per text, in force: the bundle's, or lowered by the options.
  std::int64_t created_unix_s = 0;  ///< The bundle's creation time.
};

using ModelViewPtr = std::shared_ptr<const ModelView>;

}  // namespace weir::serve
