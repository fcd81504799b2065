// A connection's bytes from anywhere: the server neither crashes nor hangs, and what it answers begins as HTTP does.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "serve/front/http/listener.h"
#include "serve/front/http/test_client.h"

namespace {

namespace http = weir::serve::front::http;

class Handler final : public http::Handler {
 public:
  std::optional<http::Response> on_head(http::Exchange& exchange) override {
    return exchange.head.method == "HEAD" ? std::optional(http::Response()) : std::nullopt;
  }
  void on_request(const std::shared_ptr<http::Exchange>& exchange) override { exchange->respond({}); }
  http::Response on_refused(http::Exchange&, const weir::Error&) override {
    http::Response response;
    response.status = 400;
    return response;
  }
};

struct Server {
  Server() {
    http::ListenerOptions options;
    options.port = 0;
    options.max_header_bytes = 1024;
    options.max_body_bytes = 4096;
    auto started = http::Listener::start(options, handler, registry);
    if (!started.ok()) std::abort();
    listener = std::move(started).value();
  }

  weir::metrics::Registry registry;
  Handler handler;
  std::unique_ptr<http::Listener> listener;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  http::TestClient client(server.listener->port());
  if (!client.connected()) return 0;  // Out of ports for a moment: not the server's doing.
  client.send(std::string_view(reinterpret_cast<const char*>(data), size));
  client.close_sending_side();
  while (const auto response = client.read(false)) {
    if (response->status < 100 || response->status > 599) std::abort();
  }
  if (!client.at_end()) std::abort();
  return 0;
}
