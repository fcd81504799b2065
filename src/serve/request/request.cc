#include "serve/request/request.h"

#include <string>
#include <utility>

namespace weir::serve {

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kFront:
      return "front";
    case Stage::kAdmission:
      return "admission";
    case Stage::kTokenize:
      return "tokenize";
    case Stage::kBatch:
      return "batch";
    case Stage::kEngine:
      return "engine";
  }
  return "unknown";
}

bool finish(const RequestPtr& request, std::optional<Error> error) {
  if (request->finished.exchange(true, std::memory_order_acq_rel)) return false;
  request->error = std::move(error);
  // Moved out, so that what the callback holds goes with this call and not with the last owner of the request.
  const auto done = std::exchange(request->done, nullptr);
  if (done) done(request);
  return true;
}

std::optional<std::string> prompt_name(const Request& request, const Input& input) {
  const bundle::Manifest& manifest = request.view->manifest;
  if (manifest.late_interaction && input.is_query) return bundle::kQueryPrompt;
  return request.options.prompt_name ? request.options.prompt_name : manifest.default_prompt;
}

const std::string& prompt_of(const Request& request, const Input& input) {
  static const std::string kNone;
  const auto name = prompt_name(request, input);
  if (!name) return kNone;
  const auto& prompts = request.view->manifest.prompts;
  const auto found = prompts.find(*name);
  return found == prompts.end() ? kNone : found->second;
}

bool is_query(const Request& request, const Input& input) {
  return request.view->manifest.late_interaction && prompt_name(request, input) == bundle::kQueryPrompt;
}

namespace {

bool does(Task task, const bundle::Manifest& manifest) {
  const bundle::Task own = manifest.task;
  switch (task) {
    case Task::kEmbed:
      return own == bundle::Task::kEmbedding;
    case Task::kTokenVectors:
      return own == bundle::Task::kMultiVector ||
             (own == bundle::Task::kEmbedding &&
              (manifest.output == bundle::Output::kTokenVectors || !manifest.token_output_name.empty()));
    case Task::kRerank:
      return own == bundle::Task::kRerank;
    case Task::kClassify:
      return own == bundle::Task::kClassify || own == bundle::Task::kRerank;
    case Task::kTokenLabels:
      return own == bundle::Task::kTokenClassify;
    case Task::kSparse:
      return own == bundle::Task::kSparse || manifest.lexical_weights;
    case Task::kTokenize:
    case Task::kDecode:
      return true;
  }
  return false;
}

}  // namespace

Status check_task(Task task, const ModelView& view) {
  if (does(task, view.manifest)) return {};
  const std::string name = "model '" + view.name + "'";
  if (task == Task::kTokenVectors && view.manifest.task == bundle::Task::kEmbedding) {
    return Error(ErrorKind::kInvalidArgument,
                 name + " pools in its graph: it has no vectors of tokens (import it again, from its checkpoint)",
                 "model");
  }
  return Error(ErrorKind::kInvalidArgument,
               name + " is for the task " + std::string(bundle::task_name(view.manifest.task)) +
                   " and cannot do this; GET /info tells what it is for",
               "model");
}

}  // namespace weir::serve
