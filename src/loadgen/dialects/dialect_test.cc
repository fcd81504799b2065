#include "loadgen/dialects/dialect.h"

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

DialectOptions options(Dialect dialect) {
  DialectOptions options;
  options.dialect = dialect;
  options.model = "m";
  return options;
}

TEST(Dialects, BodiesAreThoseOfTheirClients) {
  EXPECT_EQ(request_body(options(Dialect::kOpenAi), {"a \"b\"\n"}), R"({"model":"m","input":"a \"b\"\n"})");
  EXPECT_EQ(request_body(options(Dialect::kOpenAi), {"a", "b"}), R"({"model":"m","input":["a","b"]})");
  EXPECT_EQ(request_body(options(Dialect::kTei), {"a"}), R"({"inputs":"a"})");
  EXPECT_EQ(request_body(options(Dialect::kOip), {"a", "b"}),
            R"({"inputs":[{"name":"text","shape":[2],"datatype":"BYTES","data":["a","b"]}]})");
}

TEST(Dialects, PathsAreTheDialectsUnlessTheUrlHasOne) {
  Workload workload;
  workload.requests = {{"a"}};
  workload.sizes = {{1, 1}};
  const Url url = parse_url("http://h:1", "").value();
  EXPECT_EQ(http_requests(options(Dialect::kOpenAi), url, workload).url.path, "/v1/embeddings");
  EXPECT_EQ(http_requests(options(Dialect::kTei), url, workload).url.path, "/embed");
  EXPECT_EQ(http_requests(options(Dialect::kOip), url, workload).url.path, "/v2/models/m/infer");
  const Url own = parse_url("http://h:1/x", "").value();
  DialectOptions with_key = options(Dialect::kTei);
  with_key.api_key = "k";
  const HttpRequests requests = http_requests(with_key, own, workload);
  EXPECT_EQ(requests.url.path, "/x");
  EXPECT_EQ(requests.headers, std::vector<std::string>{"Authorization: Bearer k"});
}

TEST(Dialects, AnswersAreToldFromOtherBodies) {
  struct Case {
    Dialect dialect;
    const char* body;
    bool plausible;
    bool right;
  };
  const Case cases[] = {
      {Dialect::kOpenAi, R"({"data":[{"embedding":[1,2]},{"embedding":[3,4]}]})", true, true},
      {Dialect::kOpenAi, "{\"data\":[{\"embedding\":\"AAAA\"},{\"embedding\":\"AAAA\"}]}\n", true, true},
      {Dialect::kOpenAi, R"({"data":[{"embedding":[1,2]}]})", true, false},
      {Dialect::kOpenAi, R"({"data":[{"embedding":[]},{"embedding":[1]}]})", true, false},
      {Dialect::kOpenAi, R"({"data":[{"embedding":[1,2]},{"embedding":[3,4]}})", true, false},
      {Dialect::kOpenAi, R"({"error":"overloaded"})", false, false},
      {Dialect::kOpenAi, "", false, false},
      {Dialect::kTei, "[[0.5],[0.5]]", true, true},
      {Dialect::kTei, R"(["a","b"])", true, true},
      {Dialect::kTei, "[[0.5]]", true, false},
      {Dialect::kTei, "[[0.5],[null]]", true, false},
      {Dialect::kTei, R"({"inputs":1})", false, false},
      {Dialect::kOip, R"({"outputs":[{"shape":[2,8],"data":[]}]})", true, true},
      {Dialect::kOip, R"({"outputs":[{"shape":[1,8]}]})", true, false},
      {Dialect::kOip, R"({"outputs":[]})", true, false},
      {Dialect::kOip, R"({"error":"no such model"})", false, false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(is_answer(each.dialect, each.body, {2, 0}, false), each.plausible) << each.body;
    EXPECT_EQ(is_answer(each.dialect, each.body, {2, 0}, true), each.right) << each.body;
  }
}

}  // namespace
}  // namespace weir::loadgen
