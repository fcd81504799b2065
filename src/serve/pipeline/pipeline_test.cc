// The whole path in one process, with a real tokenizer and ONNX Runtime: the place to start with a debugger.
#include "serve/pipeline/pipeline.h"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <future>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "bundle/bundle.h"
#include "serve/pipeline/lookup_bundle_for_test.h"

namespace weir::serve {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

const Deadline kSoon = Deadline::after(hours(1));

/// A folder of the test's own, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_pipeline_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A request and the moment it is finished.
struct Sent {
  RequestPtr request;
  std::shared_future<void> finished;

  const Sent& wait() const {
    finished.wait();
    return *this;
  }
  bool ok() const { return !request->error.has_value(); }
  ErrorKind kind() const { return request->error ? request->error->kind : ErrorKind::kInternal; }
};

class PipelineTest : public ::testing::Test {
 protected:
  PipelineOptions options_for(const LookupModel& model) {
    const std::string folder = folder_.path() + "/" + model.name;
    std::filesystem::create_directory(folder);
    EXPECT_TRUE(write_lookup_bundle(folder, model).ok());
    model_ = model;
    PipelineOptions options;
    options.models = {{"", folder}};
    return options;
  }
  void start(const PipelineOptions& options) {
    auto started = Pipeline::start(options, registry_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    pipeline_ = std::move(started).value();
    const Status loaded = pipeline_->wait_loaded();
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    ASSERT_TRUE(pipeline_->ready());
  }

  RequestPtr make(const std::vector<std::string>& texts) {
    auto request = std::make_shared<Request>();
    for (const auto& text : texts) request->inputs.push_back({text, {}, false});
    return request;
  }
  RequestPtr with_deadline(const std::vector<std::string>& texts, Clock::duration after) {
    auto request = make(texts);
    request->arrived = Clock::now();
    request->deadline = Deadline::after(after, request->arrived);
    return request;
  }
  Sent send(const RequestPtr& request) {
    auto promise = std::make_shared<std::promise<void>>();
    Sent sent{request, promise->get_future().share()};
    request->done = [promise, this](const RequestPtr&) {
      ++finished_;
      promise->set_value();
    };
    pipeline_->submit(request);
    return sent;
  }
  Sent send(const std::vector<std::string>& texts) { return send(make(texts)); }

  void expect_vectors(const Request& request) const {
    ASSERT_FALSE(request.error.has_value()) << request.error->message;
    ASSERT_EQ(request.dimensions, model_.hidden);
    ASSERT_EQ(request.vectors.size(), request.inputs.size() * model_.hidden);
    for (std::size_t row = 0; row < request.inputs.size(); ++row) {
      const std::vector<float> expected = lookup_vector(model_, *tokenizer_, request.inputs[row].text);
      for (std::size_t i = 0; i < model_.hidden; ++i) {
        ASSERT_NEAR(request.vectors[row * model_.hidden + i], expected[i], 1e-6) << "row " << row;
      }
    }
  }
  void expect_idle() const {
    EXPECT_EQ(pipeline_->load().concurrency, 0u);
    EXPECT_EQ(pipeline_->load().waiting, 0u);
  }
  std::string metrics() const { return registry_.text(); }

  TemporaryFolder folder_;
  metrics::Registry registry_;
  std::unique_ptr<tokenizers::Tokenizer> tokenizer_ = lookup_tokenizer();
  LookupModel model_;
  std::atomic<int> finished_{0};
  std::unique_ptr<Pipeline> pipeline_;  // last: its threads use the above
};

/// Long enough that the one instance is busy with it while the test goes on.
std::vector<std::string> many_texts(std::size_t count = 400) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = "the river";
    for (std::size_t word = 0; word < 10 + i % 40; ++word) text += " water";
    texts.push_back(text);
  }
  return texts;
}

TEST_F(PipelineTest, ARequestGoesAllTheWay) {
  start(options_for(LookupModel{}));
  const Sent sent = send({"the river carries snow water in spring", "is the gate open ?", "water"}).wait();
  expect_vectors(*sent.request);
  EXPECT_GT(sent.request->tokens, 3u * 3u);
  EXPECT_GT(sent.request->timings.inference.count(), 0);
  expect_idle();
  EXPECT_NE(metrics().find("weir_requests_total{model=\"lookup\",outcome=\"ok\"} 1"), std::string::npos) << metrics();
  EXPECT_NE(metrics().find("weir_texts_total{model=\"lookup\"} 3"), std::string::npos);
}

TEST_F(PipelineTest, TheTimeOfReadingABodyIsNoWaiting) {
  PipelineOptions options = options_for(LookupModel{});
  options.max_wait = hours(24);
  start(options);
  const RequestPtr request = make({"water"});
  request->arrived = Clock::now() - hours(1);
  ASSERT_TRUE(send(request).wait().ok()) << request->error->message;
  EXPECT_LT(request->timings.waiting, hours(1));
}

TEST_F(PipelineTest, ManyTextsAreSplitOverBatchesAndInstances) {
  PipelineOptions options = options_for(LookupModel{});
  options.instances = 3;
  options.max_batch_requests = 7;
  start(options);
  expect_vectors(*send(many_texts(500)).wait().request);
}

TEST_F(PipelineTest, OptionsOfTheRequest) {
  start(options_for(LookupModel{}));
  const auto request = make({"water"});
  request->options.dimensions = 4;
  send(request).wait();
  ASSERT_EQ(request->vectors.size(), 4u);
  double squares = 0;
  for (const float value : request->vectors) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares, 1.0, 1e-6);

  const auto too_many = make({"water"});
  too_many->options.dimensions = 17;
  EXPECT_EQ(send(too_many).wait().kind(), ErrorKind::kInvalidArgument);

  const auto query = make({"water"});
  query->options.prompt_name = "query";
  send(query).wait();
  const auto expected = lookup_vector(model_, *tokenizer_, "query : water");
  EXPECT_NEAR(query->vectors[3], expected[3], 1e-6);
}

TEST_F(PipelineTest, TokenizeEndsAfterItsStage) {
  start(options_for(LookupModel{}));
  const auto request = make({"is the gate open ?"});
  request->task = Task::kTokenize;
  send(request).wait();
  const auto expected = tokenizer_->encode("is the gate open ?", {.with_offsets = true, .max_tokens = {}}).value();
  EXPECT_EQ(request->encodings[0].ids, expected.ids);
  EXPECT_EQ(request->encodings[0].offsets, expected.offsets);
  EXPECT_TRUE(request->vectors.empty());
  expect_idle();
}

TEST_F(PipelineTest, WhatIsWrongIsToldAndCostsNoPlace) {
  start(options_for(LookupModel{}));
  EXPECT_EQ(send(std::vector<std::string>{}).wait().kind(), ErrorKind::kEmptyInput);
  EXPECT_EQ(send({"a", ""}).wait().kind(), ErrorKind::kEmptyInput);
  EXPECT_EQ(send(std::vector<std::string>(3000, "a")).wait().kind(), ErrorKind::kTooManyInputs);
  const auto unknown = make({"water"});
  unknown->model = "unheard-of";
  const Sent sent = send(unknown).wait();
  EXPECT_EQ(sent.kind(), ErrorKind::kNotFound);
  EXPECT_NE(unknown->error->message.find("'lookup'"), std::string::npos) << unknown->error->message;
  EXPECT_EQ(metrics().find("unheard-of"), std::string::npos) << "clients must not make labels";
  expect_idle();
  EXPECT_TRUE(send({"water"}).wait().ok());
}

TEST_F(PipelineTest, NaNFailsOnlyItsOwnRequest) {
  start(options_for(slow_lookup_model()));
  const Sent busy = send(many_texts(8));  // so that the next three wait and share a batch
  const Sent before = send({"the river runs"});
  const Sent poisoned = send({"the night runs"});
  const Sent after = send({"the river turns"});
  EXPECT_EQ(poisoned.wait().kind(), ErrorKind::kBackend);
  EXPECT_NE(poisoned.request->error->message.find("input"), std::string::npos);
  expect_vectors(*before.wait().request);
  expect_vectors(*after.wait().request);
  expect_vectors(*busy.wait().request);
}

TEST_F(PipelineTest, RefusesAtOnceWhenFullAndServesTheRest) {
  PipelineOptions options = options_for(slow_lookup_model());
  options.permits = 2;
  options.waiting_room = 3;
  start(options);
  std::vector<Sent> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(send(many_texts(24)));
  const Sent refused = send({"water"});
  ASSERT_TRUE(refused.request->is_finished()) << "refused before submit() returns";
  EXPECT_EQ(refused.kind(), ErrorKind::kOverloaded);
  EXPECT_EQ(pipeline_->load().concurrency, 2u);
  EXPECT_EQ(pipeline_->load().waiting, 3u);
  EXPECT_NE(metrics().find("weir_admission_concurrency 2"), std::string::npos) << metrics();
  EXPECT_NE(metrics().find("weir_admission_waiting 3"), std::string::npos);
  EXPECT_NE(metrics().find("weir_requests_failed_total{stage=\"admission\",reason=\"overloaded\"} 1"),
            std::string::npos)
      << metrics();
  for (const Sent& sent : taken) expect_vectors(*sent.wait().request);
  expect_idle();
}

TEST_F(PipelineTest, ACancelledRequestFreesItsPlaceAtOnceInEveryStage) {
  PipelineOptions options = options_for(slow_lookup_model());
  options.permits = 2;
  options.waiting_room = 1;
  start(options);
  const Sent computing = send(many_texts());
  const Sent queued = send(many_texts());
  const Sent waiting = send(many_texts());
  EXPECT_EQ(pipeline_->load().waiting, 1u);
  pipeline_->cancel(waiting.request);
  EXPECT_EQ(pipeline_->load().waiting, 0u);
  pipeline_->cancel(queued.request);
  EXPECT_EQ(pipeline_->load().concurrency, 1u);
  pipeline_->cancel(computing.request);
  EXPECT_EQ(pipeline_->load().concurrency, 0u);
  for (const Sent* sent : {&computing, &queued, &waiting}) EXPECT_EQ(sent->wait().kind(), ErrorKind::kCancelled);
  pipeline_->cancel(computing.request);
  EXPECT_EQ(finished_, 3) << "done() is called once";
  expect_vectors(*send({"water"}).wait().request);
}

TEST_F(PipelineTest, TheDeadlineHoldsInTheWaitingRoom) {
  PipelineOptions options = options_for(slow_lookup_model());
  options.permits = 1;
  start(options);
  const Sent busy = send(many_texts(2000));
  const Sent waiting = send(with_deadline({"water"}, milliseconds(100)));
  EXPECT_EQ(waiting.wait().kind(), ErrorKind::kTimeout);
  EXPECT_TRUE(waiting.request->deadline.expired()) << "not before its time";
  EXPECT_EQ(waiting.request->stage, Stage::kAdmission);
  EXPECT_EQ(pipeline_->load().waiting, 0u);
  pipeline_->cancel(busy.request);
  busy.wait();
  expect_idle();
}

TEST_F(PipelineTest, TheDeadlineHoldsWhileOthersAndItselfAreComputed) {
  start(options_for(slow_lookup_model()));
  const Sent computing = send(with_deadline(many_texts(2000), milliseconds(300)));
  const Sent queued = send(with_deadline(many_texts(2000), milliseconds(300)));
  for (const Sent* late : {&computing, &queued}) {
    EXPECT_EQ(late->wait().kind(), ErrorKind::kTimeout);
    EXPECT_TRUE(late->request->deadline.expired()) << "not before its time";
  }
  expect_idle();
  expect_vectors(*send({"water"}).wait().request);
}

TEST_F(PipelineTest, AnExpiredRequestIsNotStarted) {
  start(options_for(LookupModel{}));
  const auto request = make({"water"});
  request->arrived = Clock::now() - milliseconds(10);
  request->deadline = Deadline(request->arrived + milliseconds(5));
  EXPECT_EQ(send(request).wait().kind(), ErrorKind::kTimeout);
  expect_idle();
}

TEST_F(PipelineTest, TheLongestWaitEndsARequestInTheWaitingRoom) {
  PipelineOptions options = options_for(slow_lookup_model());
  options.permits = 1;
  options.max_wait = milliseconds(200);
  start(options);
  const auto busy = make(many_texts(2000));
  busy->arrived = Clock::now() + hours(1);  // so that the limit is not its own
  const Sent holder = send(busy);
  const Sent waiting = send({"water"});
  EXPECT_EQ(waiting.wait().kind(), ErrorKind::kTimeout);
  EXPECT_NE(waiting.request->error->message.find("--max-wait"), std::string::npos);
  EXPECT_FALSE(busy->is_finished());
  pipeline_->cancel(busy);
  holder.wait();
}

TEST_F(PipelineTest, StopLetsAdmittedRequestsFinish) {
  start(options_for(slow_lookup_model()));
  std::vector<Sent> sent;
  for (int i = 0; i < 3; ++i) sent.push_back(send(many_texts(20)));
  EXPECT_TRUE(pipeline_->stop(kSoon));
  EXPECT_FALSE(pipeline_->ready());
  for (const Sent& finished : sent) expect_vectors(*finished.request);
  EXPECT_EQ(send({"water"}).wait().kind(), ErrorKind::kUnavailable);
}

TEST_F(PipelineTest, StopFailsWhatIsLeftAtItsDeadline) {
  PipelineOptions options = options_for(slow_lookup_model());
  options.permits = 2;
  start(options);
  std::vector<Sent> sent;
  for (int i = 0; i < 4; ++i) sent.push_back(send(many_texts(2000)));
  EXPECT_FALSE(pipeline_->stop(Deadline(Clock::now())));
  for (const Sent& failed : sent) EXPECT_EQ(failed.wait().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(finished_, 4);
}

TEST_F(PipelineTest, DestroyingItWhileLoadedFailsWhatIsLeft) {
  start(options_for(slow_lookup_model()));
  const Sent sent = send(many_texts(2000));
  pipeline_.reset();
  EXPECT_EQ(sent.wait().kind(), ErrorKind::kUnavailable);
}

TEST_F(PipelineTest, AModelThatFailsItsSelfTestIsNotServed) {
  LookupModel wrong;
  wrong.name = "wrong";
  wrong.wrong_golden = true;
  PipelineOptions options = options_for(wrong);
  options.models.push_back(options_for(LookupModel{}).models[0]);
  auto started = Pipeline::start(options, registry_);
  ASSERT_TRUE(started.ok()) << started.error().message;
  pipeline_ = std::move(started).value();
  EXPECT_FALSE(pipeline_->wait_loaded().ok());
  EXPECT_FALSE(pipeline_->ready());
  EXPECT_EQ(pipeline_->state("wrong"), ModelState::kFailed);
  EXPECT_EQ(pipeline_->state("lookup"), ModelState::kReady);
  EXPECT_EQ(send({"water"}).wait().kind(), ErrorKind::kUnavailable);
  const auto other = make({"water"});
  other->model = "lookup";
  expect_vectors(*send(other).wait().request);
}

TEST_F(PipelineTest, ATokenizerOfAnotherModelIsNotServed) {
  const PipelineOptions options = options_for(LookupModel{});
  const std::string folder = options.models[0].folder;
  bundle::Manifest manifest = bundle::load(folder)->manifest;
  manifest.vocabulary_size = 3;
  ASSERT_TRUE(bundle::write_manifest(folder, manifest).ok());
  auto started = Pipeline::start(options, registry_);
  ASSERT_TRUE(started.ok()) << started.error().message;
  pipeline_ = std::move(started).value();
  const Status loaded = pipeline_->wait_loaded();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().where, folder + "/tokenizer.json");
}

TEST_F(PipelineTest, ANameThatIsUnknownIsNotRepeatedWhole) {
  start(options_for(LookupModel{}));
  const RequestPtr request = make({"water"});
  request->model = std::string(1'000'000, 'x');
  EXPECT_EQ(send(request).wait().kind(), ErrorKind::kNotFound);
  EXPECT_LT(request->error->message.size(), 1000u);
}

TEST_F(PipelineTest, WrongOptionsNameTheFlag) {
  PipelineOptions options;
  EXPECT_EQ(Pipeline::start(options, registry_).error().where, "--model");
  options = options_for(LookupModel{});
  options.models.push_back(options.models[0]);
  EXPECT_EQ(Pipeline::start(options, registry_).error().where, "--model") << "a name twice";
  options.models.pop_back();
  options.permits = 0;
  EXPECT_EQ(Pipeline::start(options, registry_).error().where, "--permits");
  options.permits = 1;
  options.models[0].folder += "/missing";
  EXPECT_EQ(Pipeline::start(options, registry_).error().kind, ErrorKind::kNotFound);
}

TEST_F(PipelineTest, ViewsOfTheModels) {
  PipelineOptions options = options_for(LookupModel{});
  options.models[0].name = "renamed";
  options.max_tokens = 5;
  start(options);
  ASSERT_EQ(pipeline_->models().size(), 1u);
  const auto view = pipeline_->find("");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->name, "renamed");
  EXPECT_EQ((*view)->max_tokens, 5u);
  EXPECT_EQ((*view)->created_unix_s, 1769860800);
  ASSERT_NE((*view)->tokenizer, nullptr);
  EXPECT_FALSE(pipeline_->find("lookup").ok());
  EXPECT_EQ(send({"the river carries snow water"}).wait().request->encodings[0].ids.size(), 5u);
}

/// Many clients at once, more than there is room for, some of which leave or have little time. Each ends once; who is
/// answered gets the right vectors; afterwards nothing is held.
TEST_F(PipelineTest, OverloadWithCancellationsAndDeadlines) {
  PipelineOptions options = options_for(LookupModel{});
  options.permits = 8;
  options.waiting_room = 4;
  options.instances = 2;
  start(options);
  constexpr int kClients = 8;
  constexpr int kRequests = 60;
  std::atomic<int> answered{0};
  const auto client = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRequests; ++i) {
      std::vector<Sent> burst;
      for (int k = 0; k < 4; ++k) {
        const auto request = make(many_texts(1 + random() % 12));
        request->arrived = Clock::now();
        if (random() % 4 == 0) request->deadline = Deadline::after(std::chrono::microseconds(random() % 3000));
        burst.push_back(send(request));
      }
      if (random() % 3 == 0) pipeline_->cancel(burst[random() % burst.size()].request);
      for (const Sent& sent : burst) {
        sent.wait();
        if (sent.ok()) {
          ++answered;
          expect_vectors(*sent.request);
        } else {
          const ErrorKind kind = sent.kind();
          EXPECT_TRUE(kind == ErrorKind::kOverloaded || kind == ErrorKind::kTimeout || kind == ErrorKind::kCancelled)
              << sent.request->error->message;
        }
      }
      EXPECT_LE(pipeline_->load().concurrency, 8u);
      EXPECT_LE(pipeline_->load().waiting, 4u);
    }
  };
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < kClients; ++i) clients.emplace_back(client, i + 1);
  for (auto& thread : clients) thread.join();
  EXPECT_EQ(finished_, kClients * kRequests * 4);
  EXPECT_GT(answered, 0);
  expect_idle();
  expect_vectors(*send({"water"}).wait().request);
}

}  // namespace
}  // namespace weir::serve
