// What the environment says about the hub, by the variables of Python's huggingface_hub, so that both use one cache and
// one login:
//
//   HF_ENDPOINT                         the hub's address (a mirror, say)
//   HF_TOKEN, HF_TOKEN_PATH             the access token, or the file that holds it (default: HF_HOME/token)
//   HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME   where files are kept (default: ~/.cache/huggingface/hub)
//   HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE    use what is in the cache, ask nobody
//   HF_HUB_DISABLE_IMPLICIT_TOKEN       send no token
//   HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY   also in lower case
//   REQUESTS_CA_BUNDLE, SSL_CERT_FILE   certificates to trust, beside or instead of the system's
//
// Values; no threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/url.h"

namespace weir::hub {

struct Environment {
  Url endpoint;
  std::string token;  ///< Empty: none.
  std::string cache_folder;
  bool offline = false;
  std::optional<Url> https_proxy;
  std::optional<Url> http_proxy;
  std::string no_proxy;
  std::string certificates;  ///< A PEM file; empty: the system's.

  /// The proxy for `url`, or null.
  const Url* proxy_for(const Url& url) const;
};

/// The value of a variable, if it is set.
using Variables = std::function<std::optional<std::string>(const char* name)>;

/// Those of this process.
std::optional<std::string> process_variable(const char* name);

/// kInvalidArgument names the variable that holds no address; kNotFound: no home folder and no HF_HUB_CACHE.
Result<Environment> read_environment(const Variables& variables);

}  // namespace weir::hub
