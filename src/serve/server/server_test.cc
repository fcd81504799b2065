// The server over real sockets, on a pipeline that is a stand-in.
#include "serve/server/server.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "serve/front/http/test_client.h"
#include "serve/server/fake_backend.h"

namespace weir::serve::server {
namespace {

using front::http::TestClient;
using front::http::TestResponse;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string get(std::string_view path, std::string_view fields = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(fields) + "\r\n";
}

std::string post(std::string_view path, std::string_view body, std::string_view fields = {}) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class ServerTest : public testing::Test {
 protected:
  void start() {
    options_.http.port = 0;
    options_.version = "1.2.3";
    auto started = Server::start(options_, std::make_unique<FakeBackend>(pipeline_), registry_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }

  /// One request on a connection of its own.
  TestResponse ask(std::string_view bytes) {
    TestClient client(server_->port());
    const auto response = client.ask(bytes);
    EXPECT_TRUE(response) << bytes.substr(0, 200);
    return response.value_or(TestResponse());
  }

  ServerOptions options_;
  metrics::Registry registry_;
  FakePipeline pipeline_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersOpenAiEmbeddings) {
  start();
  const TestResponse response = ask(post("/v1/embeddings", R"({"model":"org/tiny","input":["ab","c"]})"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Type"), "application/json");
  EXPECT_EQ(response.body, R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,0.5,2]},)"
                           R"({"object":"embedding","index":1,"embedding":[2,0.5,1]}],"model":"org/tiny",)"
                           R"("usage":{"prompt_tokens":14,"total_tokens":14}})");
  const TestResponse base64 = ask(post("/v1/embeddings", R"({"input":"ab","encoding_format":"base64"})"));
  EXPECT_TRUE(contains(base64.body, R"("embedding":"AACAPwAAAD8AAABA")")) << base64.body;
}

TEST_F(ServerTest, AnswersTeiEmbedWithItsTimings) {
  start();
  const TestResponse response = ask(post("/embed", R"({"inputs":"aé"})"));
  EXPECT_EQ(response.body, "[[1,0.5,3]]");
  EXPECT_EQ(response.field("x-compute-tokens"), "7");
  EXPECT_EQ(response.field("x-compute-characters"), "2");
  EXPECT_EQ(response.field("x-tokenization-time"), "4");
  EXPECT_EQ(response.field("x-queue-time"), "5");
  EXPECT_EQ(response.field("x-inference-time"), "5");
  EXPECT_FALSE(response.field("x-total-time").empty());
  EXPECT_FALSE(response.field("x-compute-time").empty());
  EXPECT_EQ(pipeline_.last()->options.normalize, true);
}

TEST_F(ServerTest, PassesWhatTheClientAskedFor) {
  start();
  ask(post("/v1/embeddings", R"({"input":[[3,4]],"dimensions":2})",
           "X-Request-ID: my-id\r\nX-Request-Timeout-Ms: 250\r\n"));
  const RequestPtr request = pipeline_.last();
  EXPECT_EQ(request->id, "my-id");
  EXPECT_EQ(request->task, Task::kEmbed);
  EXPECT_EQ(request->options.dimensions, 2u);
  EXPECT_EQ(request->inputs[0].ids, (std::vector<std::int32_t>{3, 4}));
  EXPECT_EQ(request->deadline.at() - request->arrived, milliseconds(250));
  ask(post("/v1/embeddings", R"({"input":"a"})", "X-Request-Timeout-Ms: 4000000000\r\n"));
  EXPECT_EQ(pipeline_.last()->deadline.at() - pipeline_.last()->arrived, seconds(60));
}

TEST_F(ServerTest, RefusesABadTimeoutByName) {
  start();
  const TestResponse response = ask(post("/v1/embeddings", R"({"input":"a"})", "X-Request-Timeout-Ms: soon\r\n"));
  EXPECT_EQ(response.status, 400);
  EXPECT_TRUE(contains(response.body, R"("param":"X-Request-Timeout-Ms")")) << response.body;
}

TEST_F(ServerTest, RefusesBadBodiesAndKeepsServing) {
  start();
  struct Case {
    std::string path;
    std::string body;
    int status;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"/v1/embeddings", "{not json", 400, "not valid JSON"},
      {"/v1/embeddings", "{\"input\":\"\xFF\"}", 400, "not valid UTF-8"},
      {"/v1/embeddings", "", 400, "the body is empty"},
      {"/v1/embeddings", R"({"input":[]})", 400, R"("param":"input")"},
      {"/v1/embeddings", R"({"input":["a",""]})", 400, R"("param":"input[1]")"},
      {"/v1/embeddings", R"({"input":{}})", 400, R"("type":"invalid_request_error")"},
      {"/v1/embeddings", R"({"input":"a","model":"nope"})", 404, R"("code":"model_not_found")"},
      {"/embed", R"({"inputs":3})", 422, R"("error_type":"Validation")"},
      {"/embed", R"({"inputs":[]})", 400, R"("error_type":"Empty")"},
      {"/embed", "nonsense", 400, R"("error_type":"Validation")"},
      {"/tokenize", R"({"inputs":[1]})", 422, "inputs[0]"},
  };
  TestClient client(server_->port());
  for (const Case& c : cases) {
    const auto response = client.ask(post(c.path, c.body));
    ASSERT_TRUE(response) << c.body;
    EXPECT_EQ(response->status, c.status) << c.body;
    EXPECT_TRUE(contains(response->body, c.says)) << response->body;
    EXPECT_FALSE(response->field("X-Request-ID").empty());
  }
  EXPECT_EQ(client.ask(post("/embed", R"({"inputs":"a"})"))->status, 200);
}

TEST_F(ServerTest, AnswersABodyOverTheLimitAndServesOn) {
  start();
  TestClient client(server_->port());
  const std::string body = R"({"input":")" + std::string(10'000'000, 'x') + R"("})";
  std::thread sender([&] { client.send(post("/v1/embeddings", body)); });
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  EXPECT_TRUE(contains(response->body, R"("code":"request_too_large")")) << response->body;
  EXPECT_EQ(response->field("Connection"), "close");
  sender.join();
  EXPECT_EQ(ask(get("/health/live")).status, 200);
}

TEST_F(ServerTest, TakesATextOfAMillionCharacters) {
  start();
  const TestResponse response = ask(post("/embed", R"({"inputs":")" + std::string(1'000'000, 'x') + R"("})"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "[[1,0.5,1e+06]]");
}

TEST_F(ServerTest, AnswersLargeResultsWhole) {
  options_.pipeline.max_inputs = 20000;
  start();
  std::string body = R"({"inputs":["x")";
  for (int i = 1; i < 20000; ++i) body += R"(,"x")";
  const TestResponse response = ask(post("/embed", body + "]}"));
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.body.ends_with(",[20000,0.5,1]]"));
}

TEST_F(ServerTest, PutsTheStatusesOfThePipelinesErrors) {
  start();
  pipeline_.set_load({.concurrency = 200, .waiting = 100, .retry_after_s = 3});
  struct Case {
    ErrorKind kind;
    int openai;
    int tei;
    bool retry;
  };
  for (const Case& c :
       {Case{ErrorKind::kOverloaded, 429, 429, true}, Case{ErrorKind::kTimeout, 504, 504, true},
        Case{ErrorKind::kUnavailable, 503, 503, true}, Case{ErrorKind::kTextTooLong, 422, 422, false},
        Case{ErrorKind::kBackend, 500, 424, false}, Case{ErrorKind::kInvalidArgument, 400, 422, false}}) {
    pipeline_.set_failure(Error(c.kind, "why", "input"));
    const TestResponse openai = ask(post("/v1/embeddings", R"({"input":"a"})"));
    EXPECT_EQ(openai.status, c.openai);
    EXPECT_TRUE(contains(openai.body, R"("message":"why")"));
    EXPECT_EQ(openai.field("Retry-After"), c.retry ? "3" : "");
    EXPECT_EQ(openai.field("X-Current-Concurrency"), "200");
    EXPECT_EQ(openai.field("X-Waiting-Queue-Size"), "100");
    EXPECT_EQ(ask(post("/embed", R"({"inputs":"a"})")).status, c.tei);
  }
}

TEST_F(ServerTest, RefusesOverloadWith503IfConfigured) {
  options_.errors.overloaded_status = 503;
  start();
  pipeline_.set_failure(Error(ErrorKind::kOverloaded, "full"));
  EXPECT_EQ(ask(post("/v1/embeddings", R"({"input":"a"})")).status, 503);
}

TEST_F(ServerTest, KnowsItsRoutesAndMethods) {
  start();
  const TestResponse unknown = ask(get("/nowhere"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_TRUE(contains(unknown.body, "POST /v1/embeddings")) << unknown.body;
  EXPECT_EQ(ask(get("/v1/models/")).status, 404);
  const TestResponse method = ask("DELETE /embed HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.field("Allow"), "POST, OPTIONS");
  EXPECT_EQ(ask("BREW /health HTTP/1.1\r\nHost: x\r\n\r\n").status, 405);
  const TestResponse options = ask("OPTIONS /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.field("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(options.field("Content-Length"), "");
  EXPECT_EQ(ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").status, 204);
  TestClient client(server_->port());
  ASSERT_TRUE(client.send("HEAD /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(client.read(false)->status, 200);
  EXPECT_EQ(client.ask(get("/health/live"))->body, R"({"status":"live"})");
}

TEST_F(ServerTest, RefusesMediaTypesThatAreNotJson) {
  start();
  EXPECT_EQ(ask("POST /embed HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\n{}").status,
            415);
  EXPECT_EQ(ask("POST /embed HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"inputs\":\"a\"}").status, 200);
}

TEST_F(ServerTest, ListsItsModels) {
  start();
  EXPECT_EQ(ask(get("/v1/models")).body,
            R"({"object":"list","data":[{"id":"org/tiny","object":"model","created":1700000000,"owned_by":"weir"}]})");
  EXPECT_EQ(ask(get("/v1/models/org/tiny")).status, 200);
  EXPECT_EQ(ask(get("/v1/models/org%2Ftiny")).status, 200);
  EXPECT_EQ(ask(get("/v1/models/other")).status, 404);
  EXPECT_EQ(ask(get("/v1/models/%zz")).status, 400);
  const TestResponse info = ask(get("/info"));
  EXPECT_TRUE(contains(info.body, R"("model_id":"org/tiny")")) << info.body;
  EXPECT_TRUE(contains(info.body, R"("max_input_length":128)")) << info.body;
  EXPECT_TRUE(contains(info.body, R"("version":"1.2.3")")) << info.body;
}

TEST_F(ServerTest, IsLiveWhileLoadingAndReadyAfter) {
  start();
  pipeline_.set_state(ModelState::kLoading);
  EXPECT_EQ(ask(get("/health/live")).status, 200);
  for (const char* const path : {"/health", "/health/ready"}) {
    const TestResponse response = ask(get(path));
    EXPECT_EQ(response.status, 503);
    EXPECT_TRUE(
        contains(response.body, R"({"status":"loading","models":[{"name":"org/tiny","state":"loading"}],"reason":")"))
        << response.body;
    EXPECT_FALSE(response.field("Retry-After").empty());
  }
  pipeline_.set_state(ModelState::kFailed);
  EXPECT_TRUE(contains(ask(get("/health")).body, "could not be loaded"));
  pipeline_.set_state(ModelState::kReady);
  EXPECT_EQ(ask(get("/health/ready")).body, R"({"status":"ready","models":[{"name":"org/tiny","state":"ready"}]})");
  server_->drain();
  EXPECT_EQ(ask(get("/health/ready")).status, 503);
  EXPECT_EQ(ask(get("/health/live")).status, 200);
  EXPECT_EQ(ask(post("/embed", R"({"inputs":"a"})")).status, 200);
}

TEST_F(ServerTest, AnswersHealthWhileEveryRequestWaits) {
  start();
  pipeline_.set_mode(FakePipeline::Mode::kHold);
  TestClient waiting(server_->port());
  ASSERT_TRUE(waiting.send(post("/embed", R"({"inputs":"a"})")));
  ASSERT_TRUE(pipeline_.wait_held(1));
  EXPECT_EQ(ask(get("/health")).status, 200);
  EXPECT_EQ(ask(get("/metrics")).status, 200);
  pipeline_.release_all();
  EXPECT_EQ(waiting.read()->status, 200);
}

TEST_F(ServerTest, EchoesOrMakesRequestIds) {
  start();
  EXPECT_EQ(ask(get("/health", "X-Request-ID: abc\r\n")).field("X-Request-ID"), "abc");
  EXPECT_EQ(ask(get("/health", "X-Request-ID: has space\r\n")).field("X-Request-ID").size(), 32u);
  EXPECT_EQ(ask(get("/nowhere", "X-Request-ID: abc\r\n")).field("X-Request-ID"), "abc");
  EXPECT_EQ(ask("no http\r\n\r\n").field("X-Request-ID").size(), 32u);
}

TEST_F(ServerTest, AsksForAKeyEverywhereButOnHealth) {
  options_.api_keys = {"secret"};
  start();
  for (const std::string& request : {get("/v1/models"), get("/metrics"), get("/info"), get("/nowhere"),
                                     post("/v1/embeddings", R"({"input":"a"})"), post("/embed", R"({"inputs":"a"})")}) {
    const TestResponse response = ask(request);
    EXPECT_EQ(response.status, 401) << request;
    EXPECT_EQ(response.field("WWW-Authenticate"), "Bearer");
    EXPECT_FALSE(contains(response.body, "secret"));
  }
  EXPECT_EQ(ask(get("/health")).status, 200);
  EXPECT_EQ(ask(get("/v1/models", "Authorization: Bearer wrong!\r\n")).status, 401);
  EXPECT_EQ(ask(get("/v1/models", "Authorization: Bearer secret\r\n")).status, 200);
}

TEST_F(ServerTest, CancelsWhenTheClientGoes) {
  start();
  pipeline_.set_mode(FakePipeline::Mode::kHold);
  {
    TestClient client(server_->port());
    ASSERT_TRUE(client.send(post("/embed", R"({"inputs":"a"})")));
    ASSERT_TRUE(pipeline_.wait_held(1));
  }
  EXPECT_TRUE(pipeline_.wait_cancelled(1));
}

TEST_F(ServerTest, CancelsLargeRequestsToo) {
  start();
  pipeline_.set_mode(FakePipeline::Mode::kHold);
  {
    TestClient client(server_->port());
    ASSERT_TRUE(client.send(post("/embed", R"({"inputs":")" + std::string(400'000, 'x') + R"("})")));
    ASSERT_TRUE(pipeline_.wait_held(1));
  }
  EXPECT_TRUE(pipeline_.wait_cancelled(1));
}

TEST_F(ServerTest, CountsRequestsByRouteAndStatus) {
  start();
  ask(post("/embed", R"({"inputs":"a"})"));
  ask(post("/embed", R"({"inputs":1})"));
  ask(get("/nowhere/1"));
  const std::string text = ask(get("/metrics")).body;
  EXPECT_TRUE(contains(text, "weir_http_requests_total{route=\"/embed\",status=\"200\"} 1")) << text;
  EXPECT_TRUE(contains(text, "weir_http_requests_total{route=\"/embed\",status=\"422\"} 1")) << text;
  EXPECT_TRUE(contains(text, "weir_http_requests_total{route=\"other\",status=\"404\"} 1")) << text;
  EXPECT_TRUE(contains(text, "weir_http_request_duration_seconds_count{route=\"/embed\"} 2")) << text;
  EXPECT_TRUE(contains(text, "weir_http_open_connections")) << text;
}

TEST_F(ServerTest, FinishesRequestsOnStop) {
  start();
  pipeline_.set_mode(FakePipeline::Mode::kHold);
  TestClient client(server_->port());
  ASSERT_TRUE(client.send(post("/embed", R"({"inputs":"a"})")));
  ASSERT_TRUE(pipeline_.wait_held(1));
  bool clean = false;
  std::thread stopper([&] { clean = server_->stop(Deadline::after(seconds(10))); });
  pipeline_.release_all();
  EXPECT_EQ(client.read()->status, 200);
  client.close();
  stopper.join();
  EXPECT_TRUE(clean);
}

TEST_F(ServerTest, AnswersOnStopWhatTakesTooLong) {
  start();
  pipeline_.set_mode(FakePipeline::Mode::kHold);
  TestClient client(server_->port());
  ASSERT_TRUE(client.send(post("/embed", R"({"inputs":"a"})")));
  ASSERT_TRUE(pipeline_.wait_held(1));
  EXPECT_FALSE(server_->stop(Deadline::after(milliseconds(20))));
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_FALSE(response->field("Retry-After").empty());
}

TEST_F(ServerTest, ServesManyClientsAtOnce) {
  options_.http.threads = 2;
  start();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      TestClient client(server_->port());
      for (int j = 0; j < 50; ++j) {
        const auto response = client.ask(post("/embed", R"({"inputs":["a","bc"]})"));
        if (response && response->body == "[[1,0.5,1],[2,0.5,2]]") ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 800);
}

TEST_F(ServerTest, RefusesOptionsThatMakeNoSense) {
  options_.api_keys = {""};
  EXPECT_FALSE(Server::start(options_, std::make_unique<FakeBackend>(pipeline_), registry_).ok());
  options_.api_keys.clear();
  options_.errors.overloaded_status = 200;
  EXPECT_FALSE(Server::start(options_, std::make_unique<FakeBackend>(pipeline_), registry_).ok());
}

}  // namespace
}  // namespace weir::serve::server
