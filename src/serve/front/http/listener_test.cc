#include "serve/front/http/listener.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "serve/front/http/refusal_pace.h"
#include "serve/front/http/test_client.h"

namespace weir::serve::front::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kLargeBytes = 16u << 20;

/// Answers "METHOD PATH BODY-LENGTH"; keeps the exchanges of /hold until they are released; refuses /forbidden by its
/// head.
class EchoHandler final : public Handler {
 public:
  std::optional<Response> on_head(Exchange& exchange) override {
    if (exchange.head.path != "/forbidden") return std::nullopt;
    return text(401, "forbidden");
  }

  void on_request(const std::shared_ptr<Exchange>& exchange) override {
    if (exchange->head.path == "/large") {
      const bool room = exchange->has_room_for(kLargeBytes);
      exchange->respond(text(200, room ? std::string(kLargeBytes, 'x') : "no room"));
      return;
    }
    if (exchange->head.path == "/full") {
      Response response = text(429, "full");
      response.overloaded = true;
      exchange->respond(std::move(response));
      return;
    }
    if (exchange->head.path != "/hold") {
      exchange->respond(echo(*exchange));
      return;
    }
    exchange->set_on_abandoned([this, exchange] {
      const std::lock_guard lock(mutex_);
      ++abandoned_;
      changed_.notify_all();
      exchange->respond(text(499, "gone"));
    });
    const std::lock_guard lock(mutex_);
    held_.push_back(exchange);
    changed_.notify_all();
  }

  Response on_refused(Exchange&, const Error& error) override {
    return text(error.kind == ErrorKind::kRequestTimeout ? 408 : 400, std::string(error_kind_name(error.kind)));
  }

  bool wait_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(10), [&] { return held_.size() >= count; });
  }

  bool wait_abandoned(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(10), [&] { return abandoned_ >= count; });
  }

  void release_all() {
    std::vector<std::shared_ptr<Exchange>> exchanges;
    {
      const std::lock_guard lock(mutex_);
      exchanges.swap(held_);
    }
    for (const auto& exchange : exchanges) exchange->respond(echo(*exchange));
  }

 private:
  static Response text(int status, std::string body) {
    Response response;
    response.status = status;
    response.content_type = "text/plain";
    response.body = std::move(body);
    return response;
  }

  static Response echo(const Exchange& exchange) {
    return text(200, exchange.head.method + " " + exchange.head.path + " " + std::to_string(exchange.body.size()));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Exchange>> held_;
  int abandoned_ = 0;
};

class ListenerTest : public testing::Test {
 protected:
  void start() {
    options_.port = 0;
    auto started = Listener::start(options_, handler_, registry_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    listener_ = std::move(started).value();
  }

  std::uint16_t port() const { return listener_->port(); }
  std::int64_t open_connections() { return registry_.gauge("weir_http_open_connections", "").value(); }

  /// Waits for the server's side of closed connections to be gone too.
  bool wait_open(std::int64_t count) {
    for (int i = 0; i < 1000 && open_connections() != count; ++i) std::this_thread::sleep_for(milliseconds(10));
    return open_connections() == count;
  }

  ListenerOptions options_;
  metrics::Registry registry_;
  EchoHandler handler_;
  std::unique_ptr<Listener> listener_;
};

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(ListenerTest, KeepsAConnectionForManyRequests) {
  start();
  TestClient client(port());
  for (int i = 0; i < 3; ++i) {
    const auto response = client.ask(kGet);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "GET /a 0");
    EXPECT_EQ(response->field("Connection"), "");
    EXPECT_FALSE(response->field("Date").empty());
  }
  EXPECT_EQ(open_connections(), 1);
}

TEST_F(ListenerTest, AnswersPipelinedRequestsInTheirOrder) {
  start();
  TestClient client(port());
  ASSERT_TRUE(
      client.send("POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                  "GET /second?q=1 HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /third HTTP/1.1\r\nHost: x\r\n"));
  ASSERT_TRUE(handler_.wait_held(1));
  ASSERT_TRUE(client.send("\r\n"));
  handler_.release_all();
  EXPECT_EQ(client.read()->body, "POST /hold 3");
  EXPECT_EQ(client.read()->body, "GET /second 0");
  EXPECT_EQ(client.read()->body, "GET /third 0");
}

TEST_F(ListenerTest, ServesAThousandPipelinedRequestsAndOtherConnectionsMeanwhile) {
  start();
  TestClient client(port());
  TestClient other(port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += kGet;
  std::thread sender([&] { client.send(requests); });
  EXPECT_EQ(other.ask(kGet)->status, 200);
  int answered = 0;
  while (answered < 1000 && client.read()) ++answered;
  EXPECT_EQ(answered, 1000);
  sender.join();
}

TEST_F(ListenerTest, ReadsARequestThatComesByteByByte) {
  start();
  TestClient client(port());
  for (const char byte : std::string("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")) {
    ASSERT_TRUE(client.send(std::string_view(&byte, 1)));
  }
  EXPECT_EQ(client.read()->body, "POST /a 2");
}

TEST_F(ListenerTest, TakesTheTargetsPathWithoutQueryAndHost) {
  start();
  TestClient client(port());
  EXPECT_EQ(client.ask("GET http://host:1/p%20q?x#y HTTP/1.1\r\nHost: x\r\n\r\n")->body, "GET /p%20q 0");
  EXPECT_EQ(client.ask("GET http://host HTTP/1.1\r\nHost: x\r\n\r\n")->body, "GET / 0");
}

TEST_F(ListenerTest, SendsNoBodyInAnswerToHead) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n"));
  const auto response = client.read(false);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->field("Content-Length"), "9");
  EXPECT_EQ(client.ask(kGet)->body, "GET /a 0");
}

TEST_F(ListenerTest, ReadsChunkedBodies) {
  start();
  TestClient client(port());
  const auto response = client.ask(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: 1\r\n\r\n");
  EXPECT_EQ(response->body, "POST /a 6");
  EXPECT_EQ(client.ask(kGet)->status, 200);
}

TEST_F(ListenerTest, SaysContinueBeforeABodyThatWaitsForIt) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.read()->status, 100);
  EXPECT_EQ(client.ask("hi")->body, "POST /a 2");
}

TEST_F(ListenerTest, RefusesByTheHeadWithoutContinue) {
  start();
  TestClient client(port());
  const auto response =
      client.ask("POST /forbidden HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(response->status, 401);
  EXPECT_EQ(response->field("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, KeepsTheConnectionWhenARefusedBodyIsSmall) {
  start();
  TestClient client(port());
  EXPECT_EQ(client.ask("POST /forbidden HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")->status, 401);
  EXPECT_EQ(client.ask(kGet)->status, 200);
}

TEST_F(ListenerTest, SpeaksHttp10) {
  start();
  TestClient once(port());
  const auto closing = once.ask("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_EQ(closing->field("Connection"), "close");
  EXPECT_TRUE(once.at_end());
  TestClient again(port());
  EXPECT_EQ(again.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")->field("Connection"), "keep-alive");
  EXPECT_EQ(again.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")->status, 200);
}

TEST_F(ListenerTest, ClosesWhenAsked) {
  start();
  TestClient client(port());
  EXPECT_EQ(client.ask("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")->field("Connection"), "close");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, RefusesALongHeader) {
  options_.max_header_bytes = 1024;
  start();
  TestClient client(port());
  const auto response = client.ask("GET /a HTTP/1.1\r\nHost: x\r\nX-Long: " + std::string(5000, 'x') + "\r\n\r\n");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "header_too_large");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, AnswersWhenABodyIsTooLargeThoughTheClientKeepsSending) {
  options_.max_body_bytes = 1000;
  options_.linger_timeout = seconds(10);
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"));
  ASSERT_TRUE(client.send(std::string(10'000'000, 'x')));
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "body_too_large");
  client.close_sending_side();
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, LimitsChunkedBodiesToo) {
  options_.max_body_bytes = 8;
  start();
  TestClient client(port());
  const auto response = client.ask(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n");
  EXPECT_EQ(response->body, "body_too_large");
}

std::string post(std::string_view path, std::size_t bytes) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
         std::string(bytes, 'x');
}

TEST_F(ListenerTest, BoundsTheBodiesOfAllConnectionsTogether) {
  options_.max_buffered_body_bytes = 1'000'000;
  start();
  TestClient first(port());
  ASSERT_TRUE(first.send(post("/hold", 900'000)));
  ASSERT_TRUE(handler_.wait_held(1));
  TestClient second(port());
  EXPECT_EQ(second.ask(post("/a", 200'000))->body, "overloaded");
  TestClient small(port());
  EXPECT_EQ(small.ask(post("/a", 3))->status, 200);
  handler_.release_all();
  EXPECT_EQ(first.read()->status, 200);
  TestClient third(port());
  EXPECT_EQ(third.ask(post("/a", 200'000))->status, 200);
}

TEST_F(ListenerTest, BodiesThatAreOnlyAnnouncedKeepNobodyOut) {
  options_.max_buffered_body_bytes = 1'000'000;
  start();
  TestClient silent(port());
  ASSERT_TRUE(silent.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx"));
  TestClient other(port());
  EXPECT_EQ(other.ask(post("/a", 900'000))->status, 200);
}

TEST_F(ListenerTest, BoundsTheAnswersThatClientsDoNotRead) {
  options_.max_buffered_answer_bytes = 20'000'000;
  start();
  constexpr std::string_view kLarge = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";  // 16 MiB: more than sockets hold
  TestClient slow(port());
  ASSERT_TRUE(slow.send(kLarge));
  ASSERT_TRUE(slow.read(false));  // its head
  TestClient second(port());
  EXPECT_EQ(second.ask(kLarge)->body, "no room");
  EXPECT_EQ(second.ask(kGet)->status, 200);
  slow.close();
  ASSERT_TRUE(wait_open(1));
  EXPECT_EQ(second.ask(kLarge)->body.size(), 16u << 20);
}

TEST_F(ListenerTest, RefusesWhatIsNotHttp) {
  start();
  for (const std::string_view bytes :
       {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and more of a TLS greeting\r\n\r\n", "GET /a HTTP/2.0\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /a\r\n\r\n", "GET /a HTTP/1.1\r\nHost x\r\n\r\n",
        "GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    TestClient client(port());
    const auto response = client.ask(bytes);
    ASSERT_TRUE(response) << bytes;
    EXPECT_EQ(response->body, "malformed") << bytes;
    EXPECT_TRUE(client.at_end()) << bytes;
  }
}

TEST_F(ListenerTest, TimesOutAHalfSentHeader) {
  options_.header_timeout = milliseconds(50);
  start();
  TestClient client(port());
  EXPECT_EQ(client.ask("GET /a HTTP/1.1\r\nHos")->status, 408);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, TimesOutAHalfSentBody) {
  options_.body_timeout = milliseconds(50);
  start();
  TestClient client(port());
  EXPECT_EQ(client.ask("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhal")->status, 408);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, ClosesASilentConnectionWithoutAWord) {
  options_.idle_timeout = milliseconds(50);
  start();
  TestClient client(port());
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, TellsTheHandlerThatTheClientIsGone) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(handler_.wait_held(1));
  client.close();
  EXPECT_TRUE(handler_.wait_abandoned(1));
  EXPECT_TRUE(wait_open(0));
}

TEST_F(ListenerTest, TakesAHalfCloseForGoneButSaysSo) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(handler_.wait_held(1));
  client.close_sending_side();
  EXPECT_EQ(client.read()->status, 499);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenerTest, NoticesThatTheClientIsGoneBehindPipelinedBytes) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(kGet)));
  ASSERT_TRUE(handler_.wait_held(1));
  client.close();
  EXPECT_TRUE(handler_.wait_abandoned(1));
}

TEST_F(ListenerTest, RefusesConnectionsOverTheLimitAndRecovers) {
  options_.max_connections = 2;
  start();
  TestClient first(port());
  TestClient second(port());
  EXPECT_EQ(first.ask(kGet)->status, 200);
  EXPECT_EQ(second.ask(kGet)->status, 200);
  TestClient third(port());
  const auto refused = third.read();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->body, "unavailable");
  third.close_sending_side();
  EXPECT_TRUE(third.at_end());
  EXPECT_EQ(registry_.counter("weir_http_connections_refused_total", "").value(), 1u);
  second.close();
  third.close();
  ASSERT_TRUE(wait_open(1));
  TestClient fourth(port());
  EXPECT_EQ(fourth.ask(kGet)->status, 200);
}

TEST_F(ListenerTest, ServesManyConnectionsOnSeveralThreads) {
  options_.threads = 3;
  start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<TestClient>(port()));
  for (const auto& client : clients) ASSERT_TRUE(client->send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(handler_.wait_held(200));
  handler_.release_all();
  for (const auto& client : clients) EXPECT_EQ(client->read()->status, 200);
}

TEST_F(ListenerTest, CountsTheBytes) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.ask(kGet));
  client.close();
  ASSERT_TRUE(wait_open(0));
  EXPECT_EQ(registry_.counter("weir_http_received_bytes_total", "").value(), kGet.size());
  EXPECT_GT(registry_.counter("weir_http_sent_bytes_total", "").value(), 50u);
}

TEST_F(ListenerTest, StopFinishesRequestsAndClosesIdleConnectionsAtOnce) {
  start();
  TestClient idle(port());
  ASSERT_TRUE(idle.ask(kGet));
  TestClient busy(port());
  ASSERT_TRUE(busy.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(handler_.wait_held(1));
  bool clean = false;
  std::thread stopper([&] { clean = listener_->stop(Deadline::after(seconds(10))); });
  EXPECT_TRUE(idle.at_end());
  handler_.release_all();
  const auto response = busy.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->field("Connection"), "close");
  busy.close();
  stopper.join();
  EXPECT_TRUE(clean);
  EXPECT_FALSE(TestClient(port()).connected());
}

TEST_F(ListenerTest, StopAbandonsWhatIsNotDoneInTime) {
  start();
  TestClient client(port());
  ASSERT_TRUE(client.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(handler_.wait_held(1));
  EXPECT_FALSE(listener_->stop(Deadline::after(milliseconds(20))));
  EXPECT_TRUE(handler_.wait_abandoned(1));
}

std::string many_refused_requests() {
  std::string requests;
  for (int i = 0; i < RefusalPace::kBurst + 20; ++i) requests += "GET /full HTTP/1.1\r\nHost: x\r\n\r\n";
  return requests;
}

TEST_F(ListenerTest, AnswersAllThatAskAgainAtOnceAfterARefusal) {
  start();
  TestClient client(port());
  const std::string requests = many_refused_requests();
  ASSERT_TRUE(client.send(requests + std::string(kGet)));
  for (int i = 0; i < RefusalPace::kBurst + 20; ++i) {
    const auto response = client.read();
    ASSERT_TRUE(response) << i;
    EXPECT_EQ(response->status, 429);
  }
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "GET /a 0") << "the next request on a connection that rested";
}

TEST_F(ListenerTest, StopDoesNotWaitForConnectionsThatRest) {
  start();
  const std::string requests = many_refused_requests();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<TestClient>(port()));
    ASSERT_TRUE(clients.back()->send(requests));
    ASSERT_TRUE(clients.back()->read());
  }
  EXPECT_TRUE(listener_->stop(Deadline::after(seconds(10))));
}

TEST_F(ListenerTest, NamesThePortThatIsInUse) {
  start();
  ListenerOptions taken = options_;
  taken.port = port();
  const auto second = Listener::start(taken, handler_, registry_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kIo);
  EXPECT_NE(second.error().message.find(std::to_string(port())), std::string::npos);
}

TEST_F(ListenerTest, RefusesOptionsThatMakeNoSense) {
  ListenerOptions options;
  options.address = "localhost";
  EXPECT_EQ(Listener::start(options, handler_, registry_).error().kind, ErrorKind::kInvalidArgument);
  options = {};
  options.threads = 0;
  EXPECT_EQ(Listener::start(options, handler_, registry_).error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace weir::serve::front::http
