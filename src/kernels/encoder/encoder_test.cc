#include "kernels/encoder/encoder.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/encoder/random_model.h"
#include "kernels/testing/guarded.h"

namespace weir::kernels {
namespace {

constexpr EncoderSizes kSmall = {3, 96, 200, 3, 60, 40};

const RandomModel& small_model() {
  static const RandomModel model(kSmall);
  return model;
}

struct Texts {
  explicit Texts(std::initializer_list<std::size_t> lengths, unsigned seed = 11) {
    std::mt19937 random(seed);
    offsets.push_back(0);
    for (const std::size_t length : lengths) {
      for (std::size_t i = 0; i < length; ++i) {
        ids.push_back(static_cast<std::int32_t>(random() % kSmall.vocabulary));
        segment_ids.push_back(static_cast<std::int32_t>(random() % 2));
      }
      offsets.push_back(static_cast<std::uint32_t>(ids.size()));
    }
  }
  EncoderChunk chunk() const { return {ids, segment_ids, offsets}; }
  std::vector<std::int32_t> ids, segment_ids;
  std::vector<std::uint32_t> offsets;
};

/// The same network in double precision with unquantized weights, one text at a time.
class ExactEncoder {
 public:
  using Matrix = std::vector<std::vector<double>>;

  explicit ExactEncoder(const RandomModel& random) : random_(random), model_(random.model) {}

  Matrix run(const Texts& texts, std::size_t text) const {
    Matrix x;
    for (std::size_t i = texts.offsets[text]; i < texts.offsets[text + 1]; ++i) {
      std::vector<double> row(model_.hidden);
      for (std::size_t c = 0; c < model_.hidden; ++c) {
        row[c] = at(model_.embedding.words, static_cast<std::size_t>(texts.ids[i]), c) +
                 at(model_.embedding.positions, i - texts.offsets[text], c) +
                 at(model_.embedding.segments, static_cast<std::size_t>(texts.segment_ids[i]), c);
      }
      x.push_back(normalize(row, model_.embedding.layer_norm));
    }
    for (std::size_t i = 0; i < model_.layers.size(); ++i) x = layer(x, i);
    return x;
  }

 private:
  double at(const float* table, std::size_t row, std::size_t column) const {
    return table[row * model_.hidden + column];
  }

  static std::vector<double> normalize(std::vector<double> x, const LayerNormParameters& norm) {
    double mean = 0;
    double variance = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x) variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    for (std::size_t c = 0; c < x.size(); ++c) {
      x[c] = (x[c] - mean) / std::sqrt(variance + norm.epsilon) * norm.gamma[c] + norm.beta[c];
    }
    return x;
  }
  static Matrix linear(const Matrix& x, const RandomModel::Linear& layer) {
    Matrix y;
    for (const auto& row : x) {
      std::vector<double>& out = y.emplace_back(layer.bias.begin(), layer.bias.end());
      for (std::size_t n = 0; n < layer.channels; ++n) {
        for (std::size_t k = 0; k < layer.inputs; ++k) out[n] += row[k] * layer.weights[n * layer.inputs + k];
      }
    }
    return y;
  }
  static Matrix add_and_normalize(const Matrix& x, Matrix y, const LayerNormParameters& norm) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t c = 0; c < x[i].size(); ++c) y[i][c] += x[i][c];
      y[i] = normalize(y[i], norm);
    }
    return y;
  }
  Matrix attention(const Matrix& qkv) const {
    const std::size_t hidden = model_.hidden;
    const std::size_t size = hidden / model_.heads;
    Matrix out(qkv.size(), std::vector<double>(hidden, 0.0));
    for (std::size_t h = 0; h < model_.heads; ++h) {
      for (std::size_t i = 0; i < qkv.size(); ++i) {
        std::vector<double> weight(qkv.size());
        double sum = 0;
        for (std::size_t j = 0; j < qkv.size(); ++j) {
          double score = 0;
          for (std::size_t c = h * size; c < (h + 1) * size; ++c) score += qkv[i][c] * qkv[j][hidden + c];
          sum += weight[j] = std::exp(score / std::sqrt(static_cast<double>(size)));
        }
        for (std::size_t j = 0; j < qkv.size(); ++j) {
          for (std::size_t c = h * size; c < (h + 1) * size; ++c) {
            out[i][c] += weight[j] / sum * qkv[j][2 * hidden + c];
          }
        }
      }
    }
    return out;
  }
  Matrix layer(const Matrix& x, std::size_t index) const {
    const auto& linears = random_.linears();
    const EncoderLayer& parameters = model_.layers[index];
    const Matrix context = attention(linear(x, linears[4 * index]));
    const Matrix middle = add_and_normalize(x, linear(context, linears[4 * index + 1]), parameters.attention_norm);
    Matrix up = linear(middle, linears[4 * index + 2]);
    for (auto& row : up) {
      for (double& value : row) value = 0.5 * value * std::erfc(-value / std::sqrt(2.0));
    }
    return add_and_normalize(middle, linear(up, linears[4 * index + 3]), parameters.output_norm);
  }

  const RandomModel& random_;
  const EncoderModel& model_;
};

std::vector<float> encode_with(const EncoderKernels& kernels, const EncoderChunk& chunk) {
  auto workspace = EncoderWorkspace::create(small_model().model, 128);
  EXPECT_TRUE(workspace.ok());
  std::vector<float> out(chunk.ids.size() * kSmall.hidden);
  const Status status = encode(small_model().model, kernels, chunk, *workspace, out.data());
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return out;
}

std::vector<cpu::Features> runnable_levels() {
  std::vector<cpu::Features> levels;
  for (const cpu::Features level : feature_levels()) {
    if (cpu::detected().contains(level)) levels.push_back(level);
  }
  return levels;
}

double cosine(const std::vector<double>& a, const float* b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    ab += a[c] * b[c];
    aa += a[c] * a[c];
    bb += static_cast<double>(b[c]) * b[c];
  }
  return ab / std::sqrt(aa * bb);
}

constexpr AttentionPrecision kPrecisions[] = {AttentionPrecision::kFp32, AttentionPrecision::kBf16,
                                              AttentionPrecision::kInt8};

TEST(Encoder, TokensAreCloseToTheExactNetwork) {
  ASSERT_TRUE(validate_encoder(small_model().model).ok());
  const Texts texts({5, 1, 40, 17});
  const ExactEncoder exact(small_model());
  for (const AttentionPrecision precision : kPrecisions) {
    const auto out = encode_with(choose_encoder_kernels(cpu::detected(), precision), texts.chunk());
    for (std::size_t text = 0; text + 1 < texts.offsets.size(); ++text) {
      const auto expected = exact.run(texts, text);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_GT(cosine(expected[i], out.data() + (texts.offsets[text] + i) * kSmall.hidden), 0.998)
            << "text " << text << " token " << i;
      }
    }
  }
}

TEST(Encoder, EveryLevelGivesTheSameBits) {
  const Texts texts({5, 1, 40, 17});
  for (const AttentionPrecision precision : {AttentionPrecision::kFp32, AttentionPrecision::kInt8}) {
    const auto expected = encode_with(choose_encoder_kernels({}, precision), texts.chunk());
    for (const cpu::Features level : runnable_levels()) {
      const auto actual = encode_with(choose_encoder_kernels(level, precision), texts.chunk());
      EXPECT_TRUE(same_bits(expected, actual)) << cpu::format_features(level);
    }
  }
}

TEST(Encoder, ATextHasTheSameBitsAloneAndInAnyChunk) {
  const Texts texts({5, 1, 40, 17, 0, 33});
  for (const cpu::Features level : runnable_levels()) {
    for (const AttentionPrecision precision : kPrecisions) {
      const EncoderKernels kernels = choose_encoder_kernels(level, precision);
      const auto together = encode_with(kernels, texts.chunk());
      for (std::size_t text = 0; text + 1 < texts.offsets.size(); ++text) {
        const std::size_t begin = texts.offsets[text];
        const std::size_t count = texts.offsets[text + 1] - begin;
        const std::vector<std::uint32_t> offsets = {0, static_cast<std::uint32_t>(count)};
        const auto alone = encode_with(kernels, {std::span(texts.ids).subspan(begin, count),
                                                 std::span(texts.segment_ids).subspan(begin, count), offsets});
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                               together.begin() + static_cast<std::ptrdiff_t>(begin * kSmall.hidden)))
            << "text " << text << " on " << cpu::format_features(level);
      }
    }
  }
}

struct BadChunk {
  std::vector<std::int32_t> ids, segment_ids;
  std::vector<std::uint32_t> offsets;
  const char* where;
};

TEST(Encoder, BadChunksAreRefused) {
  const std::vector<BadChunk> cases = {
      {{1, 2}, {}, {}, "offsets"},
      {{1, 2}, {}, {1, 2}, "offsets"},
      {{1, 2}, {}, {0, 1}, "offsets"},
      {{1, 2}, {}, {0, 2, 1, 2}, "offsets"},
      {{1, 60}, {}, {0, 2}, "ids"},
      {{-1, 2}, {}, {0, 2}, "ids"},
      {{1, 2}, {0}, {0, 2}, "segment_ids"},
      {{1, 2}, {0, 2}, {0, 2}, "segment_ids"},
      {std::vector<std::int32_t>(41, 1), {}, {0, 41}, "offsets"},
      {std::vector<std::int32_t>(129, 1), {}, {0, 40, 80, 120, 129}, "ids"},
  };
  auto workspace = EncoderWorkspace::create(small_model().model, 128);
  ASSERT_TRUE(workspace.ok());
  std::vector<float> out(200 * kSmall.hidden);
  const EncoderKernels kernels = choose_encoder_kernels(cpu::detected(), AttentionPrecision::kFp32);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Status status = encode(small_model().model, kernels, {cases[i].ids, cases[i].segment_ids, cases[i].offsets},
                                 *workspace, out.data());
    ASSERT_FALSE(status.ok()) << i;
    EXPECT_EQ(status.error().kind, ErrorKind::kInvalidArgument) << i;
    EXPECT_EQ(status.error().where, cases[i].where) << i << ": " << status.error().message;
  }
}

TEST(Encoder, ModelsThatContradictThemselvesAreRefused) {
  EncoderModel model = small_model().model;
  model.heads = 5;
  EXPECT_EQ(validate_encoder(model).error().where, "heads");
  model = small_model().model;
  std::vector<EncoderLayer> layers(model.layers.begin(), model.layers.end());
  layers[1].feed_forward_up.channels = 199;
  model.layers = layers;
  EXPECT_EQ(validate_encoder(model).error().where, "layers[1].feed_forward_up");
  layers[1].feed_forward_up.channels = 200;
  layers[2].output_norm.beta = nullptr;
  EXPECT_EQ(validate_encoder(model).error().where, "layers[2].output_norm");
}

}  // namespace
}  // namespace weir::kernels
