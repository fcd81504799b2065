#include "ops/packed_pooling.h"

#include <algorithm>

#include "ops/texts.h"

namespace weir::ops {
namespace {

constexpr std::size_t kFloatsWorthAThread = std::size_t{1} << 17;

constexpr const char* kKindNames[] = {"mean", "cls", "max", "last"};
constexpr kernels::PoolingKind kKinds[] = {kernels::PoolingKind::kMean, kernels::PoolingKind::kClass,
                                           kernels::PoolingKind::kMax, kernels::PoolingKind::kLast};

}  // namespace

Result<std::unique_ptr<PackedPooling>> PackedPooling::create(const Node& node) {
  auto kernel = std::make_unique<PackedPooling>();
  WEIR_ASSIGN_OR_RETURN(const std::size_t kind, node.choice("pooling", kKindNames));
  kernel->kind_ = kKinds[kind];
  WEIR_ASSIGN_OR_RETURN(kernel->normalize_, node.flag("normalize"));
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  kernel->variant_ = &kernels::choose_pooling(features);
  kernel->threads_ = node.threads();
  return kernel;
}

Status PackedPooling::compute(Call& call) const {
  WEIR_ASSIGN_OR_RETURN(const auto hidden, call.matrix<float>(0, "hidden"));
  WEIR_ASSIGN_OR_RETURN(const Texts texts, read_texts(call, 1, hidden.rows));
  kernels::Pooling args;
  args.in = hidden.data;
  args.in_stride = hidden.columns;
  args.offsets = texts.offsets.data();
  args.columns = hidden.columns;
  args.kind = kind_;
  args.normalize = normalize_;
  args.out = call.output<float>(0, texts.count(), hidden.columns);
  args.out_stride = hidden.columns;
  const std::size_t most = std::min(threads_, std::max<std::size_t>(texts.count(), 1));
  const std::size_t threads = useful_threads(hidden.rows * hidden.columns, kFloatsWorthAThread, most);
  call.parallel()(threads, [&](std::size_t i) {
    kernels::Pooling part = args;
    part.first_text = share(texts.count(), threads, i).begin;
    part.last_text = share(texts.count(), threads, i).end;
    variant_->run(part);
  });
  return {};
}

}  // namespace weir::ops
