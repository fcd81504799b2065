#include "hub/environment.h"

#include <fstream>
#include <map>

#include <gtest/gtest.h>

namespace weir::hub {
namespace {

using Values = std::map<std::string, std::string>;

Result<Environment> read(const Values& values) {
  return read_environment([&values](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(HubEnvironmentTest, HasTheDefaultsOfPythonsClient) {
  const auto environment = read({{"HOME", "/users/me"}});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->cache_folder, "/users/me/.cache/huggingface/hub");
  EXPECT_TRUE(environment->endpoint.secure);
  EXPECT_EQ(environment->endpoint.target, "");
  EXPECT_FALSE(environment->offline);
  EXPECT_EQ(environment->token, "");
}

TEST(HubEnvironmentTest, FindsTheCache) {
  EXPECT_EQ(read({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}})->cache_folder, "/x/huggingface/hub");
  EXPECT_EQ(read({{"HOME", "/h"}, {"HF_HOME", "~/hf"}, {"XDG_CACHE_HOME", "/x"}})->cache_folder, "/h/hf/hub");
  EXPECT_EQ(read({{"HF_HUB_CACHE", "/c"}, {"HF_HOME", "/f"}})->cache_folder, "/c");
  EXPECT_EQ(read({}).error().kind, ErrorKind::kNotFound);
}

TEST(HubEnvironmentTest, TakesTheEndpointWithoutItsLastSlash) {
  const auto environment = read({{"HOME", "/h"}, {"HF_ENDPOINT", "http://mirror:8000/hub/"}});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->endpoint.text(), "http://mirror:8000/hub");
  EXPECT_EQ(read({{"HOME", "/h"}, {"HF_ENDPOINT", "ftp://x"}}).error().where, "HF_ENDPOINT");
}

TEST(HubEnvironmentTest, FindsTheToken) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/token") << " from-file\n";
  EXPECT_EQ(read({{"HF_HOME", folder}})->token, "from-file");
  EXPECT_EQ(read({{"HF_HOME", folder}, {"HF_TOKEN", "t\n"}})->token, "t");
  EXPECT_EQ(read({{"HF_HOME", "/nowhere"}, {"HF_TOKEN_PATH", folder + "/token"}})->token, "from-file");
  EXPECT_EQ(read({{"HF_HOME", folder}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}})->token, "");
}

TEST(HubEnvironmentTest, KnowsWhenItIsOffline) {
  EXPECT_TRUE(read({{"HOME", "/h"}, {"HF_HUB_OFFLINE", "1"}})->offline);
  EXPECT_TRUE(read({{"HOME", "/h"}, {"TRANSFORMERS_OFFLINE", "true"}})->offline);
  EXPECT_FALSE(read({{"HOME", "/h"}, {"HF_HUB_OFFLINE", "0"}})->offline);
}

TEST(HubEnvironmentTest, ChoosesTheProxy) {
  const auto environment =
      read({{"HOME", "/h"}, {"https_proxy", "proxy:3128"}, {"NO_PROXY", "localhost, .inner.example"}});
  ASSERT_TRUE(environment.ok());
  const auto proxy = [&](const char* url) { return environment->proxy_for(*Url::parse(url)); };
  ASSERT_NE(proxy("https://hub.example/"), nullptr);
  EXPECT_EQ(proxy("https://hub.example/")->text(), "http://proxy:3128/");
  EXPECT_EQ(proxy("http://hub.example/"), nullptr);
  EXPECT_EQ(proxy("https://localhost/"), nullptr);
  EXPECT_EQ(proxy("https://a.inner.example/"), nullptr);
  EXPECT_NE(proxy("https://notinner.example/"), nullptr);
}

}  // namespace
}  // namespace weir::hub
