#include "ops/word_weights.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ops/scratch.h"
#include "ops/texts.h"
#include "packed_weights/linear.h"

namespace weir::ops {
namespace {

constexpr std::size_t kRowsAtOnce = 64;
/// Weights that are read once for all tokens stay in L2 meanwhile.
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
/// Micro-kernels take up to four panels at once.
constexpr std::size_t kPanelGroup = 4;
constexpr std::size_t kProductsWorthAThread = std::size_t{4} << 20;

/// The layer of some panels of channels alone.
template <class Weights>
Weights part_of(const Weights& weights, kernels::IndexRange panels) {
  const std::size_t first = panels.begin * kernels::kPanelChannels;
  Weights part = weights;
  part.channels = std::min(weights.channels, panels.end * kernels::kPanelChannels) - first;
  part.values = weights.values + panels.begin * weights.panel_size();
  part.bias = weights.bias + first;
  if constexpr (std::is_same_v<Weights, kernels::PackedWeightsQ8>) {
    part.correction = weights.correction + first;
    part.scale = weights.scale + first;
    part.sum = weights.sum + first;
  }
  return part;
}

/// Takes logits into the largest of their texts; a NaN stays.
void keep_largest(const float* logits, std::size_t channels, float* kept) {
  for (std::size_t i = 0; i < channels; ++i) {
    const float logit = logits[i];
    kept[i] = logit > kept[i] || logit != logit ? logit : kept[i];
  }
}

/// The tokens' vectors in the form that the layer reads, in memory of the thread's scratch.
Status read_activations(const Call&, const RowsWriter&, const Matrix<const float>& hidden, kernels::MatmulF32& args,
                        std::size_t) {
  args.activations = hidden.data;
  args.activation_stride = hidden.columns;
  return {};
}
Status read_activations(const Call& call, const RowsWriter& writer, const Matrix<const float>& hidden,
                        kernels::MatmulBf16& args, std::size_t threads) {
  RowsOutput rows{.columns = hidden.columns};
  args.activation_stride = bf16_stride(hidden.columns);
  WEIR_ASSIGN_OR_RETURN(rows.halves, scratch<std::uint16_t>(Slot::kRows, hidden.rows * args.activation_stride));
  writer.write(call, hidden.data, hidden.rows, rows, threads);
  args.activations = rows.halves;
  return {};
}
Status read_activations(const Call& call, const RowsWriter& writer, const Matrix<const float>& hidden,
                        kernels::MatmulQ8& args, std::size_t threads) {
  RowsOutput rows{.columns = hidden.columns};
  args.activation_stride = bytes_stride(hidden.columns);
  WEIR_ASSIGN_OR_RETURN(rows.bytes, scratch<std::uint8_t>(Slot::kRows, hidden.rows * args.activation_stride));
  WEIR_ASSIGN_OR_RETURN(rows.scales, scratch<kernels::RowScale>(Slot::kIds, hidden.rows));
  writer.write(call, hidden.data, hidden.rows, rows, threads);
  args.activations = rows.bytes;
  args.activation_scale = rows.scales;
  return {};
}

/// Where the weights of some words go: of each text, `stride` floats apart.
struct WordsOutput {
  float* first = nullptr;
  std::size_t stride = 0;
};

/// The weights of the words that `args` has, in all texts.
template <class Args>
void compute_words(const kernels::MatmulVariant<Args>& variant, const Args& args, const Texts& texts, float* block,
                   const WordsOutput& out) {
  const std::size_t channels = args.weights.channels;
  const std::size_t stride = args.weights.padded_channels();
  std::size_t text = 0;
  for (std::size_t row = 0; row < args.rows; row += kRowsAtOnce) {
    const std::size_t end = std::min(row + kRowsAtOnce, args.rows);
    variant.products(args, {row, end}, {0, args.weights.panels()}, {block, stride});
    for (std::size_t token = row; token < end; ++token) {
      while (token >= texts.offsets[text + 1]) ++text;
      keep_largest(block + (token - row) * stride, channels, out.first + text * out.stride);
    }
  }
  for (text = 0; text < texts.count(); ++text) {
    for (float& weight : std::span(out.first + text * out.stride, channels)) {
      if (weight != 0) weight = std::log1p(weight);
    }
  }
}

}  // namespace

template <>
const char* const WordWeights<FormatF32>::kName = "WordWeightsF32";
template <>
const char* const WordWeights<FormatBf16>::kName = "WordWeightsBf16";
template <>
const char* const WordWeights<FormatQ8>::kName = "WordWeightsQ8";

template <class Format>
Result<std::unique_ptr<WordWeights<Format>>> WordWeights<Format>::create(const Node& node) {
  auto kernel = std::make_unique<WordWeights>();
  WEIR_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, node.constant_bytes(2));
  WEIR_ASSIGN_OR_RETURN(kernel->weights_, Format::view(bytes));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  kernel->variant_ = &Format::choose(features);
  kernel->writer_ = RowsWriter(features);
  kernel->threads_ = node.threads();
  return kernel;
}

template <class Format>
Status WordWeights<Format>::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(const auto hidden, call.matrix<float>(0, "hidden", weights_.inputs));
  WEIR_ASSIGN_OR_RETURN(const Texts texts, read_texts(call, 1, hidden.rows));
  typename Format::Args args;
  args.rows = hidden.rows;
  WEIR_RETURN_IF_ERROR(read_activations(call, writer_, hidden, args, threads_));
  const std::size_t words = weights_.channels;
  float* out = call.output<float>(0, texts.count(), words);
  std::fill_n(out, texts.count() * words, 0.0f);

  const std::size_t group_bytes = kPanelGroup * weights_.panel_size() * sizeof(*weights_.values);
  const std::size_t chunk = kPanelGroup * std::max<std::size_t>(kChunkBytes / group_bytes, 1);
  const std::size_t chunks = (weights_.panels() + chunk - 1) / chunk;
  const std::size_t products = hidden.rows * weights_.panels() * weights_.panel_size();
  const std::size_t threads = useful_threads(products, kProductsWorthAThread, std::min(threads_, chunks));
  const std::size_t block_floats = kRowsAtOnce * chunk * kernels::kPanelChannels;
  WEIR_ASSIGN_OR_RETURN(float* work, scratch<float>(Slot::kWork, threads * block_floats));
  call.parallel()(threads, [&](std::size_t i) {
    const kernels::IndexRange own = share(chunks, threads, i);
    for (std::size_t index = own.begin; index < own.end; ++index) {
      const kernels::IndexRange panels = {index * chunk, std::min((index + 1) * chunk, weights_.panels())};
      auto part = args;
      part.weights = part_of(weights_, panels);
      compute_words(*variant_, part, texts, work + i * block_floats,
                    {out + panels.begin * kernels::kPanelChannels, words});
    }
  });
  return {};
}

template class WordWeights<FormatF32>;
template class WordWeights<FormatBf16>;
template class WordWeights<FormatQ8>;

}  // namespace weir::ops
