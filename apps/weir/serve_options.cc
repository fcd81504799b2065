#include "apps/weir/serve_options.h"

#include <algorithm>
#include <utility>

#include "base/file.h"

namespace weir::cli {
namespace {

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

Status check_key(const std::string& key, const std::string& where) {
  const bool clean =
      !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (clean) return {};
  return Error(ErrorKind::kInvalidArgument, where + ": an API key has only visible ASCII characters, without spaces",
               where);
}

/// "localhost" is what people type; the listener takes addresses.
std::string address_of(const std::string& host) { return host == "localhost" ? "127.0.0.1" : host; }

Result<std::vector<std::string>> api_keys(const settings::ServeSettings& settings) {
  std::vector<std::string> keys = settings.api_keys;
  for (const std::string& key : keys) WEIR_RETURN_IF_ERROR(check_key(key, "--api-key"));
  if (!settings.api_key_file.empty()) {
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> more, read_api_keys(settings.api_key_file));
    keys.insert(keys.end(), more.begin(), more.end());
  }
  return keys;
}

Result<std::vector<serve::ModelSource>> model_sources(const settings::ServeSettings& settings) {
  if (settings.models.empty()) {
    return Error(
        ErrorKind::kInvalidArgument,
        "no model: name a bundle's folder, as in `weir serve FOLDER`, or set --model, WEIR_MODEL or the file's "
        "'model'; `weir import` makes a bundle",
        "--model");
  }
  std::vector<serve::ModelSource> sources;
  for (const std::string& text : settings.models) {
    WEIR_ASSIGN_OR_RETURN(serve::ModelSource source, parse_model(text));
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<serve::PipelineOptions> pipeline_options(const settings::ServeSettings& settings, const Sizing& sizing) {
  serve::PipelineOptions options;
  WEIR_ASSIGN_OR_RETURN(options.models, model_sources(settings));
  options.permits = to_size(settings.permits);
  options.waiting_room = to_size(settings.waiting_room);
  options.max_wait = settings.max_wait;
  options.max_inputs = to_size(settings.max_inputs);
  options.max_tokens = static_cast<std::uint32_t>(settings.max_tokens);
  options.max_answer_tokens = to_size(settings.max_answer_tokens);
  options.long_text = long_text_rule(settings.long_text, settings.chunk_overlap, settings.chunk_pooling);
  options.window = settings.batch_window;
  options.max_batch_requests = to_size(settings.max_batch_requests);
  options.max_batch_tokens = to_size(settings.max_batch_tokens);
  options.apply(sizing);
  options.spinning = settings.spinning;
  options.huge_pages = settings.huge_pages;
  options.memory_pattern = settings.memory_pattern;
  options.self_test = settings.self_test;
  return options;
}

serve::server::ServerOptions server_options(const settings::ServeSettings& settings, const Sizing& sizing) {
  serve::server::ServerOptions options;
  options.http.address = address_of(settings.host);
  options.http.port = static_cast<std::uint16_t>(settings.port);
  options.http.threads = sizing.network_threads;
  options.http.max_connections = to_size(settings.max_connections);
  options.http.max_body_bytes = to_size(settings.max_body.bytes);
  options.http.header_timeout = settings.header_timeout;
  options.http.body_timeout = settings.body_timeout;
  options.http.write_timeout = settings.write_timeout;
  options.http.idle_timeout = settings.idle_timeout;
  options.errors.overloaded_status = settings.overload_status == "503" ? 503 : 429;
  if (settings.long_text_status == "413") options.errors.text_too_long_status = 413;
  if (settings.long_text_status == "400") options.errors.text_too_long_status = 400;
  options.max_wait = settings.timeout.count() == 0 ? settings.max_wait : settings.timeout;
  options.worker_threads = sizing.tokenize_threads;
  return options;
}

}  // namespace

serve::LongTextRule long_text_rule(std::string_view what, std::int64_t overlap_tokens, std::string_view pooling) {
  serve::LongTextRule rule;
  if (what == "reject") rule.what = serve::LongText::kReject;
  if (what == "chunk") rule.what = serve::LongText::kChunk;
  rule.overlap_tokens = static_cast<std::uint32_t>(overlap_tokens);
  if (pooling == "max") rule.pooling = serve::WindowPooling::kMax;
  return rule;
}

SizingRequest sizing_request(const settings::ServeSettings& settings) {
  SizingRequest request;
  request.instances = static_cast<int>(settings.instances);
  request.threads_per_instance = static_cast<int>(settings.threads);
  request.network_threads = static_cast<int>(settings.network_threads);
  request.tokenize_threads = static_cast<int>(settings.tokenize_threads);
  request.arena_limit_bytes = static_cast<std::uint64_t>(settings.arena_limit.bytes);
  if (settings.pin == "on") request.pin = Pin::kOn;
  if (settings.pin == "off") request.pin = Pin::kOff;
  return request;
}

Result<ServeOptions> serve_options(const settings::ServeSettings& settings, const Sizing& sizing,
                                   const std::string& version) {
  ServeOptions options;
  WEIR_ASSIGN_OR_RETURN(options.pipeline, pipeline_options(settings, sizing));
  options.server = server_options(settings, sizing);
  WEIR_ASSIGN_OR_RETURN(options.server.api_keys, api_keys(settings));
  options.server.pipeline = options.pipeline;
  options.server.version = version;
  options.warnings = sizing.warnings;
  if (!is_loopback(options.server.http.address) && options.server.api_keys.empty()) {
    options.warnings.push_back("listening on " + options.server.http.address +
                               " without an API key: everyone who reaches this port may use the models; set "
                               "WEIR_API_KEY or --api-key-file, or --host 127.0.0.1");
  }
  return options;
}

Result<serve::ModelSource> parse_model(std::string_view text) {
  const std::size_t equals = text.find('=');
  serve::ModelSource source;
  source.folder = std::string(text);
  if (equals != std::string_view::npos && text.find('/') > equals) {
    source.name = std::string(text.substr(0, equals));
    source.folder = std::string(text.substr(equals + 1));
    if (source.name.empty()) {
      return Error(ErrorKind::kInvalidArgument, "--model " + std::string(text) + ": the name before '=' is empty",
                   "--model");
    }
  }
  if (source.folder.empty()) {
    return Error(ErrorKind::kInvalidArgument, "--model " + std::string(text) + ": the folder is missing", "--model");
  }
  return source;
}

Result<std::vector<std::string>> read_api_keys(const std::string& path) {
  constexpr std::size_t kMaxFileBytes = 1 << 20;
  Result<std::string> content = read_file(path, kMaxFileBytes);
  if (!content.ok()) return Error(content.error().kind, "--api-key-file: " + content.error().message, "--api-key-file");
  std::vector<std::string> keys;
  std::string_view rest = *content;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    keys.emplace_back(line);
    WEIR_RETURN_IF_ERROR(check_key(keys.back(), "--api-key-file " + path));
  }
  // An empty file would open the server to everyone, which is never what its owner meant.
  if (keys.empty()) return Error(ErrorKind::kInvalidArgument, "--api-key-file: no key in " + path, "--api-key-file");
  return keys;
}

bool is_loopback(std::string_view address) {
  return address == "::1" || address == "localhost" ||
         (address.starts_with("127.") && address.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string url_of(std::string_view address, unsigned port) {
  const bool v6 = address.find(':') != std::string_view::npos;
  return "http://" + (v6 ? "[" + std::string(address) + "]" : std::string(address)) + ":" + std::to_string(port);
}

}  // namespace weir::cli
