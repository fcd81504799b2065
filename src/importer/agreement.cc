#include "importer/agreement.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

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

/// Cosines that a precision must reach.
struct Bound {
  const char* precision;
  double mean;
  double least;
};
constexpr Bound kBounds[] = {{"int8", 0.997, 0.985}, {"bf16", 0.9999, 0.9995}, {"fp32", 0.99999, 0.99999}};

const Bound& bound_of(const std::string& precision) {
  const auto* const bound = std::find_if(std::begin(kBounds), std::end(kBounds),
                                         [&](const Bound& known) { return precision == known.precision; });
  return bound == std::end(kBounds) ? std::end(kBounds)[-1] : *bound;
}

}  // namespace

bool Agreement::good(const std::string& precision) const {
  const Bound& bound = bound_of(precision);
  return mean_cosine >= bound.mean && least_cosine >= bound.least;
}

std::string Agreement::asked(const std::string& precision) {
  const Bound& bound = bound_of(precision);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%g on average and %g at least", bound.mean, bound.least);
  return buffer;
}

std::string Agreement::text() const {
  char buffer[128];
  std::snprintf(buffer, sizeof buffer, "cosine to fp32 %.6f on average, %.6f at least, on %zu texts", mean_cosine,
                least_cosine, texts);
  return buffer;
}

Result<Agreement> compare_precisions(const Candidate& candidate, const Candidate& reference,
                                     const tokenizers::Tokenizer& tokenizer, const std::function<bool()>& cancelled) {
  std::vector<std::string> texts = golden_texts();
  texts.insert(texts.end(), std::begin(kTexts), std::end(kTexts));
  bundle::Manifest manifest = candidate.manifest;
  bundle::Manifest reference_manifest = reference.manifest;
  WEIR_ASSIGN_OR_RETURN(const auto ours, compute_golden({candidate.folder, texts, cancelled}, manifest, tokenizer));
  WEIR_ASSIGN_OR_RETURN(const auto theirs,
                        compute_golden({reference.folder, texts, cancelled}, reference_manifest, tokenizer));
  Agreement agreement;
  agreement.texts = texts.size();
  agreement.least_cosine = 1;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const double similarity = cosine(ours[i].vector, theirs[i].vector);
    agreement.mean_cosine += similarity / static_cast<double>(texts.size());
    agreement.least_cosine = std::min(agreement.least_cosine, similarity);
  }
  return agreement;
}

}  // namespace weir::importer
