// One input of a request to its encoding: prompt before it, limits, truncation as the request or the server says. A
// function of its arguments; any thread.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "serve/request/request.h"

namespace weir::serve::tokenize {

/// Fills request.encodings[index], which exists. The request has been checked. Errors name the input; kTextTooLong
/// gives both numbers.
Status encode_input(Request& request, std::size_t index, LongText long_text);

}  // namespace weir::serve::tokenize
