// What a request asks, held against what its model and the server offer. Done before any text is tokenized.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "serve/request/request.h"

namespace weir::serve::tokenize {

/// kEmptyInput: no input, or an empty one; kTooManyInputs; kInvalidArgument: an unknown prompt, or one for token ids.
/// Errors name the field and what is allowed.
Status check(const Request& request, std::size_t max_inputs);

/// How a message names an input: "input[3]", or "input" when it is the only one; TEI's clients call it "inputs". The
/// query that others are ranked for is "query".
std::string input_name(const Request& request, std::size_t index);

}  // namespace weir::serve::tokenize
