#include "apps/weir/embed_job.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace weir::cli {
namespace {

using serve::Request;
using serve::RequestPtr;

constexpr auto kWait = std::chrono::milliseconds(200);

/// A request that was submitted. Its results may be read once `done` is true, which its callback sets last but for
/// waking the writer: Request::finished becomes true a little earlier.
struct Flight {
  RequestPtr request;
  std::shared_ptr<std::atomic<bool>> done = std::make_shared<std::atomic<bool>>(false);

  explicit operator bool() const { return request != nullptr; }
  bool landed() const { return done->load(std::memory_order_acquire); }
};

/// Some records in a row: one request for those that have a text.
struct Chunk {
  struct Slot {
    std::string place;
    std::string problem;  ///< Why the record has no vector; empty: it is the request's `input`th text.
    std::size_t input = 0;
  };
  std::vector<Slot> slots;
  Flight flight;  ///< Empty when no record has a text.
  std::size_t bytes = 0;

  // where the input stands after it
  std::uint64_t bytes_read = 0;
  std::string hash;
};

class Job {
 public:
  Job(bulk::RecordReader& reader, bulk::VectorWriter& writer, const EmbedJobOptions& options, EmbedJobHooks& hooks,
      const bulk::Journal& start, bulk::RecordHash hash)
      : reader_(reader), writer_(writer), options_(options), hooks_(hooks), done_(start), hash_(std::move(hash)) {}

  EmbedJobResult run();

 private:
  // the reading thread
  void read_all();
  bool read_chunk(Chunk& chunk);
  bool add_record(bulk::Record record, Chunk& chunk);
  bool queue(Chunk chunk);

  // the calling thread
  Flight make_flight();
  Chunk* finished_front(bool& at_end);
  void pop_front();
  Status write_finished();
  Status write_chunk(const Chunk& chunk);
  Status retry_one_by_one(const Chunk& chunk, std::vector<Flight>& singles);
  bool wait_for(const Flight& flight);
  Status write_records(const Chunk& chunk, const std::vector<Flight>& singles);
  Status write_slot(const Chunk::Slot& slot, const Request* request, std::size_t input);
  Status checkpoint();
  void cancel_all();
  Status read_and_write();

  bulk::RecordReader& reader_;
  bulk::VectorWriter& writer_;
  const EmbedJobOptions& options_;
  EmbedJobHooks& hooks_;
  bulk::Journal done_;
  EmbedJobResult result_;
  Clock::time_point next_checkpoint_{};
  bool interrupted_ = false;

  bulk::RecordHash hash_;             ///< Of the reading thread.
  std::optional<bulk::Record> held_;  ///< Read, but not in a chunk yet. Of the reading thread.
  bool stop_reading_ = false;         ///< Of the reading thread.

  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Chunk> chunks_;
  std::size_t texts_in_flight_ = 0;
  std::size_t bytes_in_flight_ = 0;
  bool all_read_ = false;
  std::optional<Error> read_error_;
};

Flight Job::make_flight() {
  Flight flight;
  flight.request = std::make_shared<Request>();
  flight.request->task = options_.task;
  flight.request->options = options_.embed;
  flight.request->arrived = Clock::now();
  // Holds nothing of this object, which may be gone before the callback returns.
  flight.request->done = [done = flight.done, wake = hooks_.wake](const RequestPtr&) {
    done->store(true, std::memory_order_release);
    wake();
  };
  return flight;
}

/// False when the chunk has to end before this record, which is kept for the next one.
bool Job::add_record(bulk::Record record, Chunk& chunk) {
  const bool ends_job = !record.problem.empty() && !options_.skip_bad_records;
  if (ends_job && !chunk.slots.empty()) {
    held_ = std::move(record);
    return false;
  }
  stop_reading_ = ends_job;
  hash_.add(record.text);
  chunk.bytes += record.text.size();
  Chunk::Slot slot{record.place(), std::move(record.problem), 0};
  if (slot.problem.empty()) {
    if (!chunk.flight) chunk.flight = make_flight();
    slot.input = chunk.flight.request->inputs.size();
    chunk.flight.request->inputs.push_back({std::move(record.text), {}, false});
  }
  chunk.slots.push_back(std::move(slot));
  chunk.bytes_read = reader_.bytes_read();
  return !ends_job;
}

/// False at the end of the input. An error is kept for the writer, after all that was read before it.
bool Job::read_chunk(Chunk& chunk) {
  const std::size_t most_bytes = std::max<std::size_t>(options_.max_bytes_in_flight / 16, 1);
  while (!stop_reading_ && chunk.slots.size() < options_.texts_per_request && chunk.bytes < most_bytes) {
    bulk::Record record;
    if (held_) {
      record = *std::exchange(held_, std::nullopt);
    } else {
      const auto more = reader_.next(record);
      if (!more.ok()) {
        const std::lock_guard lock(mutex_);
        read_error_ = more.error();
      }
      if (!more.ok() || !*more) {
        stop_reading_ = true;
        break;
      }
    }
    if (!add_record(std::move(record), chunk)) break;
  }
  chunk.hash = hash_.hex();
  return !chunk.slots.empty();
}

/// Waits for room. False when the job has been stopped.
bool Job::queue(Chunk chunk) {
  const RequestPtr request = chunk.flight.request;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      const bool fits = texts_in_flight_ + chunk.slots.size() <= options_.max_texts_in_flight &&
                        bytes_in_flight_ + chunk.bytes <= options_.max_bytes_in_flight;
      return hooks_.stop.stop_requested() || chunks_.empty() || fits;
    });
    if (hooks_.stop.stop_requested()) return false;
    texts_in_flight_ += chunk.slots.size();
    bytes_in_flight_ += chunk.bytes;
    chunks_.push_back(std::move(chunk));
  }
  if (request) {
    hooks_.submit(request);
  } else {
    hooks_.wake();
  }
  return true;
}

void Job::read_all() {
  for (;;) {
    Chunk chunk;
    if (hooks_.stop.stop_requested() || !read_chunk(chunk) || !queue(std::move(chunk))) break;
  }
  const std::lock_guard lock(mutex_);
  all_read_ = true;
  hooks_.wake();
}

/// The oldest chunk if it is finished. The deque keeps references valid while the reader adds to its end.
Chunk* Job::finished_front(bool& at_end) {
  const std::lock_guard lock(mutex_);
  at_end = chunks_.empty() && all_read_;
  if (chunks_.empty()) return nullptr;
  Chunk& front = chunks_.front();
  return !front.flight || front.flight.landed() ? &front : nullptr;
}

void Job::pop_front() {
  const std::lock_guard lock(mutex_);
  texts_in_flight_ -= chunks_.front().slots.size();
  bytes_in_flight_ -= chunks_.front().bytes;
  chunks_.pop_front();
  room_.notify_all();
}

bool Job::wait_for(const Flight& flight) {
  while (!flight.landed()) {
    if (hooks_.wait(kWait)) {
      interrupted_ = true;
      hooks_.cancel(flight.request);
    }
  }
  return !interrupted_;
}

Status Job::retry_one_by_one(const Chunk& chunk, std::vector<Flight>& singles) {
  for (const auto& input : chunk.flight.request->inputs) {
    singles.push_back(make_flight());
    singles.back().request->inputs.push_back(input);
    hooks_.submit(singles.back().request);
    if (!wait_for(singles.back())) return Error(ErrorKind::kCancelled, "interrupted");
  }
  return {};
}

/// Why there is no vector for a record; empty when there is one.
std::string problem_of(const Chunk::Slot& slot, const Request* request) {
  if (slot.problem.empty() && request->error) return request->error->message;
  return slot.problem;
}

Status Job::write_slot(const Chunk::Slot& slot, const Request* request, std::size_t input) {
  const std::string problem = problem_of(slot, request);
  if (problem.empty()) {
    if (options_.task == serve::Task::kTokenVectors) return writer_.append_rows(request->token_rows[input]);
    const std::span<const float> vectors = request->vectors;
    return writer_.append(vectors.subspan(input * request->dimensions, request->dimensions));
  }
  ++result_.skipped;
  ++done_.skipped;
  hooks_.report(slot.place + ": " + problem);
  return writer_.append_skipped(problem);
}

Status Job::write_records(const Chunk& chunk, const std::vector<Flight>& singles) {
  const auto request_of = [&](const Chunk::Slot& slot) {
    return singles.empty() || !slot.problem.empty() ? chunk.flight.request.get() : singles[slot.input].request.get();
  };
  // Looked at before the first is written, so that a chunk is written whole or not at all.
  for (const auto& slot : chunk.slots) {
    const std::string problem = problem_of(slot, request_of(slot));
    if (problem.empty() || options_.skip_bad_records) continue;
    return Error(ErrorKind::kCorrupt, slot.place + ": " + problem + " (--on-error skip goes on without such records)",
                 slot.place);
  }
  for (const auto& slot : chunk.slots) {
    WEIR_RETURN_IF_ERROR(write_slot(slot, request_of(slot), singles.empty() ? slot.input : 0));
  }
  return {};
}

Status Job::write_chunk(const Chunk& chunk) {
  std::vector<Flight> singles;
  if (chunk.flight && chunk.flight.request->error) {
    if (interrupted_) return Error(ErrorKind::kCancelled, "interrupted");
    WEIR_RETURN_IF_ERROR(retry_one_by_one(chunk, singles));
  }
  WEIR_RETURN_IF_ERROR(write_records(chunk, singles));
  if (singles.empty() && chunk.flight) result_.tokens += chunk.flight.request->tokens;
  for (const auto& single : singles) result_.tokens += single.request->error ? 0 : single.request->tokens;
  result_.records += chunk.slots.size();
  done_.records += chunk.slots.size();
  done_.input_sha256 = chunk.hash;
  hooks_.progress(result_.records, result_.tokens, chunk.bytes_read);
  return {};
}

/// Writes what is finished, in order, up to the first chunk that is not.
Status Job::write_finished() {
  for (;;) {
    bool at_end = false;
    Chunk* chunk = finished_front(at_end);
    if (chunk == nullptr) return {};
    WEIR_RETURN_IF_ERROR(write_chunk(*chunk));
    pop_front();
    if (Clock::now() >= next_checkpoint_) WEIR_RETURN_IF_ERROR(checkpoint());
  }
}

Status Job::checkpoint() {
  next_checkpoint_ = Clock::now() + options_.checkpoint_interval;
  return hooks_.checkpoint(done_);
}

void Job::cancel_all() {
  std::vector<Flight> flights;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& chunk : chunks_) {
      if (chunk.flight) flights.push_back(chunk.flight);
    }
  }
  for (const auto& flight : flights) hooks_.cancel(flight.request);
  for (const auto& flight : flights) {
    while (!flight.landed()) hooks_.wait(kWait);
  }
}

Status Job::read_and_write() {
  std::thread reading([this] { read_all(); });
  Status status;
  bool at_end = false;
  while (!interrupted_) {
    status = write_finished();
    if (!status.ok() || (finished_front(at_end) == nullptr && at_end)) break;
    interrupted_ = hooks_.wait(kWait) || interrupted_;
  }
  hooks_.stop.request_stop();
  {
    const std::lock_guard lock(mutex_);
    room_.notify_all();
  }
  reading.join();
  return status;
}

EmbedJobResult Job::run() {
  next_checkpoint_ = Clock::now() + options_.checkpoint_interval;
  Status status = read_and_write();
  cancel_all();
  if (interrupted_) status = write_finished();  // up to the first that was cancelled
  result_.interrupted = interrupted_;
  if (!status.ok()) {
    const bool by_the_user = interrupted_ && status.error().kind == ErrorKind::kCancelled;
    if (!by_the_user) result_.error = status.error();
  } else if (!interrupted_) {
    result_.error = read_error_;
  }
  const Status saved = checkpoint();
  if (!saved.ok() && !result_.error) result_.error = saved.error();
  return result_;
}

}  // namespace

EmbedJobResult run_embed_job(bulk::RecordReader& reader, bulk::VectorWriter& writer, const EmbedJobOptions& options,
                             EmbedJobHooks& hooks, const bulk::Journal& start, bulk::RecordHash hash) {
  return Job(reader, writer, options, hooks, start, std::move(hash)).run();
}

}  // namespace weir::cli
