#include "ops/packed_attention.h"

#include <atomic>

#include "ops/scratch.h"
#include "ops/texts.h"

namespace weir::ops {
namespace {

constexpr const char* kPrecisionNames[] = {"fp32", "bf16", "int8"};
constexpr kernels::AttentionPrecision kPrecisions[] = {
    kernels::AttentionPrecision::kFp32, kernels::AttentionPrecision::kBf16, kernels::AttentionPrecision::kInt8};

// Inputs
constexpr std::size_t kRelativeBias = 2;
constexpr std::size_t kAlibiSlopes = 3;
constexpr std::size_t kRotaryCos = 4;
constexpr std::size_t kRotarySin = 5;
constexpr std::size_t kWindow = 6;
constexpr std::size_t kPositionKeys = 7;
constexpr std::size_t kPositionQueries = 8;
constexpr std::size_t kPositionBuckets = 9;
constexpr std::size_t kKeys = 10;

constexpr std::int64_t kMostHeads = 1 << 16;
constexpr std::int64_t kLargestHead = 1 << 16;
/// Products of the scores that are worth a thread.
constexpr std::size_t kProductsWorthAThread = std::size_t{1} << 16;

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

Status read_rotary(const Call& call, std::size_t longest_text, kernels::Attention& args) {
  const std::size_t half = args.head_size / 2;
  if (args.head_size % 2 != 0) return bad_input("rotary_cos", "is there, but heads have an odd size");
  WEIR_ASSIGN_OR_RETURN(const auto cosines, call.matrix<float>(kRotaryCos, "rotary_cos", half));
  WEIR_ASSIGN_OR_RETURN(const auto sines, call.matrix<float>(kRotarySin, "rotary_sin", half, cosines.rows));
  WEIR_RETURN_IF_ERROR(check_positions(longest_text, cosines.rows));
  args.options.rotary_cos = cosines.data;
  args.options.rotary_sin = sines.data;
  return {};
}

/// Buckets as the kernel's 32-bit numbers, checked: it takes what lies between the first and the last for all there is.
Result<const std::int32_t*> read_buckets(std::span<const std::int64_t> given, std::size_t columns) {
  WEIR_ASSIGN_OR_RETURN(std::int32_t * buckets, scratch<std::int32_t>(Slot::kIds, given.size()));
  std::int64_t least = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < least || given[i] >= static_cast<std::int64_t>(columns)) {
      return bad_input("position_buckets", "holds " + std::to_string(given[i]) + " at " + std::to_string(i) +
                                               "; it must not descend, and stay from 0 to " +
                                               std::to_string(columns - 1));
    }
    least = given[i];
    buckets[i] = static_cast<std::int32_t>(given[i]);
  }
  return buckets;
}

/// A table by position; its columns become the stride, which both tables share.
Result<const float*> read_positions(const Call& call, std::size_t index, const char* name, kernels::Attention& args) {
  constexpr std::size_t kMostColumns = std::size_t{1} << 20;
  constexpr std::size_t kTogether = 16;
  const std::size_t hidden = args.heads * args.head_size;
  std::size_t& stride = args.options.position_stride;
  WEIR_ASSIGN_OR_RETURN(const auto values, call.matrix<float>(index, name));
  const std::size_t columns = values.columns;
  const bool fits = columns != 0 && columns % kTogether == 0 && columns <= kMostColumns;
  if (values.rows != hidden || !fits || (stride != 0 && stride != columns)) {
    return bad_input(name, "has " + std::to_string(values.rows) + " rows of " + std::to_string(columns) +
                               "; it must have " + std::to_string(hidden) +
                               ", of a multiple of 16, the same in both tables");
  }
  stride = columns;
  return values.data;
}

Status read_position_tables(const Call& call, std::size_t longest_text, kernels::Attention& args) {
  kernels::AttentionOptions& options = args.options;
  if (call.has_input(kPositionKeys)) {
    WEIR_ASSIGN_OR_RETURN(options.position_keys, read_positions(call, kPositionKeys, "position_keys", args));
  }
  if (call.has_input(kPositionQueries)) {
    WEIR_ASSIGN_OR_RETURN(options.position_queries, read_positions(call, kPositionQueries, "position_queries", args));
  }
  WEIR_ASSIGN_OR_RETURN(const auto buckets, call.vector<std::int64_t>(kPositionBuckets, "position_buckets"));
  if (buckets.size() % 2 == 0) return bad_input("position_buckets", "must have an odd number of elements");
  WEIR_RETURN_IF_ERROR(check_positions(longest_text, buckets.size() / 2 + 1));
  WEIR_ASSIGN_OR_RETURN(options.buckets, read_buckets(buckets, options.position_stride));
  options.bucket_reach = buckets.size() / 2;
  return {};
}

/// kInvalidArgument when a token would see no key: it has `window` tokens, or all, to each side.
Result<const std::uint32_t*> read_keys(const Call& call, const Texts& texts, std::size_t window) {
  WEIR_ASSIGN_OR_RETURN(const auto given, call.vector<std::int64_t>(kKeys, "keys", texts.count()));
  WEIR_ASSIGN_OR_RETURN(std::uint32_t * keys, scratch<std::uint32_t>(Slot::kKeys, given.size()));
  for (std::size_t t = 0; t < given.size(); ++t) {
    const std::int64_t tokens = texts.offsets[t + 1] - texts.offsets[t];
    const bool sees_all = window == 0 || window >= static_cast<std::size_t>(tokens);
    const std::int64_t least = sees_all ? 1 : tokens - static_cast<std::int64_t>(window);
    if (given[t] < least || given[t] > tokens) {
      return bad_input("keys", "is " + std::to_string(given[t]) + " at text " + std::to_string(t) + " of " +
                                   std::to_string(tokens) + " tokens; it must be from " + std::to_string(least) +
                                   " to " + std::to_string(tokens));
    }
    keys[t] = static_cast<std::uint32_t>(given[t]);
  }
  return keys;
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

/// The same with token `first` as the first one; offsets, keys and out are for the caller to set.
kernels::Attention from_token(const kernels::Attention& args, std::size_t first) {
  kernels::Attention text = args;
  const std::size_t skipped = first * args.stride;
  if (args.query_bf16 != nullptr) {
    text.query_bf16 += skipped;
    text.key_bf16 += skipped;
    text.value_bf16 += skipped;
  } else {
    text.query += skipped;
    text.key += skipped;
    text.value += skipped;
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<PackedAttention>> PackedAttention::create(const Node& node) {
  WEIR_ASSIGN_OR_RETURN(const RowsFormat rows, read_rows_format(node));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  auto kernel = std::make_unique<PackedAttention>(rows, RowsWriter(features));
  WEIR_ASSIGN_OR_RETURN(const std::int64_t heads, node.integer("heads", 1, kMostHeads));
  kernel->heads_ = static_cast<std::size_t>(heads);
  WEIR_ASSIGN_OR_RETURN(const std::int64_t head_size, node.integer_or("head_size", 1, kLargestHead, 0));
  kernel->head_size_ = static_cast<std::size_t>(head_size);
  WEIR_ASSIGN_OR_RETURN(kernel->scale_, node.number("scale"));
  WEIR_ASSIGN_OR_RETURN(const std::size_t precision, node.choice("precision", kPrecisionNames));
  kernel->variant_ = &kernels::choose_attention(features, kPrecisions[precision]);
  kernel->fp32_variant_ = &kernels::choose_attention(features, kernels::AttentionPrecision::kFp32);
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
    WEIR_RETURN_IF_ERROR(read_rotary(call, longest_text, args));
  }
  if (call.has_input(kWindow)) {
    WEIR_ASSIGN_OR_RETURN(const auto window, call.vector<std::int64_t>(kWindow, "window", 1));
    if (window[0] < 1) return bad_input("window", "is " + std::to_string(window[0]) + "; it must be at least 1");
    options.window = static_cast<std::size_t>(window[0]);
  }
  if (!call.has_input(kPositionKeys) && !call.has_input(kPositionQueries)) return {};
  return read_position_tables(call, longest_text, args);
}

Result<kernels::Attention> PackedAttention::read_input(const Call& call, std::size_t& rows) const {
  kernels::Attention args;
  args.heads = heads_;
  args.scale = scale_;
  const auto set_sizes = [&](const auto& input, std::size_t columns) -> Status {
    rows = input.rows;
    args.stride = input.columns;
    args.head_size = head_size_ == 0 ? columns / (3 * heads_) : head_size_;
    if (args.head_size != 0 && 3 * heads_ * args.head_size == columns) return {};
    return bad_input("query_key_value", "has " + std::to_string(columns) +
                                            " columns, which are not three equal parts of " + std::to_string(heads_) +
                                            " heads" + (head_size_ == 0 ? "" : " of " + std::to_string(head_size_)));
  };
  if (call.has_input(0) && call.element_type(0) == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16) {
    WEIR_ASSIGN_OR_RETURN(const auto input, call.matrix<std::uint16_t>(0, "query_key_value"));
    const std::size_t columns = 3 * heads_ * head_size_;
    if (head_size_ == 0) return bad_input("query_key_value", "is in bf16, which needs the attribute 'head_size'");
    // Rows in bf16 have padding behind them.
    WEIR_RETURN_IF_ERROR(set_sizes(input, input.columns < columns ? input.columns : columns));
    args.query_bf16 = input.data;
    args.key_bf16 = input.data + heads_ * args.head_size;
    args.value_bf16 = args.key_bf16 + heads_ * args.head_size;
    return args;
  }
  WEIR_ASSIGN_OR_RETURN(const auto input, call.matrix<float>(0, "query_key_value"));
  WEIR_RETURN_IF_ERROR(set_sizes(input, input.columns));
  args.query = input.data;
  args.key = input.data + heads_ * args.head_size;
  args.value = args.key + heads_ * args.head_size;
  return args;
}

Status PackedAttention::attend_texts(const kernels::AttentionVariant& variant, const kernels::Attention& args,
                                     const Texts& texts, float* work, const RowsOutput& out) const {
  WEIR_ASSIGN_OR_RETURN(float* context, scratch<float>(Slot::kRows, texts.longest * args.out_stride));
  for (std::size_t t = 0; t < texts.count(); ++t) {
    const std::uint32_t first = texts.offsets[t];
    const std::uint32_t last = texts.offsets[t + 1];
    const std::uint32_t offsets[] = {0, last - first};
    kernels::Attention text = from_token(args, first);
    text.offsets = offsets;
    if (args.keys != nullptr) text.keys = args.keys + t;
    text.out = context;
    variant.run(text, {0, 1, 0, heads_}, work);
    writer_.write_range(context, {first, last}, out);
  }
  return {};
}

Status PackedAttention::compute(Call& call) const {
  std::size_t rows = 0;
  WEIR_ASSIGN_OR_RETURN(kernels::Attention args, read_input(call, rows));
  WEIR_ASSIGN_OR_RETURN(const Texts texts, read_texts(call, 1, rows));
  const std::size_t hidden = heads_ * args.head_size;
  WEIR_ASSIGN_OR_RETURN(const RowsOutput out, make_rows(call, rows_, false, rows, hidden));
  args.offsets = texts.offsets.data();
  args.out = out.values;
  args.out_stride = hidden;
  WEIR_RETURN_IF_ERROR(read_options(call, texts.longest, args));
  if (call.has_input(kKeys)) {
    WEIR_ASSIGN_OR_RETURN(args.keys, read_keys(call, texts, args.options.window));
  }
  const std::size_t threads = useful_threads(score_products(texts, args), kProductsWorthAThread, threads_);
  const std::size_t work_floats = kernels::attention_scratch_floats(texts.longest, args.head_size, args.options);
  WEIR_ASSIGN_OR_RETURN(float* work, scratch<float>(Slot::kWork, threads * work_floats));
  const kernels::AttentionVariant& variant = args.options.buckets == nullptr ? *variant_ : *fp32_variant_;
  if (threads == 1 && out.values == nullptr) return attend_texts(variant, args, texts, work, out);
  if (args.out == nullptr) {
    WEIR_ASSIGN_OR_RETURN(args.out, scratch<float>(Slot::kRows, rows * hidden));
  }
  attend(call, variant, args, texts, threads, work, work_floats);
  writer_.write(call, args.out, rows, out, threads_);
  return {};
}

}  // namespace weir::ops
