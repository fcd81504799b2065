// A request on its way through the stages. Made by the front, shared by the stages that hold it, finished exactly once.
// Fields are grouped by the stage that fills them; a stage reads what earlier ones filled and writes only its own. A
// request is in one stage at a time, except that its texts may be in several batches at once: each writes only its own
// rows. The atomics are the only fields that threads race on.
//
// A request that fails (deadline, client gone) is finished while a stage may still be writing to it. So whoever is
// called through `done` with an `error` set reads the front's fields, `error` and `stage`, and nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "serve/request/model_view.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve {

struct Flight;

/// One text, as the client gave it.
struct Input {
  std::string text;
  std::vector<std::int32_t> ids;  ///< Used instead of `text` when `is_ids`.
  bool is_ids = false;
  std::optional<std::string> pair = std::nullopt;  ///< A second text; the model reads both as one.
  bool is_query = false;                           ///< Of multi-vector models, whatever the request says of all inputs.

  /// What tokenizing it costs, roughly.
  std::size_t bytes() const {
    return is_ids ? ids.size() * sizeof(std::int32_t) : text.size() + (pair ? pair->size() : 0);
  }
};

/// What a request asks of each text beyond the model's own settings.
struct EmbedOptions {
  std::optional<bool> normalize;            ///< Empty: as the model says.
  std::optional<std::uint32_t> dimensions;  ///< Cut vectors to this length, then normalize again.
  std::optional<bool> truncate;             ///< Empty: as the server is configured.
  tokenizers::Side truncation_side = tokenizers::Side::kRight;
  std::optional<std::string> prompt_name;
  bool add_special_tokens = true;   ///< Only kTokenize may turn it off.
  bool skip_special_tokens = true;  ///< Of kDecode.
};

/// Time spent per stage, for headers, logs and metrics.
struct Timings {
  Clock::duration waiting{};    ///< In the waiting room.
  Clock::duration tokenize{};   ///< From admitted until the last text was tokenized.
  Clock::duration queue{};      ///< From tokenized until the last text's batch began.
  Clock::duration inference{};  ///< From the first text's batch until the last one ended.
};

enum class Task {
  kEmbed,         ///< Through all stages: fills `vectors`.
  kRerank,        ///< As kEmbed: the one number of each pair, before the model's score function.
  kClassify,      ///< As kEmbed: a number per label.
  kSparse,        ///< As kEmbed: a weight per word of the vocabulary.
  kTokenVectors,  ///< Through all stages: fills `token_rows` with the vectors of each token.
  kTokenLabels,   ///< The same with a number per label and token, and `encodings` with offsets.
  kTokenize,      ///< Ends after the tokenize stage: fills `encodings`, with offsets, never truncated.
  kDecode,        ///< Ends after the tokenize stage: fills `decoded` of the inputs' ids.
};

/// Whether a request of this kind goes to the engine.
inline bool computes(Task task) { return task != Task::kTokenize && task != Task::kDecode; }
/// Whether texts may be computed in windows.
inline bool takes_windows(Task task, const bundle::Manifest& manifest) {
  return task == Task::kEmbed || (task == Task::kSparse && !manifest.lexical_weights);
}
/// Whether it fills `token_rows`: with vectors, or with the weight of each token's word.
inline bool is_per_token(Task task, const bundle::Manifest& manifest) {
  return task == Task::kTokenVectors || task == Task::kTokenLabels ||
         (task == Task::kSparse && manifest.lexical_weights);
}

/// Whether a model ranks by vectors of tokens.
inline bool interacts_late(const bundle::Manifest& manifest) {
  return manifest.task == bundle::Task::kMultiVector || manifest.multi_vector_dimensions > 0;
}

/// Whether a model can do it. kInvalidArgument names the model's own task.
Status check_task(Task task, const ModelView& view);

/// Where a request is. The names are the stages' folders.
enum class Stage : std::uint8_t { kFront, kAdmission, kTokenize, kBatch, kEngine };
inline constexpr Stage kStages[] = {Stage::kFront, Stage::kAdmission, Stage::kTokenize, Stage::kBatch, Stage::kEngine};

/// Such as "admission", for logs, metric labels and messages.
std::string_view stage_name(Stage stage);

struct Request {
  // front
  Task task = Task::kEmbed;
  std::string id;     ///< X-Request-ID, the client's or ours.
  std::string model;  ///< As the client named it.
  std::vector<Input> inputs;
  std::string_view inputs_field = "input";  ///< What the client's dialect calls the texts, for messages. A literal.
  EmbedOptions options;
  Clock::time_point arrived{};
  Deadline deadline;
  std::function<void(const std::shared_ptr<Request>&)> done;  ///< Called once, by the thread that finished it.

  // pipeline, before the first stage
  ModelViewPtr view;               ///< The model that `model` names.
  std::shared_ptr<Flight> flight;  ///< What the pipeline holds for it; known to nobody else.

  // admission
  Clock::time_point admitted{};

  // tokenize
  std::vector<tokenizers::Encoding> encodings;  ///< One per input.
  /// Of inputs that are computed in windows: those after the first, until all inputs are tokenized. Then they stand
  /// in `encodings`, after those of the inputs.
  std::vector<std::vector<tokenizers::Encoding>> windows;
  std::vector<std::uint32_t> input_of;  ///< The input of each encoding; empty: one per input.
  std::vector<std::string> decoded;     ///< One per input, of kDecode.
  std::size_t tokens = 0;               ///< Over all inputs, after truncation.
  Clock::time_point tokenized{};

  // batch, engine, pooling
  std::uint32_t dimensions = 0;                 ///< Length of each vector.
  std::vector<float> vectors;                   ///< [inputs, dimensions]; before the last is there, [encodings, …]
  std::vector<std::vector<float>> token_rows;   ///< Per input [tokens, numbers], of tasks that are per token.
  std::atomic<std::size_t> remaining{0};        ///< Texts not computed yet.
  std::atomic<std::int64_t> first_batch_ns{0};  ///< Clock ticks; 0 until the first text's batch began.

  // all
  Timings timings;
  std::atomic<Stage> stage{Stage::kFront};
  std::atomic<bool> finished{false};
  std::optional<Error> error;  ///< Why it failed; read once finished.

  /// True once answered, expired or cancelled: what is left of its work is worthless. Any thread.
  bool is_finished() const { return finished.load(std::memory_order_acquire); }
};

using RequestPtr = std::shared_ptr<Request>;

/// The prompt that goes before an input: what the request names, or the model's default; empty: none. Multi-vector
/// models take some inputs for queries whatever the request says.
std::optional<std::string> prompt_name(const Request& request, const Input& input);

/// That prompt's text, or an empty one. The request has been checked.
const std::string& prompt_of(const Request& request, const Input& input);

/// Whether a multi-vector model takes an input of the request for a query. The others' texts are documents.
bool is_query(const Request& request, const Input& input);

/// Ends a request, with an error or (without one) with its results in place, and calls done(). Any thread; only the
/// first call for a request does anything and returns true. Never called with a lock held: done() may go anywhere.
bool finish(const RequestPtr& request, std::optional<Error> error = std::nullopt);

/// One text of a request, on its way through a batch.
struct Item {
  RequestPtr request;
  std::size_t index = 0;  ///< Which encoding: the input's, or one of its windows.

  const tokenizers::Encoding& encoding() const { return request->encodings[index]; }
  std::size_t tokens() const { return encoding().ids.size(); }
};

/// Texts that are computed together.
using Batch = std::vector<Item>;

}  // namespace weir::serve
