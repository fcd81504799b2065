#include "importer/golden.h"

#include <utility>

#include "serve/pooling/pooling.h"
#include "serve/request/hidden_rows.h"
#include "serve/request/late_interaction.h"
#include "session/session.h"

namespace weir::importer {
namespace {

/// The tasks whose numbers per token serving would take of the model.
std::vector<serve::Task> token_tasks(const bundle::Manifest& manifest) {
  if (manifest.task == bundle::Task::kTokenClassify) return {serve::Task::kTokenLabels};
  std::vector<serve::Task> tasks;
  if (serve::interacts_late(manifest)) tasks.push_back(serve::Task::kTokenVectors);
  if (manifest.lexical_weights) tasks.push_back(serve::Task::kSparse);
  return tasks;
}

class Runner {
 public:
  Runner(session::Session& session, bundle::Manifest& manifest) : session_(session), manifest_(manifest) {}

  Result<Numbers> run(const tokenizers::Encoding& encoding) {
    const std::size_t tokens = encoding.ids.size();
    const std::vector<std::int64_t> ids(encoding.ids.begin(), encoding.ids.end());
    const std::vector<std::int64_t> types(encoding.type_ids.begin(), encoding.type_ids.end());
    const std::vector<std::int64_t> mask(tokens, 1);
    const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(tokens)};
    session::Batch batch{1, tokens, ids, mask, {}};
    const std::int64_t attended = static_cast<std::int64_t>(tokens) - encoding.unattended_tokens;
    if (is_packed()) batch.offsets = offsets;
    if (is_packed() && manifest_.unattended_tokens() > 0) batch.keys = {&attended, 1};
    if (manifest_.has_token_type_ids) batch.token_type_ids = types;
    std::vector<std::string> names = {manifest_.output_name};
    if (!manifest_.token_output_name.empty()) names.push_back(manifest_.token_output_name);
    WEIR_ASSIGN_OR_RETURN(const auto outputs, session_.run(batch, names));
    WEIR_RETURN_IF_ERROR(check_shape(outputs.front().shape(), tokens));
    serve::HiddenRows rows;
    rows.rows = 1;
    if (manifest_.output == bundle::Output::kTokenVectors && is_packed()) {
      take_tokens(outputs.front(), offsets, rows);
    } else {
      rows.values = outputs.front().values();
      rows.columns = manifest_.output == bundle::Output::kTextVectors ? 0 : tokens;
      rows.hidden = manifest_.width();
    }
    if (outputs.size() > 1) take_tokens(outputs[1], offsets, rows);
    return numbers_of(rows, encoding.ids);
  }

 private:
  bool is_packed() const { return manifest_.layout == bundle::Layout::kPacked; }

  void take_tokens(const session::Tensor& output, const std::vector<std::int64_t>& offsets,
                   serve::HiddenRows& rows) const {
    rows.token_values = output.values();
    rows.token_hidden = manifest_.token_width();
    rows.offsets = offsets;
  }

  Result<Numbers> numbers_of(const serve::HiddenRows& rows, std::span<const std::int32_t> ids) const {
    const serve::pooling::Rule rule{manifest_.pooling, manifest_.normalize, manifest_.dimensions};
    Numbers numbers;
    numbers.vector.resize(rule.dimensions);
    WEIR_RETURN_IF_ERROR(serve::pooling::pool_row(rows, 0, ids.size(), rule, numbers.vector));
    for (const serve::Task task : token_tasks(manifest_)) {
      const auto columns = serve::pooling::columns_for(task, manifest_, false);
      WEIR_RETURN_IF_ERROR(serve::pooling::token_rows(rows, 0, ids, columns, numbers.per_token.emplace_back()));
    }
    return numbers;
  }

  Status check_shape(std::span<const std::int64_t> shape, std::size_t tokens) {
    const auto count = static_cast<std::int64_t>(tokens);
    const bool pooled = manifest_.output == bundle::Output::kTextVectors;
    const bool fits = pooled        ? shape.size() == 2 && shape[0] == 1
                      : is_packed() ? shape.size() == 2 && shape[0] == count
                                    : shape.size() == 3 && shape[0] == 1 && shape[1] == count;
    if (fits && manifest_.dimensions == 0) manifest_.dimensions = static_cast<std::uint32_t>(shape.back());
    if (fits && shape.back() == static_cast<std::int64_t>(manifest_.width())) return {};
    std::string found;
    for (const std::int64_t size : shape) found += (found.empty() ? "" : ", ") + std::to_string(size);
    return Error(ErrorKind::kCorrupt, "output '" + manifest_.output_name + "' has the shape [" + found +
                                          "] for one text of " + std::to_string(tokens) + " tokens");
  }

  session::Session& session_;
  bundle::Manifest& manifest_;
};

Error about(Error error, const std::string& what, const SampleText& sample) {
  error.message = what + " fails on the text \"" + sample.text.substr(0, 40) + "\": " + error.message;
  return error;
}

}  // namespace

std::vector<SampleText> golden_texts(bundle::Task task) {
  std::string long_text;
  for (int i = 1; i <= 60; ++i) {
    long_text += "On day " + std::to_string(i) + " the water stood at " + std::to_string(100 + 7 * i % 50) +
                 " centimetres, and the gate stayed open until the evening. ";
  }
  const std::string question = "How high is the water today?";
  std::vector<SampleText> samples = {
      {"A weir holds the flood back."},
      {question},
      {"Das Wehr hält die Flut zurück."},
      {"Le barrage retient la crue ; l'eau passe quand même."},
      {"Плотина сдерживает паводок."},
      {"堰挡住洪水，让河流通过。"},
      {"السد يحجز الفيضان"},
      {"42 % — naïve ﬁgures, 🌊 and C++17!"},
      {long_text},
  };
  if (task != bundle::Task::kRerank) return samples;
  for (SampleText& sample : samples) sample.pair = std::exchange(sample.text, question);
  return samples;
}

Result<std::vector<Numbers>> compute_numbers(const GoldenRequest& request, bundle::Manifest& manifest,
                                             const tokenizers::Tokenizer& tokenizer) {
  WEIR_ASSIGN_OR_RETURN(const auto session, session::Session::load(request.folder + "/model.onnx", session::Options()));
  Runner runner(*session, manifest);
  std::vector<Numbers> all;
  for (const SampleText& sample : request.texts) {
    if (request.cancelled && request.cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
    const auto encoding = serve::encode_alone(tokenizer, manifest, sample.text, sample.pair);
    if (!encoding.ok()) return about(encoding.error(), "tokenizer.json", sample);
    auto numbers = runner.run(*encoding);
    if (!numbers.ok()) return about(std::move(numbers).error(), "the model", sample);
    all.push_back(std::move(*numbers));
  }
  return all;
}

Result<std::vector<bundle::Golden>> compute_golden(const GoldenRequest& request, bundle::Manifest& manifest,
                                                   const tokenizers::Tokenizer& tokenizer) {
  WEIR_ASSIGN_OR_RETURN(auto numbers, compute_numbers(request, manifest, tokenizer));
  std::vector<bundle::Golden> golden;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    golden.push_back({request.texts[i].text, std::move(numbers[i].vector), request.texts[i].pair});
  }
  return golden;
}

}  // namespace weir::importer
