// Once its buffers have grown, tokenizing costs the memory of its answer and no more: as many allocations for a long
// text as for a short one.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unicode/uclean.h>

#include "tokenizers/tokenizer.h"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
void* counted_by_icu(const void*, std::size_t bytes) { return counted(bytes); }
void* recounted_by_icu(const void*, void* memory, std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::realloc(memory, bytes);
}
void free_of_icu(const void*, void* memory) { std::free(memory); }

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* memory = counted(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes > 0 ? bytes : 1); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace weir::tokenizers {
namespace {

/// ICU takes memory by functions of its own, which may be given before anything else of it is used.
void count_icu_too() {
  UErrorCode code = U_ZERO_ERROR;
  u_setMemoryFunctions(nullptr, counted_by_icu, recounted_by_icu, free_of_icu, &code);
  ASSERT_TRUE(U_SUCCESS(code));
}

/// Words that no cache holds and no vocabulary knows as a whole, with accents, digits and marks between.
std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string word;
    for (int n = i * 7919 + 1; n > 0; n /= 7) word += "caféüñ"[static_cast<std::size_t>(n % 3)];
    text += word + "e\u0301a\u0323\u0301 " + std::to_string(i * 31) + (i % 5 == 0 ? " Straße, 漢字! " : " the ");
  }
  return text;
}

std::string vocabulary(const std::string& prefix) {
  std::string entries;
  int id = 0;
  const auto add = [&](const std::string& token) {
    entries += (id == 0 ? "\"" : ", \"") + token + "\": " + std::to_string(id);
    ++id;
  };
  add("[UNK]");
  for (char c = 'a'; c <= 'z'; ++c) {
    add(std::string(1, c));
    add(prefix + std::string(1, c));
  }
  for (char c = '0'; c <= '9'; ++c) {
    add(std::string(1, c));
    add(prefix + std::string(1, c));
  }
  return entries;
}

std::string wordpiece() {
  return R"({"version": "1.0", "normalizer": {"type": "BertNormalizer", "clean_text": true,
      "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100, "vocab": {)" +
         vocabulary("##") + "}}}";
}

/// Every byte as GPT-2 writes it, and some merges.
std::string byte_level_bpe() {
  std::string entries;
  int id = 0;
  for (const char* token : {"c", "a", "f", "e", "t", "h", "s", "r", "i", "o", "n", "p", "ca", "he", "the"}) {
    entries += std::string(id == 0 ? "\"" : ", \"") + token + "\": " + std::to_string(id);
    ++id;
  }
  return R"({"version": "1.0", "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\s+"}, "behavior": "Isolated"},
      {"type": "Split", "pattern": {"Regex": "\\s"}, "behavior": "Isolated"},
      {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
    "model": {"type": "BPE", "unk_token": "c", "vocab": {)" +
         entries + R"(}, "merges": ["c a", "h e", "t he"]}})";
}

std::string unigram() {
  std::string entries = R"(["<unk>", 0.0])";
  for (char c = 'a'; c <= 'z'; ++c)
    entries += ", [\"" + std::string(1, c) + "\", -" + std::to_string(c - 'a' + 2) + ".5]";
  return R"({"version": "1.0", "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"},
      {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [)" +
         entries + "]}}";
}

std::size_t count_allocations(const Tokenizer& tokenizer, const std::string& text, bool with_offsets) {
  EncodeOptions options;
  options.with_offsets = with_offsets;
  const std::size_t before = allocations.load();
  const auto encoding = tokenizer.encode(text, options);
  const std::size_t after = allocations.load();
  EXPECT_TRUE(encoding.ok());
  EXPECT_GT(encoding->ids.size(), 100u);
  return after - before;
}

TEST(Allocations, DoNotGrowWithTheTokens) {
  count_icu_too();
  const std::string short_text = words(50);
  const std::string long_text = words(800);
  for (const std::string& file : {wordpiece(), byte_level_bpe(), unigram()}) {
    const auto tokenizer = Tokenizer::from_json(file, "test.json");
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    for (const bool with_offsets : {false, true}) {
      count_allocations(**tokenizer, long_text, with_offsets);
      const std::size_t of_short = count_allocations(**tokenizer, short_text, with_offsets);
      const std::size_t of_long = count_allocations(**tokenizer, long_text, with_offsets);
      EXPECT_LE(of_long, of_short) << file.substr(0, 200);
      EXPECT_LE(of_long, 16u) << file.substr(0, 200);
    }
  }
}

}  // namespace
}  // namespace weir::tokenizers
