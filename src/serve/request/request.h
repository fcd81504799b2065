// A request on its way through the stages. Made by the front, shared by the stages that hold it, finished exactly once.
// Fields are grouped by the stage that fills them; a stage reads what earlier ones filled and writes only its own. A
// request is in one stage at a time, except that its texts may be in several batches at once: each writes only its own
// rows. `finished` and `remaining` are the only fields that threads race on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "tokenizers/tokenizer.h"

namespace weir::serve {

/// One text, as the client gave it.
struct Input {
  std::string text;
  std::vector<std::int32_t> ids;  ///< Used instead of `text` when `is_ids`.
  bool is_ids = false;
};

/// What a request asks of each text beyond the model's own settings.
struct EmbedOptions {
  std::optional<bool> normalize;            ///< Empty: as the model says.
  std::optional<std::uint32_t> dimensions;  ///< Cut vectors to this length, then normalize again.
  std::optional<bool> truncate;             ///< Empty: as the server is configured.
  tokenizers::Side truncation_side = tokenizers::Side::kRight;
  std::optional<std::string> prompt_name;
  bool add_special_tokens = true;           ///< Only kTokenize may turn it off.
};

/// Time spent per stage, for headers, logs and metrics.
struct Timings {
  Clock::duration waiting{};    ///< In the waiting room.
  Clock::duration tokenize{};
  Clock::duration queue{};      ///< From tokenized until the last text's batch began.
  Clock::duration inference{};  ///< From the first text's batch until the last one ended.
};

enum class Task {
  kEmbed,     ///< Through all stages: fills `vectors`.
  kTokenize,  ///< Ends after the tokenize stage: fills `encodings`, with offsets, never truncated.
};

struct Request {
  // front
  Task task = Task::kEmbed;
  std::string id;     ///< X-Request-ID, the client's or ours.
  std::string model;  ///< As the client named it.
  std::vector<Input> inputs;
  EmbedOptions options;
  Clock::time_point arrived{};
  Deadline deadline;

  // admission
  bool admitted = false;  ///< Holds a permit.

  // tokenize
  std::vector<tokenizers::Encoding> encodings;  ///< One per input.
  std::size_t tokens = 0;                       ///< Over all inputs, after truncation.

  // batch, engine, pooling
  std::uint32_t dimensions = 0;  ///< Length of each vector.
  std::vector<float> vectors;    ///< [inputs, dimensions]
  std::atomic<std::size_t> remaining{0};  ///< Texts not computed yet.

  // all
  Timings timings;
  Clock::time_point tokenized{};
  std::atomic<std::int64_t> first_batch_ns{0};  ///< Clock ticks; 0 until the first text's batch began.
  std::optional<Error> error;  ///< Why it failed; read once finished.
  std::function<void(const std::shared_ptr<Request>&)> done;  ///< Called once, by the thread that finished it.

  /// True once answered, expired or cancelled: what is left of its work is worthless. Any thread.
  bool is_finished() const { return finished.load(std::memory_order_acquire); }
  std::atomic<bool> finished{false};
};

using RequestPtr = std::shared_ptr<Request>;

/// One text of a request, on its way through a batch.
struct Item {
  RequestPtr request;
  std::size_t index = 0;  ///< Which input.

  const tokenizers::Encoding& encoding() const { return request->encodings[index]; }
  std::size_t tokens() const { return encoding().ids.size(); }
};

/// Texts that are computed together.
using Batch = std::vector<Item>;

}  // namespace weir::serve
