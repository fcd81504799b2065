#include "serve/models/model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/deadline.h"
#include "serve/models/self_check.h"
#include "serve/request/late_interaction.h"

namespace weir::serve::models {
namespace {

/// Room for a text's tokens, special ones included, but for a marker of multi-vector models.
std::uint32_t least_tokens(const ModelView& view) {
  const auto& late = view.manifest.late_interaction;
  if (!late) return view.max_tokens;
  return std::min(encoded_tokens(*late, true, view.max_tokens), encoded_tokens(*late, false, view.max_tokens));
}

/// "2026-01-31T12:00:00Z" to seconds since 1970; 0 when it is something else.
std::int64_t unix_seconds(const std::string& rfc3339) {
  int year = 0, hour = 0, minute = 0, second = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(rfc3339.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6)
    return 0;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok()) return 0;
  const std::chrono::sys_seconds time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                                        std::chrono::minutes(minute) + std::chrono::seconds(second);
  return time.time_since_epoch().count();
}

ModelView view_of(const ModelSource& source, const bundle::Manifest& manifest, std::uint32_t max_tokens) {
  ModelView view;
  view.name = source.name.empty() ? manifest.name : source.name;
  view.manifest = manifest;
  view.max_tokens = max_tokens == 0 ? manifest.max_tokens : std::min(max_tokens, manifest.max_tokens);
  view.created_unix_s = unix_seconds(manifest.lineage.created);
  return view;
}

/// Fills in what depends on the bundle's layout.
ModelOptions options_for(const bundle::Manifest& manifest, ModelOptions options) {
  options.batch.packed = manifest.layout == bundle::Layout::kPacked;
  const std::size_t chosen = options.batch.packed ? batch::kDefaultMaxPackedTokens : batch::kDefaultMaxTokens;
  options.batch.max_tokens = options.max_batch_tokens == 0 ? chosen : options.max_batch_tokens;
  return options;
}

}  // namespace

Result<std::unique_ptr<Model>> Model::open(const ModelSource& source, const ModelOptions& options) {
  WEIR_ASSIGN_OR_RETURN(auto bundle, bundle::load(source.folder));
  auto view = std::make_shared<const ModelView>(view_of(source, bundle.manifest, options.max_tokens));
  ModelOptions in_force = options_for(bundle.manifest, options);
  return std::unique_ptr<Model>(new Model(std::move(bundle), std::move(in_force), std::move(view)));
}

Model::Model(bundle::Bundle bundle, ModelOptions options, ModelViewPtr view)
    : bundle_(std::move(bundle)), options_(std::move(options)), batcher_(options_.batch), view_(std::move(view)) {}

Status Model::load(metrics::Registry& registry, BatchHooks hooks) {
  Status status = load_parts(registry);
  if (status.ok()) start(std::move(hooks));
  const std::lock_guard lock(mutex_);
  state_ = status.ok() ? ModelState::kReady : ModelState::kFailed;
  failure_ = status;
  return status;
}

Status Model::load_parts(metrics::Registry& registry) {
  ModelView ready = *view();
  WEIR_ASSIGN_OR_RETURN(auto tokenizer, tokenizers::Tokenizer::from_file(bundle_.tokenizer_path()));
  if (least_tokens(ready) <= tokenizer->special_tokens_added()) {
    return Error(ErrorKind::kInvalidArgument,
                 "a limit of " + std::to_string(ready.max_tokens) + " tokens leaves no room beside the model's " +
                     std::to_string(tokenizer->special_tokens_added()) + " special tokens",
                 "--max-tokens");
  }
  if (tokenizer->vocabulary_size() > ready.manifest.vocabulary_size) {
    return Error(ErrorKind::kCorrupt,
                 bundle_.tokenizer_path() + ": has ids up to " + std::to_string(tokenizer->vocabulary_size() - 1) +
                     ", but weir.json's vocabulary_size is " + std::to_string(ready.manifest.vocabulary_size) +
                     "; the two do not belong together: import the model again",
                 bundle_.tokenizer_path());
  }
  ready.tokenizer = std::move(tokenizer);

  engine::Options engine_options = options_.engine;
  engine_options.max_batch_texts = options_.batch.max_texts;
  engine_options.max_batch_tokens = options_.batch.max_tokens;
  engine_options.max_tokens = ready.max_tokens;
  WEIR_ASSIGN_OR_RETURN(engine_, engine::Engine::load(engine_options, bundle_, registry));
  if (options_.self_test) WEIR_RETURN_IF_ERROR(self_test(*engine_, *ready.tokenizer, bundle_));

  const std::lock_guard lock(mutex_);
  view_ = std::make_shared<const ModelView>(std::move(ready));
  return {};
}

void Model::start(BatchHooks hooks) {
  const ModelViewPtr view = this->view();
  engine_->start(
      [this, view, taken = std::move(hooks.taken)](Batch& batch) {
        if (!batcher_.next(batch)) return false;
        taken(*view, batch);
        return true;
      },
      [view, computed = std::move(hooks.computed)](Batch&& batch, const Result<HiddenRows>& rows) {
        computed(*view, std::move(batch), rows);
      });
}

void Model::close() {
  batcher_.close();
  engine_.reset();  // joins its threads, whether they were started or not
  const std::lock_guard lock(mutex_);
  state_ = ModelState::kFailed;
}

ModelState Model::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Status Model::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

ModelViewPtr Model::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

}  // namespace weir::serve::models
