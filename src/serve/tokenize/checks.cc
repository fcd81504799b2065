#include "serve/tokenize/checks.h"

#include <algorithm>

#include "base/utf8.h"

namespace weir::serve::tokenize {
namespace {

constexpr std::size_t kShownNameBytes = 100;  // Of what a client sent.

std::string known_prompts(const Request& request) {
  std::string names;
  for (const auto& [name, text] : request.view->manifest.prompts) names += (names.empty() ? "'" : ", '") + name + "'";
  return names.empty() ? "none" : names;
}

Status check_inputs(const Request& request, std::size_t max_inputs) {
  if (request.inputs.empty())
    return Error(ErrorKind::kEmptyInput, "the list of inputs is empty", std::string(request.inputs_field));
  if (request.inputs.size() > max_inputs) {
    return Error(ErrorKind::kTooManyInputs,
                 "the request has " + std::to_string(request.inputs.size()) + " inputs, the limit is " +
                     std::to_string(max_inputs) + " (--max-inputs); split it",
                 std::string(request.inputs_field));
  }
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Input& input = request.inputs[i];
    if (input.is_ids ? !input.ids.empty() : !input.text.empty() && (!input.pair || !input.pair->empty())) continue;
    const std::string name = input_name(request, i);
    return Error(ErrorKind::kEmptyInput, name + " is empty", name);
  }
  return {};
}

Status check_prompt(const Request& request) {
  if (!request.options.prompt_name) return {};
  const std::string& name = *request.options.prompt_name;
  if (!request.view->manifest.prompts.contains(name)) {
    return Error(ErrorKind::kInvalidArgument,
                 "prompt_name '" + std::string(cut_utf8(name, kShownNameBytes)) +
                     "' is not a prompt of the model; it has: " + known_prompts(request),
                 "prompt_name");
  }
  const bool has_text = !request.view->manifest.prompts.at(name).empty();
  const auto is_ids = [](const Input& input) { return input.is_ids; };
  if (has_text && std::any_of(request.inputs.begin(), request.inputs.end(), is_ids)) {
    return Error(ErrorKind::kInvalidArgument, "prompt_name needs inputs of text, not of token ids", "prompt_name");
  }
  return {};
}

}  // namespace

std::string input_name(const Request& request, std::size_t index) {
  if (request.inputs[index].is_query) return "query";
  const std::string field(request.inputs_field);
  return request.inputs.size() == 1 ? field : field + "[" + std::to_string(index) + "]";
}

Status check(const Request& request, std::size_t max_inputs) {
  WEIR_RETURN_IF_ERROR(check_inputs(request, max_inputs));
  return check_prompt(request);
}

}  // namespace weir::serve::tokenize
