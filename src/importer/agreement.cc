#include "importer/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>

#include "base/cosine.h"
#include "importer/golden.h"

namespace weir::importer {
namespace {

/// Questions, facts, instructions, code, numbers, names, several languages; from one word to a paragraph.
constexpr const char* kTexts[] = {
    "water",
    "Yes.",
    "What is the capital of Portugal?",
    "how do i reset my password",
    "The invoice was paid twice and the second payment has to be returned.",
    "Mix the flour with the eggs, add the milk slowly and let the dough rest for half an hour.",
    "Die Rechnung wurde doppelt bezahlt.",
    "¿Dónde está la estación de tren más cercana?",
    "La réunion de lundi est reportée à jeudi matin.",
    "Il treno per Torino parte dal binario sette.",
    "今天的会议改到下午三点。",
    "駅はどこですか。",
    "Поезд опаздывает на двадцать минут.",
    "for (int i = 0; i < n; ++i) sum += values[i];",
    "SELECT name, price FROM products WHERE stock > 0 ORDER BY price;",
    "Error 404: the page you asked for is not here any more.",
    "Temperature 21.5 C, humidity 48 %, pressure 1013 hPa.",
    "A black cat slept on the warm stones beside the river all afternoon.",
    "Shares of the company fell by four percent after the results were published.",
    "The committee did not agree on a date, so the vote was put off until the spring.",
    "Symptoms include fever, a dry cough and tiredness; see a doctor if they last longer than a week.",
    "I loved the first half of this film, but the ending felt rushed and nobody got what they deserved.",
    "It was the worst hotel we have ever stayed in: noise all night, cold water and a rude receptionist.",
    "To install the program, unpack the archive, open a terminal in its folder and run the script named setup.",
};

/// Questions that some of those texts answer.
struct Question {
  const char* text;
  std::size_t answer;  ///< Index in kTexts.
};
constexpr Question kQuestions[] = {
    {"when do I get the money back that I paid twice", 4},
    {"how long must the dough rest", 5},
    {"from which track does the train to Turin leave", 9},
    {"what are the signs of an infection", 20},
};
constexpr std::size_t kOtherAnswers = 8;  ///< To each question, beside the right one.

/// What a precision must reach.
struct Bound {
  const char* precision;
  double mean_cosine;
  double least_cosine;
  double concordance;
  double same_label;
  double mean_difference;
};
constexpr Bound kBounds[] = {{"int8", 0.997, 0.985, 0.99, 0.95, 0.02},
                             {"bf16", 0.9999, 0.9995, 0.9995, 0.99, 0.002},
                             {"fp32", 0.99999, 0.99999, 0.99999, 1, 0.0001}};

const Bound& bound_of(const std::string& precision) {
  const auto* const bound = std::find_if(std::begin(kBounds), std::end(kBounds),
                                         [&](const Bound& known) { return precision == known.precision; });
  return bound == std::end(kBounds) ? std::end(kBounds)[-1] : *bound;
}

std::vector<SampleText> sample_texts(bundle::Task task) {
  std::vector<SampleText> samples = golden_texts(task);
  if (task != bundle::Task::kRerank) {
    for (const char* text : kTexts) samples.push_back({text});
    return samples;
  }
  for (std::size_t i = 0; i < std::size(kQuestions); ++i) {
    const Question& question = kQuestions[i];
    samples.push_back({question.text, kTexts[question.answer]});
    for (std::size_t other = 0; other < kOtherAnswers; ++other) {
      const std::size_t index = (question.answer + 1 + i + 2 * other) % std::size(kTexts);
      samples.push_back({question.text, kTexts[index]});
    }
  }
  return samples;
}

/// A text's vectors of all kinds.
std::vector<const std::vector<float>*> vectors_of(const Numbers& numbers) {
  std::vector<const std::vector<float>*> vectors = {&numbers.vector};
  for (const auto& kind : numbers.per_token) vectors.push_back(&kind);
  return vectors;
}

void compare_vectors(const std::vector<Numbers>& ours, const std::vector<Numbers>& theirs, Agreement& agreement) {
  agreement.least_cosine = 1;
  double count = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto left = vectors_of(ours[i]);
    const auto right = vectors_of(theirs[i]);
    for (std::size_t kind = 0; kind < left.size(); ++kind) {
      // Texts in which no word matters agree.
      const double similarity = *left[kind] == *right[kind] ? 1 : cosine(*left[kind], *right[kind]);
      agreement.mean_cosine += similarity;
      agreement.least_cosine = std::min(agreement.least_cosine, similarity);
      ++count;
    }
  }
  agreement.mean_cosine /= count;
}

/// 2 cov(x, y) / (var(x) + var(y) + (mean(x) - mean(y))^2).
double concordance(const std::vector<Numbers>& ours, const std::vector<Numbers>& theirs) {
  const auto count = static_cast<double>(ours.size());
  double x_mean = 0, y_mean = 0, x_squares = 0, y_squares = 0, products = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    x_mean += static_cast<double>(ours[i].vector.front()) / count;
    y_mean += static_cast<double>(theirs[i].vector.front()) / count;
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double x = static_cast<double>(ours[i].vector.front()) - x_mean;
    const double y = static_cast<double>(theirs[i].vector.front()) - y_mean;
    x_squares += x * x;
    y_squares += y * y;
    products += x * y;
  }
  const double all = x_squares + y_squares + count * (x_mean - y_mean) * (x_mean - y_mean);
  return all > 0 ? 2 * products / all : 1;
}

/// Probabilities of the labels of a text or token.
std::vector<double> probabilities(std::span<const float> logits, bundle::ScoreFunction function) {
  std::vector<double> result(logits.begin(), logits.end());
  const double largest = *std::max_element(result.begin(), result.end());
  const bool exclude_each_other = function == bundle::ScoreFunction::kSoftmax;
  double sum = 0;
  for (double& value : result) {
    value = exclude_each_other ? std::exp(value - largest) : 1 / (1 + std::exp(-value));
    sum += value;
  }
  if (exclude_each_other) {
    for (double& value : result) value /= sum;
  }
  return result;
}

class LabelComparison {
 public:
  explicit LabelComparison(const bundle::Manifest& manifest) : manifest_(manifest) {}

  void add(std::span<const float> ours, std::span<const float> theirs) {
    const std::size_t labels = manifest_.dimensions;
    for (std::size_t at = 0; at + labels <= ours.size(); at += labels) {
      const auto mine = probabilities(ours.subspan(at, labels), manifest_.score_function);
      const auto reference = probabilities(theirs.subspan(at, labels), manifest_.score_function);
      const auto best = static_cast<std::size_t>(std::max_element(mine.begin(), mine.end()) - mine.begin());
      constexpr double kAsLikely = 0.01;
      if (reference[best] >= *std::max_element(reference.begin(), reference.end()) - kAsLikely) ++same_;
      ++rows_;
      for (std::size_t i = 0; i < labels; ++i) difference_ += std::abs(mine[i] - reference[i]);
    }
  }
  void finish(Agreement& agreement) const {
    agreement.same_label = same_ / std::max(rows_, 1.0);
    agreement.mean_difference = difference_ / std::max(rows_ * manifest_.dimensions, 1.0);
  }

 private:
  const bundle::Manifest& manifest_;
  double rows_ = 0;
  double same_ = 0;
  double difference_ = 0;
};

void compare_labels(const std::vector<Numbers>& ours, const std::vector<Numbers>& theirs,
                    const bundle::Manifest& manifest, Agreement& agreement) {
  LabelComparison comparison(manifest);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const bool is_per_token = !ours[i].per_token.empty();
    comparison.add(is_per_token ? ours[i].per_token.front() : ours[i].vector,
                   is_per_token ? theirs[i].per_token.front() : theirs[i].vector);
  }
  comparison.finish(agreement);
}

}  // namespace

Measure measure_of(bundle::Task task) {
  switch (task) {
    case bundle::Task::kRerank:
      return Measure::kConcordance;
    case bundle::Task::kClassify:
    case bundle::Task::kTokenClassify:
      return Measure::kLabels;
    case bundle::Task::kEmbedding:
    case bundle::Task::kSparse:
    case bundle::Task::kMultiVector:
      break;
  }
  return Measure::kCosine;
}

bool Agreement::good(const std::string& precision) const {
  const Bound& bound = bound_of(precision);
  switch (measure) {
    case Measure::kConcordance:
      return concordance >= bound.concordance;
    case Measure::kLabels:
      return same_label >= bound.same_label && mean_difference <= bound.mean_difference;
    case Measure::kCosine:
      break;
  }
  return mean_cosine >= bound.mean_cosine && least_cosine >= bound.least_cosine;
}

std::string Agreement::asked(const std::string& precision) const {
  const Bound& bound = bound_of(precision);
  char buffer[128];
  switch (measure) {
    case Measure::kConcordance:
      std::snprintf(buffer, sizeof buffer, "a concordance of %g", bound.concordance);
      break;
    case Measure::kLabels:
      std::snprintf(buffer, sizeof buffer, "%g %% same labels and %g between probabilities", 100 * bound.same_label,
                    bound.mean_difference);
      break;
    case Measure::kCosine:
      std::snprintf(buffer, sizeof buffer, "a cosine of %g on average and %g at least", bound.mean_cosine,
                    bound.least_cosine);
  }
  return buffer;
}

std::string Agreement::text() const {
  char buffer[160];
  switch (measure) {
    case Measure::kConcordance:
      std::snprintf(buffer, sizeof buffer, "concordance with fp32's scores %.6f, on %zu pairs", concordance, texts);
      break;
    case Measure::kLabels:
      std::snprintf(buffer, sizeof buffer,
                    "%.2f %% of the labels are those of fp32, probabilities differ by %.6f on average, on %zu texts",
                    100 * same_label, mean_difference, texts);
      break;
    case Measure::kCosine:
      std::snprintf(buffer, sizeof buffer, "cosine to fp32 %.6f on average, %.6f at least, on %zu texts", mean_cosine,
                    least_cosine, texts);
  }
  return buffer;
}

Result<Agreement> compare_precisions(const Candidate& candidate, const Candidate& reference,
                                     const tokenizers::Tokenizer& tokenizer, const std::function<bool()>& cancelled) {
  const std::vector<SampleText> texts = sample_texts(reference.manifest.task);
  bundle::Manifest manifest = candidate.manifest;
  bundle::Manifest reference_manifest = reference.manifest;
  WEIR_ASSIGN_OR_RETURN(const auto ours, compute_numbers({candidate.folder, texts, cancelled}, manifest, tokenizer));
  WEIR_ASSIGN_OR_RETURN(const auto theirs,
                        compute_numbers({reference.folder, texts, cancelled}, reference_manifest, tokenizer));
  Agreement agreement;
  agreement.measure = measure_of(manifest.task);
  agreement.texts = texts.size();
  switch (agreement.measure) {
    case Measure::kConcordance:
      agreement.concordance = concordance(ours, theirs);
      break;
    case Measure::kLabels:
      compare_labels(ours, theirs, manifest, agreement);
      break;
    case Measure::kCosine:
      compare_vectors(ours, theirs, agreement);
  }
  return agreement;
}

}  // namespace weir::importer
