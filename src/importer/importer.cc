#include "importer/importer.h"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "importer/conversion.h"
#include "importer/golden.h"
#include "importer/packing.h"
#include "importer/rewrite.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTokenizerBytes = std::size_t{256} << 20;

std::string now_rfc3339() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// --force replaces a bundle; a folder of another kind is somebody's work and a slip of the fingers.
Status check_replaced(const std::string& target) {
  std::error_code code;
  if (!fs::is_directory(target, code) || fs::is_empty(target, code) || fs::exists(target + "/weir.json", code))
    return {};
  return Error(ErrorKind::kInvalidArgument,
               target + ": exists and is no bundle (no weir.json in it); it is not replaced", target);
}

/// A bundle takes its folder's place, which would leave whoever stands in that folder in one that is gone.
Status check_not_inside(const std::string& target) {
  std::error_code code;
  const fs::path here = fs::current_path(code);
  for (fs::path folder = here; !code; folder = folder.parent_path()) {
    std::error_code no_folder;
    if (fs::equivalent(folder, target, no_folder)) {
      return Error(ErrorKind::kInvalidArgument,
                   target +
                       ": the current folder is in it and would be replaced with it; name a folder that does not "
                       "exist yet, such as ./model",
                   target);
    }
    if (!folder.has_relative_path()) break;
  }
  return {};
}

std::string target_name(const std::string& target) {
  std::error_code code;
  const fs::path path = fs::absolute(target, code).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// Takes one model from source to target; holds what the steps share.
class Import {
 public:
  explicit Import(const Options& options) : options_(options) {}

  Result<Summary> run() {
    WEIR_ASSIGN_OR_RETURN(const Source source, find_source(options_.source));
    WEIR_ASSIGN_OR_RETURN(StagedFolder staged, stage());
    WEIR_RETURN_IF_ERROR(step("writing graph and weights"));
    WEIR_RETURN_IF_ERROR(check_precision_for(source));
    ConversionRequest request{&source, options_.overrides, staged.path(), "fp32", options_.attention,
                              false,   options_.cancelled};
    Summary summary;
    std::optional<Recognition> recognition;
    WEIR_ASSIGN_OR_RETURN(Conversion conversion, convert(request, recognition, summary));
    bundle::Manifest& manifest = conversion.manifest;
    WEIR_RETURN_IF_ERROR(step("checking the tokenizer"));
    WEIR_ASSIGN_OR_RETURN(const auto tokenizer, take_tokenizer(conversion, staged.path()));
    WEIR_RETURN_IF_ERROR(take_packed(request, *tokenizer, manifest, summary));
    if (recognition) {
      manifest.lineage.steps.insert(manifest.lineage.steps.begin(), "recognize: onnx, " + summary.rewrite);
      remove_folder(recognition->source.checkpoint_folder);
    }
    manifest.name = options_.name.empty() ? target_name(options_.target) : options_.name;
    WEIR_RETURN_IF_ERROR(step("computing golden vectors"));
    WEIR_ASSIGN_OR_RETURN(
        const auto golden,
        compute_golden({staged.path(), golden_texts(manifest.task), options_.cancelled}, manifest, *tokenizer));
    WEIR_RETURN_IF_ERROR(step("hashing the sources"));
    WEIR_RETURN_IF_ERROR(fill_lineage(conversion, source));
    WEIR_RETURN_IF_ERROR(bundle::write_manifest(staged.path(), manifest));
    WEIR_RETURN_IF_ERROR(bundle::write_golden(staged.path(), golden));
    WEIR_ASSIGN_OR_RETURN(const auto written, bundle::load(staged.path()));
    summary.manifest = written.manifest;
    summary.bundle_bytes = folder_bytes(staged.path());
    summary.golden_texts = golden.size();
    WEIR_RETURN_IF_ERROR(step("moving the bundle to " + options_.target));
    WEIR_RETURN_IF_ERROR(staged.commit());
    return summary;
  }

 private:
  Status step(const std::string& what) const {
    if (options_.cancelled && options_.cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
    if (options_.progress) options_.progress(what);
    return {};
  }

  /// Writes the padded fp32 graph. Of an ONNX file that is rewritten, `request` then means the checkpoint made of it.
  Result<Conversion> convert(ConversionRequest& request, std::optional<Recognition>& recognition,
                             Summary& summary) const {
    if (request.source->kind == Source::Kind::kCheckpoint) return convert_checkpoint(request);
    if (options_.rewrite == Rewrite::kNever) return convert_onnx(request);
    auto rewritten = convert_rewritten(request, recognition, summary);
    if (rewritten.ok()) return rewritten;
    remove_folder(request.folder + "/recognized");
    const Error& error = rewritten.error();
    const bool machine_failed = error.kind == ErrorKind::kIo || error.kind == ErrorKind::kCancelled;
    if (machine_failed) return rewritten;
    const bool is_ordered = options_.precision == "int8" || options_.precision == "bf16";
    if (is_ordered || options_.rewrite == Rewrite::kRequired) {
      return Error(error.kind, request.source->onnx_path + ": cannot be rewritten: " + error.message, error.where);
    }
    summary.rewrite = "runs as it is: " + error.message;
    log::info("ONNX graph runs as it is", {{"file", request.source->onnx_path}, {"reason", error.message}});
    return convert_onnx(request);
  }

  Result<Conversion> convert_rewritten(ConversionRequest& request, std::optional<Recognition>& recognition,
                                       Summary& summary) const {
    WEIR_ASSIGN_OR_RETURN(Recognition found, recognize_onnx(request));
    WEIR_RETURN_IF_ERROR(check_gain(found));
    WEIR_RETURN_IF_ERROR(step("writing what was recognized: " + found.description));
    ConversionRequest of_checkpoint = request;
    of_checkpoint.source = &found.source;
    of_checkpoint.overrides = found.overrides;
    WEIR_ASSIGN_OR_RETURN(Conversion conversion, convert_checkpoint(of_checkpoint));
    WEIR_RETURN_IF_ERROR(step("comparing it with the original"));
    WEIR_ASSIGN_OR_RETURN(const RewriteAgreement agreement, check_rewrite(found, conversion, request));
    summary.rewrite = found.description + "; " + agreement.text();
    std::erase_if(conversion.files, [&](const std::string& file) { return file.starts_with(request.folder + "/"); });
    conversion.files.insert(conversion.files.end(), found.files.begin(), found.files.end());
    recognition = std::move(found);
    request.source = &recognition->source;
    request.overrides = recognition->overrides;
    return conversion;
  }

  /// A graph in 8 bits would be larger and slower in more.
  Status check_gain(const Recognition& found) const {
    const bool is_asked_for =
        options_.rewrite == Rewrite::kRequired || options_.precision == "int8" || options_.precision == "bf16";
    if (found.rounding == recognize::Rounding::kNone || is_asked_for) return {};
    std::string against = "fp32 is asked for";
    if (options_.precision == "auto" && !options_.padded) {
      WEIR_ASSIGN_OR_RETURN(against, reason_against("int8"));
    }
    if (against.empty()) return {};
    return Error(ErrorKind::kUnsupported, "it is recognized (" + found.description +
                                              "), but in 8 bits, and would be rewritten in more, as " + against +
                                              "; give --precision int8, or --rewrite required");
  }

  static void remove_folder(const std::string& folder) {
    std::error_code code;
    fs::remove_all(folder, code);
  }

  Status check_precision_for(const Source& source) const {
    WEIR_RETURN_IF_ERROR(check_precision(options_.precision));
    WEIR_RETURN_IF_ERROR(check_attention());
    const bool is_ordered = options_.precision == "int8" || options_.precision == "bf16";
    if (options_.padded && is_ordered) {
      return Error(ErrorKind::kInvalidArgument,
                   "--padded: padded graphs are in fp32; --precision is " + options_.precision, "--padded");
    }
    if (source.kind != Source::Kind::kOnnx || !is_ordered || options_.rewrite != Rewrite::kNever) return {};
    return Error(ErrorKind::kInvalidArgument,
                 "--precision: " + options_.precision +
                     " is made of what is recognized in an ONNX file; --rewrite never takes it as it is",
                 "--precision");
  }

  Status check_attention() const {
    if (options_.attention == "auto" || options_.attention == "fp32") return {};
    const auto refused = [](const std::string& what) {
      return Error(ErrorKind::kInvalidArgument, "--attention: " + what, "--attention");
    };
    if (options_.attention != "bf16" && options_.attention != "int8") {
      return refused("'" + options_.attention + "' is none of auto, fp32, bf16 and int8");
    }
    if (options_.padded) return refused("padded graphs are in fp32, attention too");
    if (options_.precision == "fp32") return refused(options_.attention + " goes with --precision bf16, int8 or auto");
    return {};
  }

  /// Takes the packed graph instead of the padded one, where there is one that is wanted and good enough.
  Status take_packed(const ConversionRequest& request, const tokenizers::Tokenizer& tokenizer,
                     bundle::Manifest& manifest, Summary& summary) const {
    if (request.source->kind == Source::Kind::kOnnx) {
      summary.precision_reason = "an ONNX graph runs as it is";
      return {};
    }
    if (options_.padded) {
      summary.precision_reason = "--padded";
      return {};
    }
    const PackingRequest packing{request, options_.precision, [this](const std::string& what) { return step(what); },
                                 &tokenizer};
    WEIR_ASSIGN_OR_RETURN(Packing packed, pack(packing, manifest));
    summary.agreement = packed.agreement;
    summary.precision_reason = std::move(packed.reason);
    return {};
  }

  Result<StagedFolder> stage() const {
    WEIR_RETURN_IF_ERROR(check_not_inside(options_.target));
    if (options_.replace) WEIR_RETURN_IF_ERROR(check_replaced(options_.target));
    auto staged = StagedFolder::create(options_.target, options_.replace);
    if (staged.ok() || staged.error().kind != ErrorKind::kInvalidArgument || options_.replace) return staged;
    Error error = staged.error();
    std::error_code code;
    if (fs::is_directory(options_.target, code)) error.message += "; give --force to replace the bundle in it";
    return error;
  }

  Result<std::unique_ptr<tokenizers::Tokenizer>> take_tokenizer(Conversion& conversion,
                                                                const std::string& folder) const {
    const std::string& path = conversion.tokenizer_path;
    WEIR_ASSIGN_OR_RETURN(const std::string json, read_file(path, kMaxTokenizerBytes));
    WEIR_ASSIGN_OR_RETURN(auto tokenizer, tokenizers::Tokenizer::from_json(json, path));
    conversion.files.push_back(path);
    std::uint32_t& vocabulary = conversion.manifest.vocabulary_size;
    if (vocabulary == 0) vocabulary = tokenizer->vocabulary_size();
    if (tokenizer->vocabulary_size() > vocabulary) {
      return Error(ErrorKind::kCorrupt,
                   path + ": has ids up to " + std::to_string(tokenizer->vocabulary_size() - 1) +
                       ", but config.json's vocab_size is " + std::to_string(vocabulary) +
                       "; tokenizer and weights do not belong together",
                   path);
    }
    if (conversion.manifest.max_tokens <= tokenizer->special_tokens_added()) {
      return Error(ErrorKind::kInvalidArgument,
                   "at most " + std::to_string(conversion.manifest.max_tokens) +
                       " tokens leave no room for text beside the tokenizer's special ones; give --max-tokens",
                   "--max-tokens");
    }
    WEIR_RETURN_IF_ERROR(write_file(folder + "/tokenizer.json", json));
    return tokenizer;
  }

  Status fill_lineage(Conversion& conversion, const Source& source) const {
    bundle::Lineage& lineage = conversion.manifest.lineage;
    lineage.weir_version = options_.weir_version;
    lineage.created = now_rfc3339();
    if (!options_.origin.empty()) lineage.steps.insert(lineage.steps.begin(), "fetch " + options_.origin);
    std::set<std::string> seen;
    std::error_code code;
    const fs::path root = fs::absolute(source.root, code).lexically_normal();
    for (const std::string& file : conversion.files) {
      const fs::path path = fs::absolute(file, code).lexically_normal();
      if (!seen.insert(path.string()).second) continue;
      fs::path relative = path.lexically_relative(root);
      if (relative.empty() || *relative.begin() == "..") relative = path.filename();
      WEIR_ASSIGN_OR_RETURN(std::string digest, bundle::sha256_file(file));
      lineage.sources.push_back({relative.string(), std::move(digest), fs::file_size(path, code)});
    }
    return {};
  }

  static std::uint64_t folder_bytes(const std::string& folder) {
    std::uint64_t bytes = 0;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) bytes += entry.file_size(code);
    return bytes;
  }

  const Options& options_;
};

}  // namespace

Result<Summary> import_model(const Options& options) { return Import(options).run(); }

}  // namespace weir::importer
