// What the tests of kernels share: arrays whose end (or start) touches an unreadable page, random values, and the list
// of variants that this machine can run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/isa/isa.h"

namespace weir::kernels {

/// `count` objects of T that end exactly where an unmapped page begins: a read or write past the end is a crash.
template <class T>
class Guarded {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Guarded(std::size_t count) : count_(count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = count * sizeof(T);
    const std::size_t body = (bytes + page - 1) / page * page;
    mapped_ = body + 2 * page;
    void* base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) std::abort();
    base_ = static_cast<std::byte*>(base);
    if (body != 0 && mprotect(base_ + page, body, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = reinterpret_cast<T*>(base_ + page + body - bytes);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, mapped_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  std::size_t count_;
  std::size_t mapped_ = 0;
  std::byte* base_ = nullptr;
  T* data_ = nullptr;
};

/// Fills with normally distributed values.
template <class Range>
void fill_normal(Range& range, std::mt19937& random, float deviation = 1.0f, float mean = 0.0f) {
  std::normal_distribution<float> normal(mean, deviation);
  for (auto& value : range) value = normal(random);
}

/// True when the same bits, NaNs included.
template <class Range>
bool same_bits(const Range& a, const Range& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0);
}

/// The variants of a family that this machine can run.
template <class Variant>
std::vector<const Variant*> runnable(std::span<const Variant> variants) {
  std::vector<const Variant*> result;
  for (const Variant& variant : variants) {
    if (cpu::detected().contains(variant.required)) result.push_back(&variant);
  }
  return result;
}

/// Says on standard output, and in the test's record, which variants ran here and which are untested.
template <class Variant>
void report_variants(const char* family, std::span<const Variant> variants) {
  std::string ran;
  std::string untested;
  for (const Variant& variant : variants) {
    std::string& list = cpu::detected().contains(variant.required) ? ran : untested;
    list += (list.empty() ? "" : " ") + std::string(variant.name);
  }
  std::cout << "[ variants ] " << family << ": ran " << ran
            << "; untested on this CPU: " << (untested.empty() ? "none" : untested) << '\n';
  ::testing::Test::RecordProperty("ran", ran);
  ::testing::Test::RecordProperty("untested", untested);
}

/// The feature sets of CPUs, from least to most: what each feature alone brings with it, and all together.
inline std::vector<cpu::Features> feature_levels() {
  std::vector<cpu::Features> levels = {{}};
  cpu::Features all;
  for (const cpu::Feature feature :
       {cpu::Feature::kAvx2, cpu::Feature::kAvxVnni, cpu::Feature::kAvx512Dq, cpu::Feature::kAvx512Vnni,
        cpu::Feature::kAvx512Bf16, cpu::Feature::kAmxInt8, cpu::Feature::kAmxBf16}) {
    levels.push_back(cpu::with_prerequisites({feature}));
    all = all.united(levels.back());
    levels.push_back(all);
  }
  return levels;
}

/// For each level of CPU features the choice is a variant that it can run, and all variants are chosen by one level or
/// another.
template <class Variant, class Choose>
void expect_choices_fit(std::span<const Variant> variants, Choose choose) {
  std::vector<bool> chosen(variants.size(), false);
  for (const cpu::Features features : feature_levels()) {
    const Variant& variant = choose(features);
    EXPECT_TRUE(features.contains(variant.required)) << variant.name << " for " << cpu::format_features(features);
    chosen[static_cast<std::size_t>(&variant - variants.data())] = true;
  }
  for (std::size_t i = 0; i < variants.size(); ++i) EXPECT_TRUE(chosen[i]) << variants[i].name << " is never chosen";
}

/// What WEIR_ISA says and the variant it must lead to, for each value that this CPU accepts.
template <class Choose>
void expect_forced_choices(Choose choose, std::initializer_list<std::pair<const char*, const char*>> cases) {
  for (const auto& [forced, expected] : cases) {
    const auto features = cpu::restrict_features(forced, cpu::detected());
    if (!features.ok()) continue;
    EXPECT_STREQ(choose(*features).name, expected) << forced;
  }
}

}  // namespace weir::kernels
