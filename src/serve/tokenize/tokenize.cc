#include "serve/tokenize/tokenize.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "serve/tokenize/checks.h"
#include "serve/tokenize/encode.h"

namespace weir::serve::tokenize {

/// A request here. Counts itself into the stage's depth for as long as it lives.
struct TokenizeStage::Job {
  Job(RequestPtr r, std::atomic<std::size_t>& d) : request(std::move(r)), depth(d) { ++depth; }
  ~Job() { --depth; }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const RequestPtr request;
  std::atomic<std::size_t>& depth;
  bool planned = false;
  std::array<std::size_t, 2> cursor{};  // by lane: the first input not yet taken
  std::atomic<std::size_t> left{0};     // inputs not yet encoded
  std::atomic<std::size_t> listed{0};   // tokens that the answer lists
};

TokenizeStage::TokenizeStage(Options options, std::function<void(const RequestPtr&)> next)
    : options_(std::move(options)), next_(std::move(next)) {
  for (int i = 0; i < std::max(1, options_.threads); ++i) threads_.emplace_back([this] { work(kShort); });
  threads_.emplace_back([this] { work(kLong); });
}

TokenizeStage::~TokenizeStage() { stop(); }

void TokenizeStage::submit(const RequestPtr& request) {
  const auto job = std::make_shared<Job>(request, depth_);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queues_[kShort].push_back(job);
  }
  wake_[kShort].notify_one();
}

void TokenizeStage::stop() {
  std::array<std::deque<JobPtr>, 2> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queues_);
  }
  for (auto& wake : wake_) wake.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool TokenizeStage::belongs(const Input& input, Lane lane) const {
  return (input.bytes() > options_.slice_bytes) == (lane == kLong);
}

std::size_t TokenizeStage::next_input(const Job& job, Lane lane, std::size_t from) const {
  const auto& inputs = job.request->inputs;
  while (from < inputs.size() && !belongs(inputs[from], lane)) ++from;
  return from;
}

void TokenizeStage::work(Lane lane) {
  while (true) {
    Slice slice;
    {
      std::unique_lock lock(mutex_);
      wake_[lane].wait(lock, [&] { return stopping_ || !queues_[lane].empty(); });
      if (stopping_) return;
      slice = take_slice(lane);
    }
    if (!slice.job->planned) {
      plan(slice.job);
    } else {
      encode(slice);
    }
  }
}

/// Takes the first job's next slice and sends the job to the end of the queue if there is more of it. A job that has
/// not been planned comes back whole. With the lock held.
TokenizeStage::Slice TokenizeStage::take_slice(Lane lane) {
  std::deque<JobPtr>& queue = queues_[lane];
  JobPtr job = std::move(queue.front());
  queue.pop_front();
  Slice slice{job, lane, 0, 0};
  if (!job->planned || job->request->is_finished()) return slice;

  const auto& inputs = job->request->inputs;
  slice.begin = next_input(*job, lane, job->cursor[lane]);
  std::size_t bytes = 0;
  std::size_t next = slice.begin;
  while (next < inputs.size() && bytes < options_.slice_bytes) {
    bytes += inputs[next].bytes();
    slice.end = next + 1;
    next = next_input(*job, lane, next + 1);
  }
  job->cursor[lane] = next;
  if (next < inputs.size()) {
    queue.push_back(std::move(job));
    wake_[lane].notify_one();
  }
  return slice;
}

/// Checks the request and queues it in the lanes that its inputs need.
void TokenizeStage::plan(const JobPtr& job) {
  Request& request = *job->request;
  if (request.is_finished()) return;
  if (Status status = check(request, options_.max_inputs); !status.ok()) {
    finish(job->request, status.error());
    return;
  }
  request.encodings.resize(request.inputs.size());
  if (takes_windows(request.task, request.view->manifest)) request.windows.resize(request.inputs.size());
  if (request.task == Task::kDecode) request.decoded.resize(request.inputs.size());
  job->left = request.inputs.size();
  job->planned = true;
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  for (const Lane lane : {kShort, kLong}) {
    if (next_input(*job, lane, 0) == request.inputs.size()) continue;
    queues_[lane].push_back(job);
    wake_[lane].notify_one();
  }
}

/// A token takes some sixty bytes of an answer that lists it, so such answers end at a number of tokens.
Status TokenizeStage::encode_one(Job& job, std::size_t index) const {
  Request& request = *job.request;
  WEIR_RETURN_IF_ERROR(encode_input(request, index, options_.long_text));
  if (request.task != Task::kTokenize) return {};
  const std::size_t tokens = request.encodings[index].ids.size();
  if (job.listed.fetch_add(tokens) + tokens <= options_.max_listed_tokens) return {};
  const std::string field(request.inputs_field);
  return Error(ErrorKind::kBodyTooLarge,
               field + ": more than " + std::to_string(options_.max_listed_tokens) +
                   " tokens, the most that an answer lists; send less text, or raise --max-answer-tokens",
               field);
}

void TokenizeStage::encode(const Slice& slice) {
  Request& request = *slice.job->request;
  std::size_t done = 0;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    if (!belongs(request.inputs[i], slice.lane)) continue;
    if (request.is_finished()) return;
    if (Status status = encode_one(*slice.job, i); !status.ok()) {
      finish(slice.job->request, status.error());
      return;
    }
    ++done;
  }
  if (done > 0 && slice.job->left.fetch_sub(done, std::memory_order_acq_rel) == done) complete(slice.job->request);
}

namespace {

/// Windows after the inputs' own encodings, so that the stages behind see texts like all others.
void spread_windows(Request& request) {
  const auto is_empty = [](const auto& windows) { return windows.empty(); };
  if (std::all_of(request.windows.begin(), request.windows.end(), is_empty)) return;
  request.input_of.resize(request.inputs.size());
  std::iota(request.input_of.begin(), request.input_of.end(), std::uint32_t{0});
  for (std::uint32_t input = 0; input < request.windows.size(); ++input) {
    for (tokenizers::Encoding& window : request.windows[input]) {
      request.encodings.push_back(std::move(window));
      request.input_of.push_back(input);
    }
  }
  request.windows.clear();
}

}  // namespace

void TokenizeStage::complete(const RequestPtr& request) {
  spread_windows(*request);
  std::size_t tokens = 0;
  for (const auto& encoding : request->encodings) tokens += encoding.ids.size();
  request->tokens = tokens;
  request->tokenized = options_.now();
  request->timings.tokenize = request->tokenized - request->admitted;
  next_(request);
}

}  // namespace weir::serve::tokenize
