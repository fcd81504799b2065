// Bodies of the HTTP dialects from anywhere: any bytes give inputs within the rules or an error, and an error's own
// body is JSON again whatever it quotes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/front/http/dialects.h"
#include "serve/front/http/json_object.h"
#include "serve/front/http/request_target.h"
#include "serve/respond/error_table.h"

namespace {

namespace http = weir::serve::front::http;
namespace respond = weir::serve::respond;

constexpr std::size_t kMaxInputs = 8;

void check(const weir::Result<http::ParsedBody>& parsed) {
  if (!parsed.ok()) {
    for (const respond::Dialect dialect : {respond::Dialect::kOpenAi, respond::Dialect::kTei}) {
      if (!http::JsonObject::parse(respond::error_body(parsed.error(), dialect), {"error"}).ok()) std::abort();
    }
    return;
  }
  if (parsed->inputs.empty() || parsed->inputs.size() > kMaxInputs) std::abort();
  for (const weir::serve::Input& input : parsed->inputs) {
    if (input.bytes() == 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(http::parse_openai_embeddings(bytes, kMaxInputs));
  check(http::parse_tei_embed(bytes, kMaxInputs));
  check(http::parse_tei_tokenize(bytes, kMaxInputs));
  if (http::path_of_target(bytes).size() > size + 1) std::abort();
  (void)http::percent_decode(bytes);
  return 0;
}
