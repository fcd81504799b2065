#include "loadgen/dialects/workload.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

#include "bulk/records.h"
#include "tokenizers/tokenizer.h"

namespace weir::loadgen {
namespace {

constexpr std::size_t kMadeUpTexts = 500;
constexpr std::size_t kMostTexts = 100'000;
constexpr std::size_t kMostBytes = 256u << 20;

constexpr const char* kWords[] = {
    "water", "river", "the",   "of",     "and",   "spring", "stone",   "bridge", "a",       "flow",  "under", "gate",
    "with",  "mill",  "in",    "valley", "is",    "snow",   "that",    "winter", "carries", "wheel", "to",    "bank",
    "fish",  "from",  "level", "dam",    "flood", "which",  "season",  "rises",  "measure", "field", "on",    "path",
    "was",   "built", "years", "before", "it",    "holds",  "through", "narrow", "channel", "lake",  "by",    "wood"};

Result<std::vector<std::string>> read_texts(const WorkloadOptions& options) {
  bulk::RecordOptions record_options;
  record_options.field = options.field;
  WEIR_ASSIGN_OR_RETURN(const auto reader, bulk::RecordReader::open({options.file}, record_options));
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  bulk::Record record;
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const bool more, reader->next(record));
    if (!more) break;
    if (!record.problem.empty()) {
      return Error(ErrorKind::kCorrupt, record.place() + ": " + record.problem, "--texts");
    }
    bytes += record.text.size();
    if (texts.size() == kMostTexts || bytes > kMostBytes) {
      return Error(ErrorKind::kInvalidArgument,
                   options.file + ": more than 100,000 texts or 256 MiB; a sample of them is enough", "--texts");
    }
    texts.push_back(std::move(record.text));
  }
  if (texts.empty()) return Error(ErrorKind::kInvalidArgument, options.file + ": holds no text", "--texts");
  return texts;
}

Result<std::unique_ptr<tokenizers::Tokenizer>> read_tokenizer(std::string path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path += "/tokenizer.json";
  return tokenizers::Tokenizer::from_file(path);
}

Result<std::vector<std::uint32_t>> count_tokens(const std::vector<std::string>& texts, const WorkloadOptions& options) {
  std::vector<std::uint32_t> tokens(texts.size());
  if (options.tokenizer.empty()) return tokens;
  WEIR_ASSIGN_OR_RETURN(const auto tokenizer, read_tokenizer(options.tokenizer));
  tokenizers::EncodeOptions encode;
  if (options.max_tokens > 0) encode.max_tokens = options.max_tokens;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const tokenizers::Encoding encoding, tokenizer->encode(texts[i], encode));
    tokens[i] = static_cast<std::uint32_t>(encoding.ids.size());
  }
  return tokens;
}

void describe_tokens(const std::vector<std::uint32_t>& tokens, Workload& workload) {
  for (const double count : tokens) {
    workload.mean_tokens += count / static_cast<double>(tokens.size());
    workload.mean_square_tokens += count * count / static_cast<double>(tokens.size());
  }
  workload.longest_tokens = *std::max_element(tokens.begin(), tokens.end());
}

}  // namespace

std::vector<std::string> made_up_texts(std::size_t count) {
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>((random() >> 11) + 1) * 0x1p-53; };
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    // Box and Muller's normal variate, written out: the standard library's may differ between implementations.
    const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979 * uniform());
    const auto words = static_cast<std::size_t>(std::clamp(35 * std::exp(0.95 * normal), 3.0, 400.0));
    std::string text;
    for (std::size_t word = 0; word < words; ++word) {
      if (word > 0) text += ' ';
      text += kWords[random() % std::size(kWords)];
    }
    texts.push_back(text + ".");
  }
  return texts;
}

Result<Workload> make_workload(const WorkloadOptions& options) {
  std::vector<std::string> texts = made_up_texts(options.file.empty() ? kMadeUpTexts : 0);
  Workload workload;
  workload.description = std::to_string(kMadeUpTexts) + " made-up texts";
  if (!options.file.empty()) {
    WEIR_ASSIGN_OR_RETURN(texts, read_texts(options));
    workload.description =
        std::to_string(texts.size()) + " texts of " + std::filesystem::path(options.file).filename().string();
  }
  WEIR_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> tokens, count_tokens(texts, options));
  describe_tokens(tokens, workload);
  const std::size_t each = options.texts_per_request;
  for (std::size_t at = 0; at < texts.size(); at += each) {
    RequestSize size{options.texts_per_request, 0};
    std::vector<std::string> request;
    for (std::size_t i = at; i < at + each; ++i) {
      request.push_back(texts[i % texts.size()]);
      size.tokens += tokens[i % texts.size()];
    }
    workload.requests.push_back(std::move(request));
    workload.sizes.push_back(size);
  }
  return workload;
}

}  // namespace weir::loadgen
