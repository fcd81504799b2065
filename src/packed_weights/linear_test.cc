#include "packed_weights/linear.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "packed_weights/limits.h"

namespace weir::packed_weights {
namespace {

/// A copy at an address that is a multiple of 64 plus `shift`.
class Placed {
 public:
  explicit Placed(const std::vector<std::byte>& bytes, std::size_t shift = 0) : shift_(shift), size_(bytes.size()) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (size_ + shift + 127) / 64 * 64)));
    std::memcpy(memory_.get() + shift, bytes.data(), size_);
  }
  std::span<const std::byte> span() const { return {memory_.get() + shift_, size_}; }
  std::span<const std::byte> first(std::size_t count) const { return span().first(count); }
  std::byte* at(std::size_t offset) { return memory_.get() + shift_ + offset; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t shift_;
  std::size_t size_;
  std::unique_ptr<std::byte, Free> memory_;
};

constexpr std::size_t kInputs = 70;
constexpr std::size_t kChannels = 18;

std::vector<float> weights() {
  std::vector<float> values(kInputs * kChannels);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  return values;
}

std::vector<std::byte> packed() {
  const std::vector<float> bias(kChannels, 0.5f);
  return pack_linear_q8(weights(), bias, kInputs, kChannels).value();
}

void expect_error(std::span<const std::byte> bytes, ErrorKind kind, const std::string& part) {
  const auto view = view_linear_q8(bytes);
  ASSERT_FALSE(view.ok()) << "accepted, though: " << part;
  EXPECT_EQ(view.error().kind, kind);
  EXPECT_NE(view.error().message.find(part), std::string::npos) << view.error().message;
}

TEST(LinearQ8, ViewHoldsWhatWasPacked) {
  const Placed bytes(packed());
  const auto view = view_linear_q8(bytes.span());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->inputs, kInputs);
  EXPECT_EQ(view->channels, kChannels);
  const auto original = weights();
  for (std::size_t n = 0; n < kChannels; ++n) {
    EXPECT_EQ(view->bias[n], 0.5f);
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < kInputs; ++k) {
      const std::size_t at = n / 16 * view->panel_bytes() + (k / 4 * 16 + n % 16) * 4 + k % 4;
      const float value = static_cast<float>(view->values[at]) * view->scale[n];
      EXPECT_NEAR(value, original[n * kInputs + k], view->scale[n] * 0.5001f);
      sum += view->values[at];
    }
    EXPECT_EQ(view->correction[n], -128 * sum);
    EXPECT_EQ(view->sum[n], view->scale[n] * static_cast<float>(sum));
  }
}

/// The value at a place among others of its size, as a float.
float as_float(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

TEST(LinearBf16, ViewHoldsWhatWasPacked) {
  const auto original = weights();
  const Placed bytes(pack_linear_bf16(original, std::vector<float>(kChannels, 0.5f), kInputs, kChannels).value());
  const auto view = view_linear_bf16(bytes.span());
  ASSERT_TRUE(view.ok()) << view.error().message;
  for (std::size_t n = 0; n < kChannels; ++n) {
    EXPECT_EQ(view->bias[n], 0.5f);
    for (std::size_t k = 0; k < kInputs; ++k) {
      const std::size_t at = n / 16 * view->panel_size() + (k / 2 * 16 + n % 16) * 2 + k % 2;
      EXPECT_NEAR(as_float(view->values[at]), original[n * kInputs + k], 0.004f);
    }
  }
  for (std::size_t size = 0; size < bytes.span().size(); size += 7)
    EXPECT_FALSE(view_linear_bf16(bytes.first(size)).ok());
  expect_error(bytes.span(), ErrorKind::kCorrupt, "WEIRLQ8");
}

TEST(LinearF32, ViewHoldsWhatWasPacked) {
  const auto original = weights();
  const Placed bytes(pack_linear_f32(original, {}, kInputs, kChannels).value());
  const auto view = view_linear_f32(bytes.span());
  ASSERT_TRUE(view.ok()) << view.error().message;
  for (std::size_t n = 0; n < kChannels; ++n) {
    EXPECT_EQ(view->bias[n], 0.0f);
    for (std::size_t k = 0; k < kInputs; ++k) {
      EXPECT_EQ(view->values[n / 16 * view->panel_size() + k * 16 + n % 16], original[n * kInputs + k]);
    }
  }
  for (std::size_t size = 0; size < bytes.span().size(); size += 7)
    EXPECT_FALSE(view_linear_f32(bytes.first(size)).ok());
}

TEST(LinearQ8, PartsAreAligned) {
  const Placed bytes(packed());
  const auto view = view_linear_q8(bytes.span());
  ASSERT_TRUE(view.ok());
  for (const void* part : {static_cast<const void*>(view->values), static_cast<const void*>(view->correction),
                           static_cast<const void*>(view->scale), static_cast<const void*>(view->sum),
                           static_cast<const void*>(view->bias)}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part) % 64, 0u);
  }
}

TEST(LinearQ8, NanBecomesTheScaleOfItsChannel) {
  auto values = weights();
  values[kInputs + 3] = std::numeric_limits<float>::quiet_NaN();
  const Placed bytes(pack_linear_q8(values, {}, kInputs, kChannels).value());
  const auto view = view_linear_q8(bytes.span());
  ASSERT_TRUE(view.ok());
  EXPECT_FALSE(std::isnan(view->scale[0]) || std::isnan(view->sum[0]));
  EXPECT_TRUE(std::isnan(view->scale[1]));
}

TEST(LinearQ8, RefusesWhatItCannotPack) {
  const auto wide = pack_linear_q8({}, {}, kMaxInputs + 1, 1);
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().kind, ErrorKind::kUnsupported);
  EXPECT_FALSE(pack_linear_bf16({}, {}, 1, kMaxChannels + 1).ok());
  EXPECT_FALSE(pack_linear_f32({}, {}, 0, 1).ok());
}

TEST(LinearQ8, RefusesEveryTruncation) {
  const Placed bytes(packed());
  for (std::size_t size = 0; size < bytes.span().size(); ++size) {
    EXPECT_FALSE(view_linear_q8(bytes.first(size)).ok()) << size;
  }
  expect_error(bytes.first(10), ErrorKind::kCorrupt, "less than their header");
  expect_error(bytes.first(bytes.span().size() - 1), ErrorKind::kCorrupt, "bytes instead of");
}

TEST(LinearQ8, RefusesMisalignedBytes) {
  expect_error(Placed(packed(), 16).span(), ErrorKind::kCorrupt, "multiple of 64");
}

TEST(LinearQ8, RefusesForeignHeaders) {
  Placed magic(packed());
  *magic.at(0) = std::byte{'X'};
  expect_error(magic.span(), ErrorKind::kCorrupt, "WEIRLQ8");
  Placed version(packed());
  *version.at(8) = std::byte{9};
  expect_error(version.span(), ErrorKind::kUnsupported, "layout version 9");
  Placed inputs(packed());
  *inputs.at(20) = std::byte{0xff};
  expect_error(inputs.span(), ErrorKind::kCorrupt, "claim");
  Placed channels(packed());
  *channels.at(24) = std::byte{60};
  expect_error(channels.span(), ErrorKind::kCorrupt, "60 channels take");
  Placed total(packed());
  *total.at(33) = std::byte{0};
  expect_error(total.span(), ErrorKind::kCorrupt, "bytes instead of");
}

}  // namespace
}  // namespace weir::packed_weights
