// A tokenizer for tests of the stage itself: a word is a token, its id the word's length, with one special token in
// front. Texts that start with "hold" block until release(), so that a test decides what is in work at a moment.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/request/request.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve::tokenize {

class WordTokenizer : public tokenizers::Tokenizer {
 public:
  static constexpr std::int32_t kSpecial = 0;

  void release() const {
    const std::lock_guard lock(mutex_);
    released_ = true;
    wake_.notify_all();
  }
  void wait_held(int texts) const {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return held_ >= texts; });
  }

  Result<tokenizers::Encoding> encode(std::string_view text, const tokenizers::EncodeOptions& options) const override {
    if (text.starts_with("hold")) hold();
    if (text == "bad") return Error(ErrorKind::kTokenizer, "cannot be tokenized");
    std::vector<std::int32_t> ids;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) ids.push_back(static_cast<std::int32_t>(word.size()));
    return finished(std::move(ids), options);
  }
  Result<tokenizers::Encoding> encode_pair(std::string_view, std::string_view,
                                           const tokenizers::EncodeOptions&) const override {
    return Error(ErrorKind::kUnsupported, "pairs");
  }
  Result<tokenizers::Encoding> encode_ids(std::span<const std::int32_t> ids,
                                          const tokenizers::EncodeOptions& options) const override {
    return finished({ids.begin(), ids.end()}, options);
  }
  Result<std::string> decode(std::span<const std::int32_t>, bool) const override {
    return Error(ErrorKind::kUnsupported, "decode");
  }
  std::optional<std::int32_t> token_to_id(std::string_view) const override { return std::nullopt; }
  std::string_view id_to_token(std::int32_t) const override { return {}; }
  std::uint32_t vocabulary_size() const override { return 100; }
  std::uint32_t special_tokens_added() const override { return 1; }

 private:
  static Result<tokenizers::Encoding> finished(std::vector<std::int32_t> ids,
                                               const tokenizers::EncodeOptions& options) {
    tokenizers::Encoding encoding;
    if (options.add_special_tokens) ids.insert(ids.begin(), kSpecial);
    encoding.untruncated_tokens = static_cast<std::uint32_t>(ids.size());
    const std::size_t most = options.max_tokens.value_or(encoding.untruncated_tokens);
    if (ids.size() > most && options.truncation_side == tokenizers::Side::kRight) ids.resize(most);
    if (ids.size() > most) ids.erase(ids.begin() + 1, ids.end() - static_cast<long>(most - 1));
    if (options.with_offsets) encoding.offsets.resize(ids.size());
    encoding.ids = std::move(ids);
    return encoding;
  }
  void hold() const {
    std::unique_lock lock(mutex_);
    ++held_;
    wake_.notify_all();
    wake_.wait(lock, [&] { return released_; });
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable bool released_ = false;
  mutable int held_ = 0;
};

/// A model of at most `max_tokens` tokens with the prompts query ("ask: ") and passage ("told: ").
inline std::shared_ptr<ModelView> model_of(std::shared_ptr<const WordTokenizer> tokenizer, std::uint32_t max_tokens) {
  auto view = std::make_shared<ModelView>();
  view->tokenizer = std::move(tokenizer);
  view->max_tokens = max_tokens;
  view->manifest.prompts = {{"query", "ask: "}, {"passage", "told: "}};
  return view;
}

inline RequestPtr request_of(ModelViewPtr view, std::vector<std::string> texts) {
  auto request = std::make_shared<Request>();
  request->view = std::move(view);
  for (auto& text : texts) request->inputs.push_back({std::move(text), {}, false});
  return request;
}

}  // namespace weir::serve::tokenize
