#include "settings/serve_settings.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "settings/help.h"

namespace weir::settings {
namespace {

TEST(ServeSettings, DefaultsAreThoseOfTheDesign) {
  const Result<Resolved> resolved = resolve_serve({}, {});
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  const ServeSettings s = serve_settings(*resolved);
  EXPECT_EQ(s.host, "127.0.0.1");
  EXPECT_EQ(s.port, 8080);
  EXPECT_EQ(s.permits, 200);
  EXPECT_EQ(s.waiting_room, 100);
  EXPECT_EQ(s.max_wait, std::chrono::seconds(60));
  EXPECT_EQ(s.timeout, Duration(0));
  EXPECT_EQ(s.overload_status, "429");
  EXPECT_EQ(s.max_body, Size{8 << 20});
  EXPECT_EQ(s.max_inputs, 2048);
  EXPECT_EQ(s.max_answer_tokens, 1'000'000);
  EXPECT_EQ(s.long_text, "truncate");
  EXPECT_EQ(s.batch_window, Duration(5));
  EXPECT_EQ(s.max_batch_requests, 32);
  EXPECT_EQ(s.max_batch_tokens, 0);
  EXPECT_EQ(s.instances, 0);
  EXPECT_EQ(s.pin, "auto");
  EXPECT_FALSE(s.memory_pattern);
  EXPECT_TRUE(s.self_test);
  EXPECT_FALSE(s.spinning);
  EXPECT_TRUE(s.huge_pages);
  EXPECT_TRUE(s.api_keys.empty());
}

TEST(ServeSettings, EveryFieldFollowsItsOwnSetting) {
  const std::vector<std::string> arguments = {"--config=",
                                              "--host=h",
                                              "--port=1",
                                              "--network-threads=2",
                                              "--max-connections=3",
                                              "--header-timeout=4ms",
                                              "--write-timeout=21ms",
                                              "--long-text-status=413",
                                              "--body-timeout=5ms",
                                              "--idle-timeout=6ms",
                                              "--drain-timeout=7ms",
                                              "--api-key=k",
                                              "--api-key-file=f",
                                              "--model=m",
                                              "--bundle-cache=c",
                                              "--self-test=off",
                                              "--permits=8",
                                              "--waiting-room=9",
                                              "--max-wait=10ms",
                                              "--timeout=11ms",
                                              "--overload-status=503",
                                              "--max-body=1024",
                                              "--max-inputs=12",
                                              "--max-tokens=13",
                                              "--max-answer-tokens=32",
                                              "--long-text=reject",
                                              "--chunk-overlap=31",
                                              "--chunk-pooling=max",
                                              "--batch-window=14ms",
                                              "--max-batch-requests=15",
                                              "--max-batch-tokens=16",
                                              "--instances=17",
                                              "--threads=18",
                                              "--tokenize-threads=19",
                                              "--pin=on",
                                              "--spinning",
                                              "--no-huge-pages",
                                              "--memory-pattern",
                                              "--arena-limit=20",
                                              "--memory-release-rate=7",
                                              "--log-level=debug",
                                              "--log-format=json"};
  ASSERT_EQ(arguments.size(), serve_table().size()) << "a setting is missing in this test";
  const Result<Resolved> resolved = resolve_serve(arguments, {});
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  const ServeSettings s = serve_settings(*resolved);
  EXPECT_EQ(s.host, "h");
  EXPECT_EQ(s.port, 1);
  EXPECT_EQ(s.network_threads, 2);
  EXPECT_EQ(s.max_connections, 3);
  EXPECT_EQ(s.header_timeout, Duration(4));
  EXPECT_EQ(s.body_timeout, Duration(5));
  EXPECT_EQ(s.idle_timeout, Duration(6));
  EXPECT_EQ(s.drain_timeout, Duration(7));
  EXPECT_EQ(s.api_keys, List{"k"});
  EXPECT_EQ(s.api_key_file, "f");
  EXPECT_EQ(s.models, List{"m"});
  EXPECT_EQ(s.bundle_cache, "c");
  EXPECT_FALSE(s.self_test);
  EXPECT_EQ(s.permits, 8);
  EXPECT_EQ(s.waiting_room, 9);
  EXPECT_EQ(s.max_wait, Duration(10));
  EXPECT_EQ(s.timeout, Duration(11));
  EXPECT_EQ(s.overload_status, "503");
  EXPECT_EQ(s.max_body, Size{1024});
  EXPECT_EQ(s.max_inputs, 12);
  EXPECT_EQ(s.max_tokens, 13);
  EXPECT_EQ(s.max_answer_tokens, 32);
  EXPECT_EQ(s.long_text, "reject");
  EXPECT_EQ(s.long_text_status, "413");
  EXPECT_EQ(s.chunk_overlap, 31);
  EXPECT_EQ(s.chunk_pooling, "max");
  EXPECT_EQ(s.write_timeout, Duration(21));
  EXPECT_EQ(s.batch_window, Duration(14));
  EXPECT_EQ(s.max_batch_requests, 15);
  EXPECT_EQ(s.max_batch_tokens, 16);
  EXPECT_EQ(s.instances, 17);
  EXPECT_EQ(s.threads, 18);
  EXPECT_EQ(s.tokenize_threads, 19);
  EXPECT_EQ(s.pin, "on");
  EXPECT_TRUE(s.spinning);
  EXPECT_FALSE(s.huge_pages);
  EXPECT_TRUE(s.memory_pattern);
  EXPECT_EQ(s.arena_limit, Size{20});
  EXPECT_EQ(s.memory_release_rate, 7);
  EXPECT_EQ(s.log_level, "debug");
  EXPECT_EQ(s.log_format, "json");
}

TEST(ServeSettings, TheTableIsSound) {
  std::set<std::string_view> names;
  std::set<std::string_view> sections;
  std::string_view section;
  for (const Setting& setting : serve_table()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name << " stands twice";
    if (setting.section != section) {
      EXPECT_TRUE(sections.insert(setting.section).second) << setting.section << " is in two places";
    }
    section = setting.section;
    EXPECT_TRUE(setting.help.ends_with('.')) << setting.name;
    EXPECT_EQ(setting.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << setting.name;
    if (setting.domain.kind != Kind::kList) {
      EXPECT_TRUE(parse_value(setting.domain, setting.default_text).ok()) << setting.name;
    }
  }
}

TEST(ServeSettings, OnlyKeysAreSecret) {
  for (const Setting& setting : serve_table()) EXPECT_EQ(setting.secret, setting.name == "api-key") << setting.name;
}

TEST(ServeSettings, ThePageOfDocumentationIsUpToDate) {
  std::ifstream file(WEIR_SOURCE_DIR "/docs/settings.md");
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_EQ(content.str(), serve_settings_page()) << "run: weir serve --help-markdown > docs/settings.md";
}

}  // namespace
}  // namespace weir::settings
