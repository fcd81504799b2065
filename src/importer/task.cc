#include "importer/task.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "torch_file/torch_file.h"

namespace weir::importer {
namespace {

using bundle::ScoreFunction;
using bundle::Task;
using huggingface::JsonObject;

constexpr std::uint32_t kMaxLabels = 1u << 16;

Result<Task> task_of(const JsonObject& config, const huggingface::Layout& layout,
                     const huggingface::Overrides& overrides, std::size_t labels) {
  if (overrides.task == Task::kMultiVector && !layout.late_interaction) {
    return Error(
        ErrorKind::kInvalidArgument,
        "--task: multi_vector is for ColBERT models, in Stanford's form (architectures HF_ColBERT) or PyLate's "
        "(a Dense and no Pooling in modules.json)",
        "--task");
  }
  if (overrides.task) return *overrides.task;
  if (layout.late_interaction) return Task::kMultiVector;
  if (layout.pools_words) return Task::kSparse;
  if (layout.has_pooling) return Task::kEmbedding;
  WEIR_ASSIGN_OR_RETURN(const auto architectures, config.texts("architectures"));
  const std::string name = architectures && !architectures->empty() ? architectures->front() : std::string();
  if (name.ends_with("ForSequenceClassification")) return labels == 1 ? Task::kRerank : Task::kClassify;
  if (name.ends_with("ForTokenClassification")) return Task::kTokenClassify;
  return Task::kEmbedding;
}

/// id2label: {"0": "NEGATIVE", "1": "POSITIVE"}.
Result<std::vector<std::string>> read_labels(const JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto names, config.text_map("id2label"));
  WEIR_ASSIGN_OR_RETURN(const auto count, config.count("num_labels", kMaxLabels));
  std::vector<std::string> labels;
  if (!names || names->empty()) {
    for (std::uint32_t i = 0; i < count.value_or(2); ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
  }
  if (names->size() > kMaxLabels) return config.error("id2label", "has more than " + std::to_string(kMaxLabels));
  for (std::size_t i = 0; i < names->size(); ++i) {
    const auto found = names->find(std::to_string(i));
    if (found == names->end()) {
      return config.error("id2label",
                          "has " + std::to_string(names->size()) + " labels, but none for " + std::to_string(i));
    }
    labels.push_back(found->second);
  }
  if (count && *count != labels.size()) {
    return config.error("num_labels", "is " + std::to_string(*count) + ", but id2label has " +
                                          std::to_string(labels.size()) + " labels");
  }
  return labels;
}

/// The two maps are each other's inverse, unless a label stands there twice.
Status check_ids(const JsonObject& config, const std::vector<std::string>& labels) {
  WEIR_ASSIGN_OR_RETURN(const auto ids, config.object("label2id"));
  if (!ids) return {};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const auto id, ids->count(labels[i], kMaxLabels));
    if (!id || *id == i || (*id < labels.size() && labels[*id] == labels[i])) continue;
    return config.error("label2id",
                        "says " + std::to_string(*id) + " for '" + labels[i] + "', id2label says " + std::to_string(i));
  }
  return {};
}

/// The name of a PyTorch module that cross-encoders of sentence-transformers write, in one of three places.
Result<std::optional<ScoreFunction>> activation_of_cross_encoder(const JsonObject& config,
                                                                 const std::vector<std::string>& folders) {
  std::optional<std::string> name;
  WEIR_ASSIGN_OR_RETURN(name, config.text("sbert_ce_default_activation_function"));
  WEIR_ASSIGN_OR_RETURN(const auto section, config.object("sentence_transformers"));
  if (!name && section) {
    WEIR_ASSIGN_OR_RETURN(name, section->text("activation_fn"));
  }
  if (const auto path = huggingface::find_file(folders, "config_sentence_transformers.json"); !name && path) {
    WEIR_ASSIGN_OR_RETURN(const auto settings, JsonObject::read(*path));
    WEIR_ASSIGN_OR_RETURN(name, settings.text("activation_fn"));
  }
  if (!name) return std::optional<ScoreFunction>();
  const std::string kind = name->substr(name->rfind('.') + 1);
  if (kind == "Sigmoid") return std::optional(ScoreFunction::kSigmoid);
  if (kind == "Identity") return std::optional(ScoreFunction::kNone);
  if (kind == "Softmax") return std::optional(ScoreFunction::kSoftmax);
  return config.error("sentence_transformers.activation_fn",
                      "'" + *name + "' is not supported; weir has Sigmoid, Identity and Softmax",
                      ErrorKind::kUnsupported);
}

Result<ScoreFunction> score_function(const JsonObject& config, const ModelTask& task,
                                     const std::vector<std::string>& folders) {
  if (task.task == Task::kTokenClassify) return ScoreFunction::kSoftmax;
  WEIR_ASSIGN_OR_RETURN(const auto named, activation_of_cross_encoder(config, folders));
  if (named) return *named;
  WEIR_ASSIGN_OR_RETURN(const auto problem, config.text("problem_type"));
  if (problem.value_or("") == "multi_label_classification") return ScoreFunction::kSigmoid;
  if (problem.value_or("") == "regression") return ScoreFunction::kNone;
  return task.labels.size() == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kSoftmax;
}

families::HeadKind head_kind(Task task) {
  switch (task) {
    case Task::kRerank:
    case Task::kClassify:
      return families::HeadKind::kTextLabels;
    case Task::kTokenClassify:
      return families::HeadKind::kTokenLabels;
    case Task::kSparse:
      return families::HeadKind::kWords;
    case Task::kMultiVector:
      return families::HeadKind::kTokenDense;
    case Task::kEmbedding:
      break;
  }
  return families::HeadKind::kNone;
}

using torch_file::Tensor;

Result<Tensor> take(const std::map<std::string, Tensor>& tensors, const std::string& name,
                    const std::vector<std::uint64_t>& shape, const std::string& file) {
  const auto found = tensors.find(name);
  const bool any_rows = !shape.empty() && shape.front() == 0;
  const bool fits =
      found != tensors.end() && found->second.shape.size() == shape.size() &&
      std::equal(shape.begin() + (any_rows ? 1 : 0), shape.end(), found->second.shape.begin() + (any_rows ? 1 : 0));
  if (fits) return found->second;
  return Error(ErrorKind::kCorrupt,
               file + ": tensor '" + name + "' is missing or does not fit config.json's hidden_size", file);
}

}  // namespace

Result<std::optional<families::TokenHeads>> read_token_heads(const std::string& folder, std::uint32_t hidden_size,
                                                             std::vector<std::string>& files) {
  const auto word_path = huggingface::find_file({folder}, "sparse_linear.pt");
  const auto vector_path = huggingface::find_file({folder}, "colbert_linear.pt");
  if (!word_path || !vector_path) return std::optional<families::TokenHeads>();
  families::TokenHeads heads;
  WEIR_ASSIGN_OR_RETURN(const auto words, torch_file::read_state_dict(*word_path));
  WEIR_ASSIGN_OR_RETURN(const Tensor word_weights, take(words, "weight", {1, hidden_size}, *word_path));
  WEIR_ASSIGN_OR_RETURN(const Tensor word_bias, take(words, "bias", {1}, *word_path));
  WEIR_ASSIGN_OR_RETURN(const auto vectors, torch_file::read_state_dict(*vector_path));
  WEIR_ASSIGN_OR_RETURN(const Tensor weights, take(vectors, "weight", {0, hidden_size}, *vector_path));
  WEIR_ASSIGN_OR_RETURN(const Tensor bias, take(vectors, "bias", {weights.shape.front()}, *vector_path));
  heads.word_weights = word_weights.values;
  heads.word_bias = word_bias.values.front();
  heads.vector_dimensions = static_cast<std::uint32_t>(weights.shape.front());
  heads.vector_weights = weights.values;
  heads.vector_bias = bias.values;
  files.insert(files.end(), {*word_path, *vector_path});
  return std::optional(std::move(heads));
}

Result<ModelTask> read_task(const JsonObject& config, const huggingface::Layout& layout,
                            const huggingface::Overrides& overrides, const std::vector<std::string>& folders) {
  ModelTask task;
  WEIR_ASSIGN_OR_RETURN(task.labels, read_labels(config));
  WEIR_ASSIGN_OR_RETURN(task.task, task_of(config, layout, overrides, task.labels.size()));
  task.head.kind = head_kind(task.task);
  if (task.task == Task::kEmbedding || task.task == Task::kSparse || task.task == Task::kMultiVector) {
    task.labels.clear();
    return task;
  }
  WEIR_RETURN_IF_ERROR(check_ids(config, task.labels));
  WEIR_ASSIGN_OR_RETURN(task.score_function, score_function(config, task, folders));
  task.head.labels = static_cast<std::uint32_t>(task.labels.size());
  if (task.task != Task::kRerank) return task;
  if (task.labels.size() != 1) {
    return config.error("id2label", "has " + std::to_string(task.labels.size()) +
                                        " labels, but a reranker gives one score; import it with --task classify");
  }
  task.labels.clear();
  return task;
}

}  // namespace weir::importer
