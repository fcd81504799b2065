// weir rerank, weir predict: scores of texts from files or standard input, on the pipeline that `weir serve` uses.
#include <cstdio>
#include <deque>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/weir/command.h"
#include "apps/weir/offline_flags.h"
#include "apps/weir/offline_pipeline.h"
#include "apps/weir/stop_signals.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/metrics.h"
#include "bulk/records.h"
#include "serve/request/late_interaction.h"
#include "serve/respond/entities.h"
#include "serve/respond/scores.h"

namespace weir::cli {
namespace {

using serve::RequestPtr;
namespace respond = serve::respond;

constexpr int kExitInterrupted = 130;  ///< As a shell tells of SIGINT.
constexpr std::size_t kTextsPerRequest = 32;
constexpr std::size_t kRequestsInFlight = 32;

struct Options : OfflineFlags {
  std::string query;                   ///< Of rerank.
  std::string aggregation = "simple";  ///< Of predict.
  std::uint32_t top = 0;
  bool raw_scores = false;
  bool no_text = false;
};

void define_common_flags(CLI::App& app, Options& options) {
  define_text_flags(app, options);
  app.add_flag("--raw-scores", options.raw_scores, "The model's numbers, before sigmoid or softmax");
  define_instance_flags(app, options);
}

/// Texts through the pipeline, in their order, a bounded number of them at a time.
class Scoring {
 public:
  explicit Scoring(const Options& options) : options_(options) {}

  Status open(serve::Task task) {
    WEIR_ASSIGN_OR_RETURN(const bundle::Bundle bundle, bundle::load(options_.model));
    manifest_ = bundle.manifest;
    const bool labels_tokens = task == serve::Task::kClassify && manifest_.task == bundle::Task::kTokenClassify;
    ranks_late_ = task == serve::Task::kRerank && serve::interacts_late(manifest_);
    task_ = labels_tokens ? serve::Task::kTokenLabels : ranks_late_ ? serve::Task::kTokenVectors : task;
    serve::ModelView view;
    view.name = manifest_.name;
    view.manifest = manifest_;
    WEIR_RETURN_IF_ERROR(serve::check_task(task_, view));
    WEIR_ASSIGN_OR_RETURN(reader_, bulk::RecordReader::open(options_.files, options_.record_options()));
    WEIR_ASSIGN_OR_RETURN(pipeline_,
                          serve::Pipeline::start(
                              offline_pipeline_options(
                                  {options_.model, options_.instances, options_.threads, 0, kRequestsInFlight + 1, {}}),
                              registry_));
    return pipeline_->wait_loaded();
  }

  /// Calls `take` with each finished request, in the texts' order.
  template <class Take>
  Status run(const Take& take) {
    bool at_end = false;
    while (!at_end || !flights_.empty()) {
      while (!at_end && flights_.size() < kRequestsInFlight) {
        WEIR_ASSIGN_OR_RETURN(at_end, submit_next());
      }
      if (flights_.empty()) continue;
      const RequestPtr request = flights_.front().get();
      flights_.pop_front();
      if (request->error) return *request->error;
      WEIR_RETURN_IF_ERROR(take(*request));
    }
    return {};
  }

  const bundle::Manifest& manifest() const { return manifest_; }
  /// Of rerank: of the request's texts, in their order, which may be moved away.
  std::vector<float> scores(serve::Request& request, std::vector<std::string>& texts) const {
    for (serve::Input& input : request.inputs) texts.push_back(std::move(ranks_late_ ? input.text : *input.pair));
    if (!ranks_late_) {
      respond::apply_score_function(function(), request.vectors);
      return std::move(request.vectors);
    }
    texts.pop_back();
    return respond::late_interactions(request.token_rows, manifest_);
  }

  bundle::ScoreFunction function() const {
    return options_.raw_scores ? bundle::ScoreFunction::kNone : manifest_.score_function;
  }

 private:
  /// True at the end of the input.
  Result<bool> submit_next() {
    const auto request = std::make_shared<serve::Request>();
    request->task = task_;
    bool more = true;
    while (request->inputs.size() < kTextsPerRequest) {
      bulk::Record record;
      WEIR_ASSIGN_OR_RETURN(more, reader_->next(record));
      if (!more) break;
      if (!record.problem.empty()) {
        return Error(ErrorKind::kCorrupt, record.place() + ": " + record.problem, record.place());
      }
      serve::Input input;
      input.text = std::move(record.text);
      if (!options_.query.empty()) input.pair = std::exchange(input.text, options_.query);
      request->inputs.push_back(std::move(input));
    }
    if (request->inputs.empty()) return true;
    if (ranks_late_) serve::part_from_query(request->inputs);
    auto landed = std::make_shared<std::promise<RequestPtr>>();
    flights_.push_back(landed->get_future());
    request->done = [landed](const RequestPtr& finished) { landed->set_value(finished); };
    pipeline_->submit(request);
    return !more;
  }

  const Options& options_;
  serve::Task task_ = serve::Task::kRerank;
  bool ranks_late_ = false;  ///< By vectors of tokens.
  bundle::Manifest manifest_;
  metrics::Registry registry_;
  std::unique_ptr<bulk::RecordReader> reader_;
  std::unique_ptr<serve::Pipeline> pipeline_;
  std::deque<std::future<RequestPtr>> flights_;
};

Status print_line(const std::string& line) {
  if (std::fputs(line.c_str(), stdout) >= 0 && std::fputc('\n', stdout) != EOF) return {};
  return Error(ErrorKind::kIo, "standard output cannot be written");
}

/// {"index":2,"score":0.9,"text":"…"}, the best first.
Status rerank(const Options& options) {
  Scoring scoring(options);
  WEIR_RETURN_IF_ERROR(scoring.open(serve::Task::kRerank));
  std::vector<float> scores;
  std::vector<std::string> texts;
  WEIR_RETURN_IF_ERROR(scoring.run([&](serve::Request& request) -> Status {
    const std::vector<float> of_request = scoring.scores(request, texts);
    scores.insert(scores.end(), of_request.begin(), of_request.end());
    return {};
  }));
  const std::size_t top = options.top > 0 ? options.top : scores.size();
  for (const respond::Ranked& one : respond::ranked(scores, top)) {
    std::string line = R"({"index":)" + std::to_string(one.index) + R"(,"score":)";
    append_json_float(line, one.score);
    if (!options.no_text) {
      line += R"(,"text":)";
      append_json_string(line, texts[one.index]);
    }
    WEIR_RETURN_IF_ERROR(print_line(line + "}"));
  }
  return {};
}

/// One text's labels or entities, as POST /predict gives them.
std::string prediction(const Options& options, const Scoring& scoring, const serve::Request& request,
                       const tokenizers::Tokenizer& tokenizer, std::size_t index) {
  const bundle::Manifest& manifest = scoring.manifest();
  if (request.task == serve::Task::kTokenLabels) {
    std::vector<float> scores = request.token_rows[index];
    for (std::size_t at = 0; at < scores.size(); at += manifest.labels.size()) {
      respond::apply_score_function(scoring.function(), std::span(scores).subspan(at, manifest.labels.size()));
    }
    const respond::LabelledTokens tokens{request.inputs[index].text, &request.encodings[index], &tokenizer, scores,
                                         manifest.labels};
    return R"("entities":)" +
           respond::entities_json(respond::entities(tokens, options.aggregation), options.aggregation);
  }
  const auto row = std::span(request.vectors).subspan(index * request.dimensions, request.dimensions);
  std::vector<float> scores(row.begin(), row.end());
  respond::apply_score_function(scoring.function(), scores);
  return R"("labels":)" + respond::tei_predict({scores, scores.size()}, manifest.labels, false);
}

Status predict(const Options& options) {
  Scoring scoring(options);
  WEIR_RETURN_IF_ERROR(scoring.open(serve::Task::kClassify));
  std::size_t index = 0;
  return scoring.run([&](serve::Request& request) -> Status {
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      WEIR_RETURN_IF_ERROR(print_line(R"({"index":)" + std::to_string(index++) + "," +
                                      prediction(options, scoring, request, *request.view->tokenizer, i) + "}"));
    }
    return {};
  });
}

/// The model's bundle. A signal ends the fetching in order; later ones end the process at once.
Status fetch(Options& options, const char* name, StopSignals& signals, bool& interrupted) {
  WEIR_RETURN_IF_ERROR(signals.block());
  const Status found = find_bundle(options, name, [&] {
    interrupted = interrupted || signals.wait(Clock::duration::zero()).has_value();
    return interrupted;
  });
  signals.exit_on_next();
  return found;
}

int run_command(CLI::App& app, int argc, char** argv, const char* name, Options& options,
                Status (*work)(const Options&)) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  log::configure(log::Level::kWarn, log::Format::kText);
  StopSignals signals;
  bool interrupted = false;
  const Status found = fetch(options, name, signals, interrupted);
  const Status status = found.ok() ? work(options) : found;
  if (status.ok()) return kExitOk;
  const int failed = fail(name, status.error());
  return interrupted ? kExitInterrupted : failed;
}

}  // namespace

int run_rerank(int argc, char** argv) {
  Options options;
  CLI::App app("Texts by how well they answer a query, the best first: jsonl {\"index\",\"score\",\"text\"}.",
               "weir rerank");
  define_common_flags(app, options);
  app.add_option("--query", options.query, "What the texts are held against")->required();
  app.add_option("--top-n", options.top, "At most this many; 0: all");
  app.add_flag("--no-text", options.no_text, "Leave out the texts");
  return run_command(app, argc, argv, "rerank", options, rerank);
}

int run_predict(int argc, char** argv) {
  Options options;
  CLI::App app("Labels of texts, or of pieces of them: jsonl {\"index\",\"labels\"} or {\"index\",\"entities\"}.",
               "weir predict");
  define_common_flags(app, options);
  app.add_option("--aggregation", options.aggregation,
                 "How labels of tokens become those of words and names: none, simple, first, average or max")
      ->check(CLI::IsMember({"none", "simple", "first", "average", "max"}))
      ->capture_default_str();
  return run_command(app, argc, argv, "predict", options, predict);
}

}  // namespace weir::cli
