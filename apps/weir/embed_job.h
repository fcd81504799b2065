// The work of `weir embed`: records in, vectors out, in the records' order, with a bounded number of them on the way.
//
// A thread of its own reads records, groups them into requests and submits them, as many as the bound allows; the
// thread that calls run() takes finished ones in order and writes them. A request that fails is tried again text by
// text, so that only the text at fault is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/deadline.h"
#include "base/result.h"
#include "bulk/journal.h"
#include "bulk/records.h"
#include "bulk/vector_writer.h"
#include "serve/request/request.h"

namespace weir::cli {

struct EmbedJobOptions {
  serve::Task task = serve::Task::kEmbed;  ///< Or kTokenVectors, of models with a vector per token.
  serve::EmbedOptions embed;
  bool skip_bad_records = false;  ///< Else the first one ends the job.
  std::size_t texts_per_request = 32;
  std::size_t max_texts_in_flight = 2048;
  std::size_t max_bytes_in_flight = 64 << 20;
  Clock::duration checkpoint_interval = std::chrono::seconds(10);
};

/// What the job needs from around it.
struct EmbedJobHooks {
  std::function<void(const serve::RequestPtr&)> submit;  ///< Pipeline::submit.
  std::function<void(const serve::RequestPtr&)> cancel;  ///< Pipeline::cancel.
  /// Waits until wake(), a signal, or the time is over; true when the user wants the job to stop.
  std::function<bool(Clock::duration)> wait;
  std::function<void()> wake;  ///< Ends wait(). Any thread; may be called a little after the job has ended.
  std::stop_source stop;       ///< The reader's (RecordOptions::stop): ends its wait for a slow pipe.
  /// Output and journal to the disk. `done` holds what was written so far; its `job` and `output_bytes` are empty.
  std::function<Status(const bulk::Journal& done)> checkpoint;
  std::function<void(const std::string& message)> report;  ///< A record that was skipped, "FILE:LINE: why".
  /// What is done so far: in this run, and the input's bytes.
  std::function<void(std::uint64_t texts, std::uint64_t tokens, std::uint64_t bytes_read)> progress;
};

struct EmbedJobResult {
  std::uint64_t records = 0;  ///< Written in this run, skipped ones included.
  std::uint64_t skipped = 0;  ///< Of these.
  std::uint64_t tokens = 0;
  bool interrupted = false;
  std::optional<Error> error;  ///< What ended the job early; all before it is written.
};

/// Runs the job to its end, its first error or the user's wish to stop; then the last checkpoint has been made.
/// `start` tells what an earlier run has written, whose records `reader` has passed and `hash` holds.
EmbedJobResult run_embed_job(bulk::RecordReader& reader, bulk::VectorWriter& writer, const EmbedJobOptions& options,
                             EmbedJobHooks& hooks, const bulk::Journal& start, bulk::RecordHash hash);

}  // namespace weir::cli
