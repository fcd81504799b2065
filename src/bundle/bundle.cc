#include "bundle/bundle.h"

#include <utility>

#include <simdjson.h>
#include <sys/stat.h>

#include "base/file.h"
#include "bundle/manifest.h"

namespace weir::bundle {
namespace {

template <class Value>
struct Named {
  Value value;
  std::string_view name;
};

constexpr Named<Pooling> kPoolings[] = {{Pooling::kMean, "mean"},
                                        {Pooling::kCls, "cls"},
                                        {Pooling::kMax, "max"},
                                        {Pooling::kLast, "last"},
                                        {Pooling::kMeanSqrtLength, "mean_sqrt_length"},
                                        {Pooling::kWeightedMean, "weighted_mean"}};
constexpr Named<Task> kTasks[] = {{Task::kEmbedding, "embedding"}, {Task::kRerank, "rerank"},
                                  {Task::kClassify, "classify"},   {Task::kTokenClassify, "token_classify"},
                                  {Task::kSparse, "sparse"},       {Task::kMultiVector, "multi_vector"}};
constexpr Named<ScoreFunction> kScoreFunctions[] = {
    {ScoreFunction::kNone, "none"}, {ScoreFunction::kSigmoid, "sigmoid"}, {ScoreFunction::kSoftmax, "softmax"}};

template <class Value, std::size_t N>
std::string_view name_in(const Named<Value> (&table)[N], Value value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

template <class Value, std::size_t N>
std::optional<Value> value_in(const Named<Value> (&table)[N], std::string_view name) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Status check_folder(const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    return Error(ErrorKind::kNotFound, folder + ": no such folder; `weir import` makes a bundle", folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    return Error(ErrorKind::kNotFound, folder + ": is not a folder; a bundle is one, made by `weir import`", folder);
  }
  if (!is_regular_file(folder + "/weir.json")) {
    return Error(ErrorKind::kNotFound,
                 folder + ": holds no weir.json, so it is not a bundle; make one with `weir import " + folder + " DIR`",
                 folder);
  }
  return {};
}

/// A bundle without one of its other files is a broken bundle, not a missing one.
Error missing_file(const std::string& path) {
  return {ErrorKind::kCorrupt, path + ": missing; the bundle is incomplete: import the model again", path};
}

/// A name or prompt that is not UTF-8 would make a file that load() refuses.
Status write_json(const std::string& path, const std::string& json) {
  if (!simdjson::validate_utf8(json)) {
    return Error(ErrorKind::kCorrupt, path + ": cannot be written: a name or text in it is not valid UTF-8", path);
  }
  return write_file(path, json);
}

}  // namespace

std::string_view pooling_name(Pooling pooling) { return name_in(kPoolings, pooling); }
std::optional<Pooling> pooling_from_name(std::string_view name) { return value_in(kPoolings, name); }

std::string_view task_name(Task task) { return name_in(kTasks, task); }
std::optional<Task> task_from_name(std::string_view name) { return value_in(kTasks, name); }

std::string_view score_function_name(ScoreFunction function) { return name_in(kScoreFunctions, function); }
std::optional<ScoreFunction> score_function_from_name(std::string_view name) { return value_in(kScoreFunctions, name); }

std::string_view layout_name(Layout layout) { return layout == Layout::kPacked ? "packed" : "padded"; }

std::optional<Layout> layout_from_name(std::string_view name) {
  if (name == layout_name(Layout::kPadded)) return Layout::kPadded;
  if (name == layout_name(Layout::kPacked)) return Layout::kPacked;
  return std::nullopt;
}

std::string_view output_kind_name(Output output) {
  return output == Output::kTokenVectors ? "token_vectors" : "text_vectors";
}

std::optional<Output> output_kind_from_name(std::string_view name) {
  if (name == output_kind_name(Output::kTokenVectors)) return Output::kTokenVectors;
  if (name == output_kind_name(Output::kTextVectors)) return Output::kTextVectors;
  return std::nullopt;
}

Result<Bundle> load(const std::string& folder) {
  WEIR_RETURN_IF_ERROR(check_folder(folder));
  Bundle bundle;
  bundle.folder = folder;
  const std::string manifest_path = folder + "/weir.json";
  WEIR_ASSIGN_OR_RETURN(const std::string manifest, read_file(manifest_path, kManifestLimitBytes));
  WEIR_ASSIGN_OR_RETURN(bundle.manifest, parse_manifest(manifest, manifest_path));
  const std::string golden_path = folder + "/golden.json";
  for (const auto& path : {golden_path, bundle.model_path(), bundle.tokenizer_path()}) {
    if (!is_regular_file(path)) return missing_file(path);
  }
  WEIR_ASSIGN_OR_RETURN(const std::string golden, read_file(golden_path, kGoldenLimitBytes));
  WEIR_ASSIGN_OR_RETURN(bundle.golden, parse_golden(golden, golden_path, bundle.manifest.dimensions));
  return bundle;
}

Status write_manifest(const std::string& folder, const Manifest& manifest) {
  const std::string path = folder + "/weir.json";
  WEIR_RETURN_IF_ERROR(check_manifest(manifest, path));
  return write_json(path, manifest_json(manifest));
}

Status write_golden(const std::string& folder, const std::vector<Golden>& golden) {
  const std::string path = folder + "/golden.json";
  WEIR_RETURN_IF_ERROR(check_golden(golden, path));
  return write_json(path, golden_json(golden));
}

}  // namespace weir::bundle
