#include "hub/environment.h"

#include <algorithm>
#include <cstdlib>

#include "base/file.h"

namespace weir::hub {
namespace {

constexpr char kDefaultEndpoint[] = "https://huggingface.co";
constexpr std::size_t kLargestTokenFile = 64 << 10;

bool is_true(const std::optional<std::string>& value) {
  if (!value) return false;
  std::string text = *value;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return text == "1" || text == "ON" || text == "YES" || text == "TRUE";
}

std::string without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

/// Reads variables; one that is set but empty counts as not set.
class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  std::optional<std::string> operator()(const char* name) const {
    std::optional<std::string> value = variables_(name);
    return value && value->empty() ? std::nullopt : value;
  }

  /// "~" and "~/…" are the home folder, as Python's expanduser has it.
  std::string path(const std::string& text) const {
    if (text != "~" && !text.starts_with("~/")) return text;
    return (*this)("HOME").value_or("~") + text.substr(1);
  }

  Result<std::optional<Url>> url(const char* name) const {
    const auto value = (*this)(name);
    if (!value) return std::optional<Url>();
    const bool has_scheme = value->find("://") != std::string::npos;
    const Result<Url> parsed = Url::parse(has_scheme ? *value : "http://" + *value);
    if (!parsed.ok())
      return Error(ErrorKind::kInvalidArgument, std::string(name) + ": " + parsed.error().message, name);
    return std::optional<Url>(*parsed);
  }

  /// The first of these variables, each also in lower case, that holds an address.
  Result<std::optional<Url>> first_url(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      std::string small = name;
      std::transform(small.begin(), small.end(), small.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
      for (const char* spelling : {small.c_str(), name}) {
        WEIR_ASSIGN_OR_RETURN(std::optional<Url> found, url(spelling));
        if (found) return found;
      }
    }
    return std::optional<Url>();
  }

 private:
  const Variables& variables_;
};

std::string home_folder(const Reader& read) {
  if (const auto home = read("HF_HOME")) return read.path(*home);
  if (const auto cache = read("XDG_CACHE_HOME")) return read.path(*cache) + "/huggingface";
  if (const auto home = read("HOME")) return *home + "/.cache/huggingface";
  return std::string();
}

std::string read_token(const Reader& read, const std::string& home) {
  if (is_true(read("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return {};
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (const auto token = read(name)) return without_spaces(*token);
  }
  const auto path = read("HF_TOKEN_PATH");
  if (!path && home.empty()) return {};
  const Result<std::string> content = read_file(path ? read.path(*path) : home + "/token", kLargestTokenFile);
  return content.ok() ? without_spaces(*content) : std::string();
}

bool has_suffix_domain(std::string_view host, std::string_view entry) {
  while (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty()) return false;
  return host == entry ||
         (host.size() > entry.size() && host.ends_with(entry) && host[host.size() - entry.size() - 1] == '.');
}

}  // namespace

std::optional<std::string> process_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

const Url* Environment::proxy_for(const Url& url) const {
  const std::optional<Url>& proxy = url.secure ? https_proxy : http_proxy;
  if (!proxy) return nullptr;
  std::string_view rest = no_proxy;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string entry = without_spaces(rest.substr(0, comma));
    if (entry == "*" || has_suffix_domain(url.host, entry) || entry == url.authority()) return nullptr;
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return &*proxy;
}

Result<Environment> read_environment(const Variables& variables) {
  const Reader read(variables);
  Environment environment;
  WEIR_ASSIGN_OR_RETURN(const std::optional<Url> endpoint, read.url("HF_ENDPOINT"));
  if (endpoint) {
    environment.endpoint = *endpoint;
  } else {
    WEIR_ASSIGN_OR_RETURN(environment.endpoint, Url::parse(kDefaultEndpoint));
  }
  while (environment.endpoint.target.ends_with('/')) environment.endpoint.target.pop_back();
  const std::string home = home_folder(read);
  auto cache = read("HF_HUB_CACHE");
  if (!cache) cache = read("HUGGINGFACE_HUB_CACHE");
  if (!cache && home.empty()) {
    return Error(ErrorKind::kNotFound, "no folder for the hub's files: neither HF_HUB_CACHE, HF_HOME nor HOME is set",
                 "HF_HUB_CACHE");
  }
  environment.cache_folder = cache ? read.path(*cache) : home + "/hub";
  environment.token = read_token(read, home);
  environment.offline = is_true(read("HF_HUB_OFFLINE")) || is_true(read("TRANSFORMERS_OFFLINE"));
  WEIR_ASSIGN_OR_RETURN(environment.https_proxy, read.first_url({"HTTPS_PROXY", "ALL_PROXY"}));
  WEIR_ASSIGN_OR_RETURN(environment.http_proxy, read.first_url({"HTTP_PROXY", "ALL_PROXY"}));
  environment.no_proxy = read("no_proxy").value_or(read("NO_PROXY").value_or(""));
  environment.certificates = read("REQUESTS_CA_BUNDLE").value_or(read("CURL_CA_BUNDLE").value_or(""));
  return environment;
}

}  // namespace weir::hub
