// Speed of a tokenizer on the lines of files, on one thread.
//
//   weir_tokenizers_tokenizer_bench TOKENIZER.json ROUNDS FILES…
//
// Prints the shortest processor time of a round, in seconds, without and with offsets: other work on the machine does
// not count, but for the caches it takes. scripts/tokenizer_speed.py compares it with the `tokenizers` library.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tokenizers/tokenizer.h"

namespace {

using weir::tokenizers::EncodeOptions;
using weir::tokenizers::Tokenizer;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The tokens of all texts; 0 after an error.
std::size_t encode_all(const Tokenizer& tokenizer, const std::vector<std::string>& texts, bool with_offsets) {
  EncodeOptions options;
  options.with_offsets = with_offsets;
  std::size_t tokens = 0;
  for (const std::string& text : texts) {
    const auto encoding = tokenizer.encode(text, options);
    if (!encoding.ok()) {
      std::fprintf(stderr, "%s\n", encoding.error().message.c_str());
      return 0;
    }
    tokens += encoding->ids.size();
  }
  return tokens;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::printf("usage: %s TOKENIZER.json ROUNDS FILES...\n", argv[0]);
    return 0;
  }
  const auto tokenizer = Tokenizer::from_file(argv[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  std::vector<std::string> texts;
  for (int i = 3; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    for (std::string line; std::getline(in, line);) texts.push_back(line);
  }
  for (const bool with_offsets : {false, true}) {
    double best = std::numeric_limits<double>::infinity();
    std::size_t tokens = 0;
    for (int round = 0; round < std::max(std::atoi(argv[2]), 1); ++round) {
      const double begin = processor_seconds();
      tokens = encode_all(**tokenizer, texts, with_offsets);
      if (tokens == 0) return 1;
      best = std::min(best, processor_seconds() - begin);
    }
    std::printf("%s %zu texts %zu tokens %.6f\n", with_offsets ? "offsets" : "ids", texts.size(), tokens, best);
  }
  return 0;
}
