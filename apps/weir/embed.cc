// weir embed: the vectors of many texts, from files or standard input, on the pipeline that `weir serve` uses, with
// admission wide open.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/weir/command.h"
#include "apps/weir/embed_job.h"
#include "apps/weir/offline_flags.h"
#include "apps/weir/offline_pipeline.h"
#include "apps/weir/serve_options.h"
#include "apps/weir/stop_signals.h"
#include "base/log.h"
#include "base/metrics.h"
#include "bulk/journal.h"
#include "bulk/progress.h"
#include "bulk/records.h"
#include "bulk/vector_writer.h"
#include "bundle/bundle.h"
#include "serve/pipeline/pipeline.h"
#include "serve/pooling/pooling.h"

namespace weir::cli {
namespace {

constexpr int kExitSkipped = 3;        ///< All done, but for records that were skipped.
constexpr int kExitInterrupted = 130;  ///< As a shell tells of SIGINT.
constexpr int kReportedRecords = 20;   ///< Skipped records that are named; the rest is counted.

constexpr char kExitHelp[] =
    "exit status: 0 all records have a vector; 1 failed; 2 wrong usage; 3 done, with records skipped;\n"
    "130 interrupted, what is done is in the output";

struct Options : OfflineFlags {
  std::string format = "jsonl";
  std::string output = "-";
  std::string on_error = "fail";
  bool resume = false;
  bool restart = false;
  bool no_normalize = false;
  std::uint32_t dimensions = 0;
  std::string prompt_name;
  std::size_t batch_tokens = 0;
  std::string long_text = "truncate";
  std::int64_t chunk_overlap = 64;
  std::string chunk_pooling = "mean";

  /// Whether a journal is kept: not for standard output, nor for a pipe or a device.
  bool resumable() const {
    struct stat info {};
    return output != "-" && (::stat(output.c_str(), &info) != 0 || S_ISREG(info.st_mode));
  }
};

/// The output is emptied before the input is read to its end.
Status check_output_is_no_input(const Options& options) {
  struct stat output {};
  if (options.output == "-" || ::stat(options.output.c_str(), &output) != 0 || !S_ISREG(output.st_mode)) return {};
  const auto check = [&](const std::string& file) -> Status {
    struct stat input {};
    const int failed = file == "-" ? ::fstat(STDIN_FILENO, &input) : ::stat(file.c_str(), &input);
    if (failed != 0 || input.st_dev != output.st_dev || input.st_ino != output.st_ino) return {};
    return Error(ErrorKind::kInvalidArgument,
                 options.output + ": is an input and the output; writing would destroy what is to be read", "--output");
  };
  if (options.files.empty()) return check("-");
  for (const std::string& file : options.files) WEIR_RETURN_IF_ERROR(check(file));
  return {};
}

void define_flags(CLI::App& app, Options& options) {
  define_text_flags(app, options);
  app.add_option("--format", options.format, "jsonl, or npy (float32 [texts, dimensions], needs --output)")
      ->check(CLI::IsMember({"jsonl", "npy"}))
      ->capture_default_str();
  app.add_option("--output,-o", options.output, "A file; - is standard output")->capture_default_str();
  app.add_flag("--resume", options.resume, "Go on where an interrupted job with the same settings stopped");
  app.add_flag("--restart", options.restart, "Begin anew although an interrupted job left its journal");
  app.add_option("--on-error", options.on_error,
                 "fail at the first record without a vector, or skip it: an error in jsonl, a row of NaN in npy")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str();
  app.add_flag("--no-normalize", options.no_normalize, "Leave vectors as pooling gives them");
  app.add_option("--dimensions", options.dimensions, "Cut vectors to this length, then normalize again")
      ->check(CLI::PositiveNumber);
  app.add_option("--prompt-name", options.prompt_name, "Which of the model's prompts to put before each text");
  app.add_option(
         "--long-text", options.long_text,
         "Texts longer than the model takes: truncate, reject (as a record without a vector), or chunk (windows "
         "that overlap, whose vectors become one)")
      ->check(CLI::IsMember({"truncate", "reject", "chunk"}))
      ->capture_default_str();
  app.add_option("--chunk-overlap", options.chunk_overlap, "Tokens that a window shares with the one before it")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--chunk-pooling", options.chunk_pooling, "How the vectors of windows become one: mean or max")
      ->check(CLI::IsMember({"mean", "max"}))
      ->capture_default_str();
  app.add_option("--batch-tokens", options.batch_tokens, "Padded tokens per batch; 0: as measured to be best");
  define_instance_flags(app, options);
  app.footer(kExitHelp);
}

serve::EmbedOptions embed_options(const Options& options) {
  serve::EmbedOptions embed;
  if (options.no_normalize) embed.normalize = false;
  if (options.dimensions > 0) embed.dimensions = options.dimensions;
  if (!options.prompt_name.empty()) embed.prompt_name = options.prompt_name;
  return embed;
}

/// Of a model that gives a vector per token.
Status check_token_options(const Options& options) {
  const auto refuse = [](const std::string& flag, const std::string& why) {
    return Error(ErrorKind::kInvalidArgument, flag + " is not for models with a vector per token: " + why, flag);
  };
  if (options.format == "npy")
    return refuse("--format npy", "their texts have different numbers of vectors; take jsonl");
  if (options.dimensions > 0) return refuse("--dimensions", "their vectors have one length");
  if (options.no_normalize) return refuse("--no-normalize", "their vectors are as the model gives them");
  if (options.long_text == "chunk") return refuse("--long-text chunk", "it makes one vector of a text's windows");
  return {};
}

/// What every request would be refused for, before any work.
Status check_embed_options(const serve::EmbedOptions& embed, const bundle::Manifest& manifest) {
  if (manifest.task != bundle::Task::kEmbedding && manifest.task != bundle::Task::kMultiVector) {
    return Error(ErrorKind::kInvalidArgument,
                 "--model: '" + manifest.name + "' is for the task " + std::string(bundle::task_name(manifest.task)) +
                     "; `weir rerank` and `weir predict` compute scores",
                 "--model");
  }
  WEIR_RETURN_IF_ERROR(serve::pooling::rule_for(embed, manifest));
  if (!embed.prompt_name || manifest.prompts.contains(*embed.prompt_name)) return {};
  std::string names;
  for (const auto& [name, text] : manifest.prompts) names += (names.empty() ? "" : ", ") + name;
  return Error(ErrorKind::kInvalidArgument,
               "--prompt-name: model '" + manifest.name + "' has no prompt '" + *embed.prompt_name +
                   "'; it has: " + (names.empty() ? "none" : names),
               "--prompt-name");
}

/// All that the output depends on, for the journal.
Result<std::map<std::string, std::string>> job_settings(const Options& options) {
  std::map<std::string, std::string> job;
  WEIR_ASSIGN_OR_RETURN(job["model"], bundle::sha256_file(options.model + "/weir.json"));
  std::string files;
  for (const auto& file : options.files) files += (files.empty() ? "" : " ") + file;
  job["files"] = files;
  job["--input-format"] = options.input_format;
  job["--field"] = options.field;
  job["--format"] = options.format;
  job["--on-error"] = options.on_error;
  job["--no-normalize"] = options.no_normalize ? "true" : "false";
  job["--dimensions"] = std::to_string(options.dimensions);
  job["--prompt-name"] = options.prompt_name;
  job["--long-text"] = options.long_text;
  if (options.long_text == "chunk") {
    job["--chunk-overlap"] = std::to_string(options.chunk_overlap);
    job["--chunk-pooling"] = options.chunk_pooling;
  }
  return job;
}

/// The journal to go on from; one without records to begin anew.
Result<bulk::Journal> open_journal(const Options& options) {
  bulk::Journal fresh;
  fresh.input_sha256 = bulk::RecordHash().hex();
  if (!options.resumable()) {
    if (!options.resume) return fresh;
    return Error(ErrorKind::kInvalidArgument, "--resume needs as --output the file that was interrupted", "--resume");
  }
  WEIR_ASSIGN_OR_RETURN(fresh.job, job_settings(options));
  const std::string path = bulk::journal_path(options.output);
  std::error_code ignored;
  const bool interrupted = std::filesystem::exists(path, ignored);
  if (interrupted && !options.resume && !options.restart) {
    return Error(ErrorKind::kInvalidArgument,
                 options.output + ": an interrupted job left it unfinished; --resume goes on, --restart begins anew",
                 "--output");
  }
  if (!options.resume) return fresh;
  if (!interrupted) {
    if (!std::filesystem::exists(options.output, ignored)) return fresh;
    return Error(ErrorKind::kInvalidArgument,
                 options.output + ": has no journal (" + path + "): it is complete, or not of `weir embed`",
                 "--resume");
  }
  WEIR_ASSIGN_OR_RETURN(bulk::Journal journal, bulk::read_journal(path));
  WEIR_RETURN_IF_ERROR(bulk::check_same_job(journal, fresh.job, path));
  return journal;
}

/// Passes the records that an earlier run has done and checks that they are the same.
Result<bulk::RecordHash> pass_done_records(bulk::RecordReader& reader, const bulk::Journal& journal) {
  bulk::RecordHash hash;
  bulk::Record record;
  for (std::uint64_t i = 0; i < journal.records; ++i) {
    WEIR_ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) break;
    hash.add(record.text);
  }
  if (hash.hex() == journal.input_sha256) return hash;
  return Error(ErrorKind::kInvalidArgument,
               "the input is not what it was: its first " + std::to_string(journal.records) +
                   " records differ from those already done; --restart begins anew",
               "--resume");
}

/// A job between its parts: owns what the hooks refer to.
class EmbedCommand {
 public:
  explicit EmbedCommand(Options options) : options_(std::move(options)) {}

  /// The exit status.
  Result<int> run();

  /// Whether a failure of run() was the user's wish.
  bool was_interrupted() const { return interrupted_; }

 private:
  Status open();
  bool stop_wanted();
  Status open_writer();
  Status start_pipeline();
  EmbedJobHooks hooks(std::stop_source stop);
  Status save(bulk::Journal done);
  Result<int> finish(const EmbedJobResult& result);
  void print_summary(const EmbedJobResult& result);

  Options options_;
  EmbedJobOptions job_;
  std::stop_source stop_;
  StopSignals signals_;  // outlives the pipeline, whose threads wake it
  metrics::Registry registry_;
  bulk::Journal start_;
  bulk::RecordHash hash_;
  std::unique_ptr<bulk::RecordReader> reader_;
  std::unique_ptr<bulk::VectorWriter> writer_;
  std::unique_ptr<serve::Pipeline> pipeline_;
  std::uint32_t dimensions_ = 0;
  std::uint64_t bytes_before_ = 0;
  std::uint64_t reported_ = 0;
  bool interrupted_ = false;  ///< While the model was fetched.
  bulk::ProgressBar bar_;
  Clock::time_point began_{};
};

bool EmbedCommand::stop_wanted() {
  interrupted_ = interrupted_ || signals_.wait(Clock::duration::zero()).has_value();
  return interrupted_;
}

Status EmbedCommand::open() {
  WEIR_RETURN_IF_ERROR(signals_.block());
  WEIR_RETURN_IF_ERROR(check_output_is_no_input(options_));
  WEIR_RETURN_IF_ERROR(find_bundle(options_, "embed", [this] { return stop_wanted(); }));
  bulk::RecordOptions records = options_.record_options();
  records.stop = stop_.get_token();
  WEIR_ASSIGN_OR_RETURN(const bundle::Bundle bundle, bundle::load(options_.model));
  job_.embed = embed_options(options_);
  job_.skip_bad_records = options_.on_error == "skip";
  WEIR_RETURN_IF_ERROR(check_embed_options(job_.embed, bundle.manifest));
  if (bundle.manifest.task == bundle::Task::kMultiVector) {
    constexpr std::size_t kTextsOfManyVectors = 256;
    WEIR_RETURN_IF_ERROR(check_token_options(options_));
    job_.task = serve::Task::kTokenVectors;
    job_.max_texts_in_flight = kTextsOfManyVectors;
  }
  dimensions_ = options_.dimensions > 0 ? options_.dimensions : bundle.manifest.dimensions;
  WEIR_ASSIGN_OR_RETURN(start_, open_journal(options_));
  WEIR_ASSIGN_OR_RETURN(reader_, bulk::RecordReader::open(options_.files, records));
  WEIR_ASSIGN_OR_RETURN(hash_, pass_done_records(*reader_, start_));
  bytes_before_ = start_.records > 0 ? reader_->bytes_read() : 0;
  return {};
}

Status EmbedCommand::open_writer() {
  const auto format = *bulk::output_format_from_name(options_.format);
  if (start_.records > 0) {
    WEIR_ASSIGN_OR_RETURN(
        writer_, bulk::VectorWriter::resume(options_.output, format, dimensions_, start_.records, start_.output_bytes));
  } else {
    WEIR_ASSIGN_OR_RETURN(writer_, bulk::VectorWriter::create(options_.output, format, dimensions_));
  }
  return {};
}

Status EmbedCommand::start_pipeline() {
  OfflineSettings settings{options_.model, options_.instances, options_.threads, options_.batch_tokens, 1, {}};
  settings.long_text = long_text_rule(options_.long_text, options_.chunk_overlap, options_.chunk_pooling);
  settings.permits = job_.max_texts_in_flight + 1;  // a request has a text at least; one is tried again
  WEIR_ASSIGN_OR_RETURN(pipeline_, serve::Pipeline::start(offline_pipeline_options(settings), registry_));
  return pipeline_->wait_loaded();
}

Status EmbedCommand::save(bulk::Journal done) {
  WEIR_ASSIGN_OR_RETURN(done.output_bytes, writer_->flush());
  done.job = start_.job;
  if (!options_.resumable()) return {};
  return bulk::write_journal(bulk::journal_path(options_.output), done);
}

EmbedJobHooks EmbedCommand::hooks(std::stop_source stop) {
  EmbedJobHooks hooks;
  hooks.submit = [this](const serve::RequestPtr& request) { pipeline_->submit(request); };
  hooks.cancel = [this](const serve::RequestPtr& request) { pipeline_->cancel(request); };
  hooks.wait = [this](Clock::duration timeout) {
    const bool stop_wanted = signals_.wait(timeout).has_value();
    if (stop_wanted) signals_.exit_on_next();
    return stop_wanted;
  };
  hooks.wake = [this] { signals_.wake(); };
  hooks.stop = std::move(stop);
  hooks.checkpoint = [this](const bulk::Journal& done) { return save(done); };
  hooks.report = [this](const std::string& message) {
    bar_.clear();
    if (++reported_ <= kReportedRecords) std::fprintf(stderr, "weir embed: skipped: %s\n", message.c_str());
    if (reported_ == kReportedRecords) std::fputs("weir embed: further ones are only counted\n", stderr);
  };
  hooks.progress = [this](std::uint64_t texts, std::uint64_t tokens, std::uint64_t bytes_read) {
    const auto now = Clock::now();
    bulk::ProgressState state;
    state.texts = texts;
    state.tokens = tokens;
    state.texts_before = start_.records;
    state.bytes = bytes_read - std::min(bytes_before_, bytes_read);
    state.bytes_before = bytes_before_;
    state.total_bytes = reader_->total_bytes();
    state.seconds = std::chrono::duration<double>(now - began_).count();
    bar_.update(state, now);
  };
  return hooks;
}

void EmbedCommand::print_summary(const EmbedJobResult& result) {
  bar_.clear();
  bulk::ProgressState state;
  state.texts = result.records;
  state.tokens = result.tokens;
  state.texts_before = start_.records;
  state.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  std::fprintf(stderr, "weir embed: %s", bulk::progress_line(state).c_str());
  if (result.skipped > 0) std::fprintf(stderr, "  %s skipped", bulk::with_separators(result.skipped).c_str());
  std::fputs(result.interrupted ? "  interrupted" : "", stderr);
  std::fputc('\n', stderr);
  if ((result.interrupted || result.error) && options_.resumable()) {
    std::fputs("weir embed: --resume goes on from here\n", stderr);
  }
}

Result<int> EmbedCommand::finish(const EmbedJobResult& result) {
  print_summary(result);
  if (result.error) return *result.error;
  if (result.interrupted) return kExitInterrupted;
  std::error_code code;
  if (options_.resumable()) std::filesystem::remove(bulk::journal_path(options_.output), code);
  if (code) {
    return Error(ErrorKind::kIo, bulk::journal_path(options_.output) + ": cannot be removed: " + code.message());
  }
  return result.skipped + start_.skipped > 0 ? kExitSkipped : kExitOk;
}

Result<int> EmbedCommand::run() {
  WEIR_RETURN_IF_ERROR(open());
  WEIR_RETURN_IF_ERROR(start_pipeline());
  WEIR_RETURN_IF_ERROR(open_writer());
  WEIR_RETURN_IF_ERROR(save(start_));  // So that there is a journal even if the disk is full from here on.
  began_ = Clock::now();
  EmbedJobHooks job_hooks = hooks(stop_);
  const EmbedJobResult result = run_embed_job(*reader_, *writer_, job_, job_hooks, start_, std::move(hash_));
  pipeline_->stop(Deadline());
  return finish(result);
}

}  // namespace

int run_embed(int argc, char** argv) {
  Options options;
  CLI::App app("Vectors of texts, in their order: jsonl {\"index\",\"embedding\"} lines or a NumPy file.",
               "weir embed");
  define_flags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  log::configure(log::Level::kWarn, log::Format::kText);
  EmbedCommand command(std::move(options));
  const auto status = command.run();
  if (status.ok()) return *status;
  const int failed = fail("embed", status.error());
  return command.was_interrupted() ? kExitInterrupted : failed;
}

}  // namespace weir::cli
