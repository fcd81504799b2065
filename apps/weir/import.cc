// `weir import SRC DIR`: makes a bundle of a model folder or an ONNX file.
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/weir/command.h"
#include "apps/weir/hub_model.h"
#include "apps/weir/stop_signals.h"
#include "importer/importer.h"

namespace weir::cli {
namespace {

constexpr int kExitInterrupted = 130;

constexpr char kFooter[] =
    "SRC is one of\n"
    "  a folder in the Hugging Face layout: config.json, model.safetensors (or shards), tokenizer.json, and\n"
    "    sentence-transformers' modules.json, 1_Pooling/config.json, sentence_bert_config.json,\n"
    "    config_sentence_transformers.json\n"
    "  an .onnx file, or a folder with one, beside its tokenizer.json and these config files\n"
    "  a model of the hub, org/name[@revision], unless a folder has that name: what is needed of it is fetched, "
    "unless\n"
    "    it is in the cache, which is the one of Python's huggingface_hub. HF_TOKEN, HF_ENDPOINT, HF_HOME,\n"
    "    HF_HUB_CACHE, HF_HUB_OFFLINE and HTTPS_PROXY mean what they mean there\n"
    "\n"
    "What the files say is used as sentence-transformers uses it; nothing is guessed. A flag takes the place of\n"
    "a file that is missing, or of what it says.\n"
    "\n"
    "exit status: 0 imported; 1 failed, and nothing is left under DIR; 2 wrong usage; 130 interrupted\n";

struct Flags {
  importer::Options options;
  std::string pooling;
  std::string rewrite = "auto";
  std::string task;
  std::uint32_t max_tokens = 0;
  bool normalize = false;
  bool no_normalize = false;
  bool quiet = false;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("SRC", flags.options.source, "a model folder, an .onnx file, or org/name on the hub")->required();
  app.add_option("DIR", flags.options.target,
                 "the bundle's folder, which must not exist yet or be empty (default for org/name: ./name)");
  app.add_option("--name", flags.options.name, "the model's name for clients (default: DIR's last part)");
  app.add_option("--pooling", flags.pooling,
                 "how token vectors become a text's: mean, cls, max, last, mean_sqrt_length or weighted_mean");
  app.add_option(
      "--task", flags.task,
      "what the model is for: embedding, rerank, classify, token_classify, sparse or multi_vector (default: as "
      "its files say)");
  app.add_option("--max-tokens", flags.max_tokens, "longest text, special tokens included");
  auto* normalize = app.add_flag("--normalize", flags.normalize, "vectors are L2-normalized");
  app.add_flag("--no-normalize", flags.no_normalize, "vectors are left as they are")->excludes(normalize);
  app.add_option(
         "--precision", flags.options.precision,
         "fp32; bf16; int8, several times faster on CPUs with VNNI or AMX; auto: int8 where that is so and the vectors "
         "agree with fp32, else bf16, else fp32")
      ->default_str("fp32");
  app.add_option(
         "--attention", flags.options.attention,
         "numbers inside attention: fp32 or, faster, int8, whose vectors are the same bits on every x86 CPU; bf16, on "
         "CPUs with AMX; auto: as --precision")
      ->default_str("auto");
  app.add_flag("--padded", flags.options.padded,
               "a graph of standard ONNX operators, which any ONNX Runtime computes; slower, and in fp32");
  app.add_option(
         "--rewrite", flags.rewrite,
         "of an ONNX file: auto, import the encoder that is recognized in it, if it computes the same; required, "
         "fail where that is not so; never, take the graph as it is")
      ->capture_default_str();
  app.add_flag("--force", flags.options.replace, "replace the bundle in DIR");
  app.add_flag("-q,--quiet", flags.quiet, "no progress lines and no summary");
  app.footer(kFooter);
}

Status apply(const CLI::App& app, Flags& flags) {
  huggingface::Overrides& overrides = flags.options.overrides;
  if (!flags.pooling.empty()) {
    overrides.pooling = bundle::pooling_from_name(flags.pooling);
    if (!overrides.pooling) {
      return Error(
          ErrorKind::kInvalidArgument,
          "--pooling: '" + flags.pooling + "' is none of mean, cls, max, last, mean_sqrt_length and weighted_mean",
          "--pooling");
    }
  }
  if (!flags.task.empty()) {
    overrides.task = bundle::task_from_name(flags.task);
    if (!overrides.task) {
      return Error(ErrorKind::kInvalidArgument,
                   "--task: '" + flags.task +
                       "' is none of embedding, rerank, classify, token_classify, sparse and multi_vector",
                   "--task");
    }
  }
  if (flags.rewrite != "auto" && flags.rewrite != "never" && flags.rewrite != "required") {
    return Error(ErrorKind::kInvalidArgument, "--rewrite: '" + flags.rewrite + "' is none of auto, required and never",
                 "--rewrite");
  }
  flags.options.rewrite = flags.rewrite == "auto"    ? importer::Rewrite::kAuto
                          : flags.rewrite == "never" ? importer::Rewrite::kNever
                                                     : importer::Rewrite::kRequired;
  if (app.count("--max-tokens") > 0) overrides.max_tokens = flags.max_tokens;
  if (flags.normalize || flags.no_normalize) overrides.normalize = flags.normalize;
  return {};
}

std::string prompt_list(const bundle::Manifest& manifest) {
  std::string text;
  for (const auto& [name, prompt] : manifest.prompts) {
    text += (text.empty() ? "" : ", ") + name + (manifest.default_prompt == name ? " (default)" : "");
  }
  return text.empty() ? "none" : text;
}

void print_summary(const importer::Summary& summary, const std::string& target, double seconds) {
  const bundle::Manifest& manifest = summary.manifest;
  const bool pooled = manifest.output == bundle::Output::kTextVectors;
  const std::string pooling = manifest.task == bundle::Task::kMultiVector ? "none, a vector per token"
                              : pooled                                    ? "in the graph"
                                       : std::string(bundle::pooling_name(manifest.pooling));
  std::printf("%s\n", target.c_str());
  std::printf("  name        %s\n", manifest.name.c_str());
  std::printf("  family      %s, %s, %s\n", manifest.family.c_str(), manifest.precision.c_str(),
              std::string(bundle::layout_name(manifest.layout)).c_str());
  if (!summary.rewrite.empty()) std::printf("  onnx graph  %s\n", summary.rewrite.c_str());
  if (summary.agreement) std::printf("  agreement   %s\n", summary.agreement->text().c_str());
  if (!summary.precision_reason.empty()) {
    std::printf("  precision   %s: %s\n", manifest.precision.c_str(), summary.precision_reason.c_str());
  }
  std::printf("  task        %s\n", std::string(bundle::task_name(manifest.task)).c_str());
  std::printf("  %s  %u\n", manifest.labels.empty() ? "dimensions" : "labels    ", manifest.dimensions);
  std::printf("  max tokens  %u\n", manifest.max_tokens);
  std::printf("  pooling     %s%s\n", pooling.c_str(), manifest.normalize ? ", normalized" : "");
  std::printf("  prompts     %s\n", prompt_list(manifest).c_str());
  std::printf("  golden      %zu texts\n", summary.golden_texts);
  std::printf("  size        %.1f MB\n", static_cast<double>(summary.bundle_bytes) / 1e6);
  std::printf("  time        %.1f s\n", seconds);
}

/// Replaces a model of the hub by its files on this machine.
Status fetch_source(Flags& flags) {
  importer::Options& options = flags.options;
  const std::string name = options.source;
  const bool is_on_hub = names_hub_model(name);
  if (options.target.empty()) {
    if (!is_on_hub) return Error(ErrorKind::kInvalidArgument, "DIR is missing (see weir import --help)", "DIR");
    options.target = name.substr(0, name.find('@')).substr(name.find('/') + 1);
  }
  if (!is_on_hub) return {};
  WEIR_ASSIGN_OR_RETURN(const hub::Snapshot snapshot,
                        fetch_hub_model(name, {"import", flags.quiet, options.cancelled}));
  options.source = snapshot.folder;
  options.origin = hub_origin(name, snapshot);
  return {};
}

int import_with(Flags& flags) {
  StopSignals signals;
  if (const Status status = signals.block(); !status.ok()) return fail("import", status.error());
  bool interrupted = false;
  flags.options.weir_version = WEIR_VERSION;
  flags.options.cancelled = [&] {
    interrupted = interrupted || signals.wait(Clock::duration::zero()).has_value();
    return interrupted;
  };
  if (!flags.quiet) {
    flags.options.progress = [](const std::string& step) { std::fprintf(stderr, "weir import: %s\n", step.c_str()); };
  }
  const Clock::time_point start = Clock::now();
  if (const Status fetched = fetch_source(flags); !fetched.ok()) {
    const int status = fail("import", fetched.error());
    return interrupted ? kExitInterrupted : status;
  }
  const auto summary = importer::import_model(flags.options);
  if (!summary.ok()) {
    const int status = fail("import", summary.error());
    return interrupted ? kExitInterrupted : status;
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;
  if (!flags.quiet) print_summary(*summary, flags.options.target, seconds.count());
  return kExitOk;
}

}  // namespace

int run_import(int argc, char** argv) {
  Flags flags;
  CLI::App app("Makes a bundle, the folder that weir serves, of a model.", "weir import");
  try {
    add_flags(app, flags);
    app.parse(argc, argv);
    if (const Status status = apply(app, flags); !status.ok()) return fail("import", status.error());
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kExitOk;
  } catch (const CLI::Error& error) {
    return fail("import", {ErrorKind::kInvalidArgument, std::string(error.what()) + " (see weir import --help)"});
  }
  return import_with(flags);
}

}  // namespace weir::cli
