// One input of a request to its encoding: prompt before it, limits, truncation as the request or the server says. A
// function of its arguments; any thread.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "serve/request/request.h"

namespace weir::serve::tokenize {

/// Fills request.encodings[index], which exists, and request.windows[index] where the text is computed in windows. The
/// request has been checked. Errors name the input; kTextTooLong gives both numbers.
Status encode_input(Request& request, std::size_t index, const LongTextRule& rule);

}  // namespace weir::serve::tokenize
