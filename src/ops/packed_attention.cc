#include "ops/packed_attention.h"

#include <atomic>

#include "ops/scratch.h"
#include "ops/texts.h"

namespace weir::ops {
namespace {

constexpr const char* kPrecisionNames[] = {"fp32", "bf16"};
constexpr kernels::AttentionPrecision kPrecisions[] = {kernels::AttentionPrecision::kFp32,
                                                       kernels::AttentionPrecision::kBf16};

// Inputs
constexpr std::size_t kRelativeBias = 2;
constexpr std::size_t kAlibiSlopes = 3;
constexpr std::size_t kRotaryCos = 4;
constexpr std::size_t kRotarySin = 5;
constexpr std::size_t kWindow = 6;

constexpr std::int64_t kMostHeads = 1 << 16;
/// Products of the scores that are worth a thread.
constexpr std::size_t kProductsWorthAThread = std::size_t{1} << 20;

Error bad_input(const char* name, const std::string& what) {
  return {ErrorKind::kInvalidArgument, std::string("input '") + name + "' " + what, name};
}

std::size_t score_products(const Texts& texts, const kernels::Attention& args) {
  std::size_t products = 0;
  for (std::size_t t = 0; t < texts.count(); ++t) {
    const std::size_t tokens = texts.offsets[t + 1] - texts.offsets[t];
    const std::size_t window = args.options.window;
    products += tokens * (window == 0 || window > tokens / 2 ? tokens : 2 * window);
  }
  return 2 * products * args.heads * args.head_size;
}

/// Pairs of text and head, taken by whichever thread is free: they differ in cost by the square of their lengths.
void attend(const Call& call, const kernels::AttentionVariant& variant, const kernels::Attention& args,
            const Texts& texts, std::size_t threads, float* work, std::size_t work_floats) {
  if (threads == 1) return variant.run(args, {0, texts.count(), 0, args.heads}, work);
  std::atomic<std::size_t> next{0};
  call.parallel()(threads, [&](std::size_t i) {
    for (;;) {
      const std::size_t unit = next.fetch_add(1, std::memory_order_relaxed);
      if (unit >= texts.count() * args.heads) return;
      const std::size_t text = unit / args.heads;
      const std::size_t head = unit % args.heads;
      variant.run(args, {text, text + 1, head, head + 1}, work + i * work_floats);
    }
  });
}

}  // namespace

Result<std::unique_ptr<PackedAttention>> PackedAttention::create(const Node& node) {
  WEIR_ASSIGN_OR_RETURN(const RowsFormat rows, read_rows_format(node));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  auto kernel = std::make_unique<PackedAttention>(rows, RowsWriter(features));
  WEIR_ASSIGN_OR_RETURN(const std::int64_t heads, node.integer("heads", 1, kMostHeads));
  kernel->heads_ = static_cast<std::size_t>(heads);
  WEIR_ASSIGN_OR_RETURN(kernel->scale_, node.number("scale"));
  WEIR_ASSIGN_OR_RETURN(const std::size_t precision, node.choice("precision", kPrecisionNames));
  kernel->variant_ = &kernels::choose_attention(features, kPrecisions[precision]);
  kernel->threads_ = node.threads();
  return kernel;
}

Status PackedAttention::read_options(const Call& call, std::size_t longest_text, kernels::Attention& args) const {
  kernels::AttentionOptions& options = args.options;
  if (call.has_input(kRelativeBias)) {
    WEIR_ASSIGN_OR_RETURN(const auto bias, call.matrix<float>(kRelativeBias, "relative_bias"));
    if (bias.rows != heads_ || bias.columns % 2 == 0) {
      return bad_input("relative_bias",
                       "has " + std::to_string(bias.rows) + " rows of " + std::to_string(bias.columns) +
                           "; it must have one of an odd number for each of " + std::to_string(heads_) + " heads");
    }
    options.relative_bias = bias.data;
    options.relative_reach = bias.columns / 2;
  }
  if (call.has_input(kAlibiSlopes)) {
    WEIR_ASSIGN_OR_RETURN(const auto slopes, call.vector<float>(kAlibiSlopes, "alibi_slopes", heads_));
    options.alibi_slopes = slopes.data();
  }
  if (call.has_input(kRotaryCos) || call.has_input(kRotarySin)) {
    const std::size_t half = args.head_size / 2;
    if (args.head_size % 2 != 0) return bad_input("rotary_cos", "is there, but heads have an odd size");
    WEIR_ASSIGN_OR_RETURN(const auto cosines, call.matrix<float>(kRotaryCos, "rotary_cos", half));
    WEIR_ASSIGN_OR_RETURN(const auto sines, call.matrix<float>(kRotarySin, "rotary_sin", half, cosines.rows));
    WEIR_RETURN_IF_ERROR(check_positions(longest_text, cosines.rows));
    options.rotary_cos = cosines.data;
    options.rotary_sin = sines.data;
  }
  if (call.has_input(kWindow)) {
    WEIR_ASSIGN_OR_RETURN(const auto window, call.vector<std::int64_t>(kWindow, "window", 1));
    if (window[0] < 1) return bad_input("window", "is " + std::to_string(window[0]) + "; it must be at least 1");
    options.window = static_cast<std::size_t>(window[0]);
  }
  return {};
}

Status PackedAttention::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(const auto input, call.matrix<float>(0, "query_key_value"));
  if (input.columns == 0 || input.columns % (3 * heads_) != 0) {
    return Error(ErrorKind::kInvalidArgument,
                 "input 'query_key_value' has " + std::to_string(input.columns) +
                     " columns, which are not three equal parts of " + std::to_string(heads_) + " heads",
                 "query_key_value");
  }
  WEIR_ASSIGN_OR_RETURN(const Texts texts, read_texts(call, 1, input.rows));
  const std::size_t hidden = input.columns / 3;
  WEIR_ASSIGN_OR_RETURN(const RowsOutput out, make_rows(call, rows_, false, input.rows, hidden));
  float* context = out.values;
  if (context == nullptr) {
    WEIR_ASSIGN_OR_RETURN(context, scratch<float>(Slot::kRows, input.rows * hidden));
  }
  kernels::Attention args;
  args.query = input.data;
  args.key = input.data + hidden;
  args.value = input.data + 2 * hidden;
  args.stride = input.columns;
  args.offsets = texts.offsets.data();
  args.heads = heads_;
  args.head_size = hidden / heads_;
  args.scale = scale_;
  args.out = context;
  args.out_stride = hidden;
  WEIR_RETURN_IF_ERROR(read_options(call, texts.longest, args));
  const std::size_t threads = useful_threads(score_products(texts, args), kProductsWorthAThread, threads_);
  const std::size_t work_floats = kernels::attention_scratch_floats(texts.longest, args.head_size);
  WEIR_ASSIGN_OR_RETURN(float* work, scratch<float>(Slot::kWork, threads * work_floats));
  attend(call, *variant_, args, texts, threads, work, work_floats);

  writer_.write(call, context, input.rows, out, threads_);
  return {};
}

}  // namespace weir::ops
