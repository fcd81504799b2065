#include "apps/weir/serve_options.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir::cli {
namespace {

using settings::ServeSettings;

ServeSettings settings_of(const std::vector<std::string>& arguments) {
  const auto resolved = settings::resolve_serve(arguments, {});
  EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : resolved.error().message);
  return settings::serve_settings(*resolved);
}

Result<ServeOptions> options_of(const std::vector<std::string>& arguments, const Sizing& sizing = {}) {
  return serve_options(settings_of(arguments), sizing, "1.2.3");
}

TEST(ServeOptions, EverySettingArrives) {
  Sizing sizing;
  sizing.instances = 3;
  sizing.threads_per_instance = 2;
  sizing.network_threads = 4;
  sizing.tokenize_threads = 5;
  sizing.arena_limit_bytes = 77;
  sizing.instance_cpus = {{0, 1}, {2, 3}, {4, 5}};
  const Result<ServeOptions> result = options_of({"/m",
                                                  "--host=::1",
                                                  "--port=1",
                                                  "--max-connections=2",
                                                  "--header-timeout=3ms",
                                                  "--body-timeout=4ms",
                                                  "--write-timeout=5ms",
                                                  "--idle-timeout=6ms",
                                                  "--api-key=k",
                                                  "--no-self-test",
                                                  "--permits=7",
                                                  "--waiting-room=8",
                                                  "--max-wait=9ms",
                                                  "--timeout=10ms",
                                                  "--overload-status=503",
                                                  "--max-body=1024",
                                                  "--max-inputs=11",
                                                  "--max-tokens=12",
                                                  "--max-answer-tokens=16",
                                                  "--long-text=reject",
                                                  "--long-text-status=413",
                                                  "--batch-window=13ms",
                                                  "--max-batch-requests=14",
                                                  "--max-batch-tokens=15",
                                                  "--spinning",
                                                  "--no-huge-pages",
                                                  "--memory-pattern"},
                                                 sizing);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const serve::PipelineOptions& p = result->pipeline;
  ASSERT_EQ(p.models.size(), 1u);
  EXPECT_EQ(p.models[0].folder, "/m");
  EXPECT_EQ(p.permits, 7u);
  EXPECT_EQ(p.waiting_room, 8u);
  EXPECT_EQ(p.max_wait, std::chrono::milliseconds(9));
  EXPECT_EQ(p.tokenize_threads, 5);
  EXPECT_EQ(p.max_inputs, 11u);
  EXPECT_EQ(p.max_tokens, 12u);
  EXPECT_EQ(p.max_answer_tokens, 16u);
  EXPECT_EQ(p.long_text.what, serve::LongText::kReject);
  EXPECT_EQ(p.window, std::chrono::milliseconds(13));
  EXPECT_EQ(p.max_batch_requests, 14u);
  EXPECT_EQ(p.max_batch_tokens, 15u);
  EXPECT_EQ(p.instances, 3);
  EXPECT_EQ(p.threads_per_instance, 2);
  EXPECT_EQ(p.instance_cpus, sizing.instance_cpus);
  EXPECT_TRUE(p.spinning);
  EXPECT_FALSE(p.huge_pages);
  EXPECT_TRUE(p.memory_pattern);
  EXPECT_EQ(p.arena_limit_bytes, 77u);
  EXPECT_FALSE(p.self_test);
  const serve::server::ServerOptions& s = result->server;
  EXPECT_EQ(s.http.address, "::1");
  EXPECT_EQ(s.http.port, 1);
  EXPECT_EQ(s.http.threads, 4);
  EXPECT_EQ(s.http.max_connections, 2u);
  EXPECT_EQ(s.http.max_body_bytes, 1024u);
  EXPECT_EQ(s.http.header_timeout, std::chrono::milliseconds(3));
  EXPECT_EQ(s.http.body_timeout, std::chrono::milliseconds(4));
  EXPECT_EQ(s.http.write_timeout, std::chrono::milliseconds(5));
  EXPECT_EQ(s.http.idle_timeout, std::chrono::milliseconds(6));
  EXPECT_EQ(s.errors.overloaded_status, 503);
  EXPECT_EQ(s.errors.text_too_long_status, 413);
  EXPECT_EQ(s.api_keys, std::vector<std::string>{"k"});
  EXPECT_EQ(s.max_wait, std::chrono::milliseconds(10));
  EXPECT_EQ(s.pipeline.permits, 7u);
  EXPECT_EQ(s.version, "1.2.3");
  EXPECT_TRUE(result->warnings.empty());
}

TEST(ServeOptions, DefaultsAreThoseOfThePipeline) {
  const Result<ServeOptions> result = options_of({"m"});
  ASSERT_TRUE(result.ok());
  const serve::PipelineOptions expected;
  EXPECT_EQ(result->pipeline.permits, expected.permits);
  EXPECT_EQ(result->pipeline.waiting_room, expected.waiting_room);
  EXPECT_EQ(result->pipeline.max_wait, expected.max_wait);
  EXPECT_EQ(result->pipeline.max_inputs, expected.max_inputs);
  EXPECT_EQ(result->pipeline.window, expected.window);
  EXPECT_EQ(result->pipeline.max_batch_requests, expected.max_batch_requests);
  EXPECT_EQ(result->server.max_wait, expected.max_wait);
  EXPECT_EQ(result->server.errors.overloaded_status, 429);
  EXPECT_EQ(result->server.errors.text_too_long_status, 422);
}

TEST(ServeOptions, SizingRequestFollowsTheSettings) {
  const SizingRequest request = sizing_request(settings_of(
      {"--instances=1", "--threads=2", "--network-threads=3", "--tokenize-threads=4", "--arena-limit=5", "--pin=on"}));
  EXPECT_EQ(request.instances, 1);
  EXPECT_EQ(request.threads_per_instance, 2);
  EXPECT_EQ(request.network_threads, 3);
  EXPECT_EQ(request.tokenize_threads, 4);
  EXPECT_EQ(request.arena_limit_bytes, 5u);
  EXPECT_EQ(request.pin, Pin::kOn);
  EXPECT_EQ(sizing_request(settings_of({"--pin=off"})).pin, Pin::kOff);
  EXPECT_EQ(sizing_request(settings_of({})).pin, Pin::kAuto);
}

TEST(ServeOptions, ModelsWithAndWithoutNames) {
  EXPECT_EQ(parse_model("/a/b")->folder, "/a/b");
  EXPECT_EQ(parse_model("/a/b")->name, "");
  EXPECT_EQ(parse_model("mini=/a/b")->name, "mini");
  EXPECT_EQ(parse_model("mini=/a/b")->folder, "/a/b");
  EXPECT_EQ(parse_model("/a=b/c")->folder, "/a=b/c");
  EXPECT_EQ(parse_model("mini=a=b")->folder, "a=b");
  EXPECT_FALSE(parse_model("=a").ok());
  EXPECT_FALSE(parse_model("mini=").ok());
  const Result<ServeOptions> none = options_of({});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("weir import"), std::string::npos);
}

TEST(ServeOptions, AnOpenPortWithoutAKeyIsWarnedOf) {
  EXPECT_EQ(options_of({"m", "--host=0.0.0.0"})->warnings.size(), 1u);
  EXPECT_TRUE(options_of({"m", "--host=0.0.0.0", "--api-key=k"})->warnings.empty());
  EXPECT_TRUE(options_of({"m", "--host=127.0.0.2"})->warnings.empty());
  EXPECT_TRUE(options_of({"m", "--host=localhost"})->warnings.empty());
  EXPECT_EQ(options_of({"m", "--host=localhost"})->server.http.address, "127.0.0.1");
  EXPECT_FALSE(is_loopback("127.example.org"));
  EXPECT_FALSE(is_loopback("::"));
}

TEST(ServeOptions, KeysFromAFile) {
  const std::string path = ::testing::TempDir() + "weir_keys_" + std::to_string(getpid());
  const auto read = [&path](const std::string& content) {
    std::ofstream(path) << content;
    return read_api_keys(path);
  };
  EXPECT_EQ(*read("one\r\n\ntwo"), (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(read("").ok());
  EXPECT_FALSE(read("\n\n").ok());
  const Result<std::vector<std::string>> bad = read("good\nsecret with spaces\n");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message.find("secret"), std::string::npos);
  std::ofstream(path) << "filekey\n";
  EXPECT_EQ(options_of({"m", "--api-key=k", "--api-key-file=" + path})->server.api_keys,
            (std::vector<std::string>{"k", "filekey"}));
  std::filesystem::remove(path);
  EXPECT_EQ(read_api_keys(path).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(options_of({"m", "--api-key=a b"}).ok());
}

TEST(ServeOptions, Urls) {
  EXPECT_EQ(url_of("127.0.0.1", 8080), "http://127.0.0.1:8080");
  EXPECT_EQ(url_of("::1", 80), "http://[::1]:80");
}

}  // namespace
}  // namespace weir::cli
