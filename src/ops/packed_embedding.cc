#include "ops/packed_embedding.h"

#include <algorithm>
#include <limits>

#include "ops/scratch.h"
#include "ops/texts.h"

namespace weir::ops {
namespace {

constexpr std::int64_t kMostPositions = 1 << 24;
/// Tokens that are worth a thread.
constexpr std::size_t kTokensWorthAThread = 64;

/// Input `index` as the kernel's 32-bit ids, each below `limit`.
Result<const std::int32_t*> read_ids(std::span<const std::int64_t> given, Slot slot, std::size_t limit,
                                     const char* name) {
  WEIR_ASSIGN_OR_RETURN(std::int32_t * ids, scratch<std::int32_t>(slot, given.size()));
  const auto bound = static_cast<std::int64_t>(std::min<std::size_t>(limit, std::size_t{1} << 31));
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0 || given[i] >= bound) {
      return Error(ErrorKind::kInvalidArgument,
                   std::string("input '") + name + "' holds " + std::to_string(given[i]) + " at token " +
                       std::to_string(i) + "; it must be from 0 to " + std::to_string(bound - 1),
                   name);
    }
    ids[i] = static_cast<std::int32_t>(given[i]);
  }
  return ids;
}

/// Tokens of one text, `range` of them, at consecutive positions from `position` on.
void embed_run(const kernels::EmbeddingVariant& variant, kernels::Embedding args, kernels::IndexRange range,
               std::size_t position) {
  const std::uint32_t offsets[] = {static_cast<std::uint32_t>(range.begin), static_cast<std::uint32_t>(range.end)};
  args.offsets = offsets;
  args.tables.first_position = position;
  variant.run(args);
}

/// Tokens of one text where those of `padding_id` take the position before the first and do not count.
void embed_around_padding(const kernels::EmbeddingVariant& variant, const kernels::Embedding& args,
                          std::size_t text_begin, kernels::IndexRange range, std::int32_t padding_id) {
  const std::int32_t* ids = args.ids;
  const auto is_padding = [&](std::int32_t id) { return id == padding_id; };
  std::size_t position = args.tables.first_position + range.begin - text_begin -
                         static_cast<std::size_t>(std::count(ids + text_begin, ids + range.begin, padding_id));
  for (std::size_t begin = range.begin; begin < range.end;) {
    if (is_padding(ids[begin])) {
      embed_run(variant, args, {begin, begin + 1}, args.tables.first_position - 1);
      ++begin;
      continue;
    }
    const auto end = static_cast<std::size_t>(std::find_if(ids + begin, ids + range.end, is_padding) - ids);
    embed_run(variant, args, {begin, end}, position);
    position += end - begin;
    begin = end;
  }
}

/// Tokens of `range`: of each text that has some, those of its tokens, at their positions.
void embed_range(const kernels::EmbeddingVariant& variant, const kernels::Embedding& args, const Texts& texts,
                 kernels::IndexRange range, std::int64_t padding_id) {
  const auto after = std::upper_bound(texts.offsets.begin(), texts.offsets.end(), range.begin);
  for (auto text = static_cast<std::size_t>(after - texts.offsets.begin()) - 1; range.begin < range.end; ++text) {
    const std::size_t text_begin = texts.offsets[text];
    const std::size_t end = std::min<std::size_t>(range.end, texts.offsets[text + 1]);
    if (padding_id >= 0) {
      embed_around_padding(variant, args, text_begin, {range.begin, end}, static_cast<std::int32_t>(padding_id));
    } else {
      embed_run(variant, args, {range.begin, end}, args.tables.first_position + range.begin - text_begin);
    }
    range.begin = end;
  }
}

}  // namespace

Result<std::unique_ptr<PackedEmbedding>> PackedEmbedding::create(const Node& node) {
  WEIR_ASSIGN_OR_RETURN(const RowsFormat rows, read_rows_format(node));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  auto kernel = std::make_unique<PackedEmbedding>(rows, RowsWriter(features));
  WEIR_ASSIGN_OR_RETURN(kernel->epsilon_, node.number("epsilon"));
  WEIR_ASSIGN_OR_RETURN(const std::int64_t first, node.integer("first_position", 0, kMostPositions));
  kernel->first_position_ = static_cast<std::size_t>(first);
  WEIR_ASSIGN_OR_RETURN(kernel->padding_id_, node.integer("padding_id", -1, std::numeric_limits<std::int32_t>::max()));
  if (kernel->padding_id_ >= 0 && first == 0) {
    return Error(ErrorKind::kInvalidArgument,
                 "attribute 'first_position' is 0; with 'padding_id' there must be a position before it",
                 "first_position");
  }
  kernel->variant_ = &kernels::choose_embedding(features);
  kernel->threads_ = node.threads();
  return kernel;
}

Status PackedEmbedding::read_positions(const Call& call, kernels::Embedding& args, std::size_t longest_text) const {
  if (!call.has_input(4)) return {};
  WEIR_ASSIGN_OR_RETURN(const auto positions, call.matrix<float>(4, "positions", args.columns));
  WEIR_RETURN_IF_ERROR(check_positions(longest_text, positions.rows - std::min(first_position_, positions.rows)));
  args.tables.positions = positions.data;
  args.tables.first_position = first_position_;
  return {};
}

Status PackedEmbedding::read_tables(const Call& call, kernels::Embedding& args, std::size_t longest_text) const {
  WEIR_ASSIGN_OR_RETURN(const auto ids, call.vector<std::int64_t>(0, "input_ids"));
  WEIR_ASSIGN_OR_RETURN(const auto words, call.matrix<float>(3, "words"));
  args.columns = words.columns;
  args.tables.words = words.data;
  WEIR_ASSIGN_OR_RETURN(args.ids, read_ids(ids, Slot::kIds, words.rows, "input_ids"));
  WEIR_RETURN_IF_ERROR(read_positions(call, args, longest_text));
  if (call.has_input(5)) {
    WEIR_ASSIGN_OR_RETURN(const auto segments, call.matrix<float>(5, "segments", args.columns));
    if (segments.rows == 0) return Error(ErrorKind::kInvalidArgument, "input 'segments' has no rows", "segments");
    args.tables.segments = segments.data;
    if (call.has_input(1)) {
      WEIR_ASSIGN_OR_RETURN(const auto types, call.vector<std::int64_t>(1, "token_type_ids", ids.size()));
      WEIR_ASSIGN_OR_RETURN(args.segment_ids, read_ids(types, Slot::kSegments, segments.rows, "token_type_ids"));
    }
  }
  if (!call.has_input(6) && !call.has_input(7)) return {};
  WEIR_ASSIGN_OR_RETURN(const auto gamma, call.vector<float>(6, "gamma", args.columns));
  WEIR_ASSIGN_OR_RETURN(const auto beta, call.vector<float>(7, "beta", args.columns));
  args.tables.layer_norm = {gamma.data(), beta.data(), epsilon_};
  return {};
}

Status PackedEmbedding::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(const auto ids, call.vector<std::int64_t>(0, "input_ids"));
  WEIR_ASSIGN_OR_RETURN(const Texts texts, read_texts(call, 2, ids.size()));
  kernels::Embedding args;
  WEIR_RETURN_IF_ERROR(read_tables(call, args, texts.longest));
  args.last_text = 1;
  WEIR_ASSIGN_OR_RETURN(RowsOutput out, make_rows(call, rows_, true, ids.size(), args.columns));
  args.out = out.values;
  args.out_stride = out.columns;
  args.quantized = out.bytes;
  args.quantized_stride = bytes_stride(out.columns);
  args.quantized_scale = out.scales;
  const std::size_t threads = useful_threads(ids.size(), kTokensWorthAThread, threads_);
  call.parallel()(
      threads, [&](std::size_t i) { embed_range(*variant_, args, texts, share(ids.size(), threads, i), padding_id_); });
  out.bytes = nullptr;  // written by the kernel
  writer_.write(call, out.values, ids.size(), out, threads_);
  return {};
}

}  // namespace weir::ops
