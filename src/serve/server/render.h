// What a finished request's answer says, in its route's dialect. Pure functions.
#pragma once

#include <string>

#include "serve/front/http/dialects.h"
#include "serve/request/request.h"
#include "serve/server/routes.h"

namespace weir::serve::server {

/// A finished request without an error, and what its body asked of the answer.
struct Rendering {
  const Request& request;
  const ModelView& view;
  const front::http::ParsedBody& form;  ///< Without inputs and options, which the request has.
  const Route& route;
};

std::string render_body(const Rendering& rendering);

}  // namespace weir::serve::server
