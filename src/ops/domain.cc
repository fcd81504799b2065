#include "ops/domain.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>

#include "ops/linear.h"
#include "ops/operator.h"
#include "ops/packed_attention.h"
#include "ops/packed_embedding.h"
#include "ops/packed_layer_norm.h"
#include "ops/packed_neighbors.h"
#include "ops/packed_pooling.h"
#include "ops/word_weights.h"

namespace weir::ops {
namespace {

constexpr int kMaxThreads = 256;

template <class... Kernels>
struct OperatorsOf {
  explicit OperatorsOf(std::size_t threads) : operators(Operator<Kernels>(threads)...) {
    std::apply([&](auto&... each) { (domain.Add(&each), ...); }, operators);
  }
  std::tuple<Operator<Kernels>...> operators;
  Ort::CustomOpDomain domain{kDomainName};
};

/// Operators for one number of threads.
using Domain =
    OperatorsOf<PackedEmbedding, PackedAttention, PackedLayerNorm, PackedNeighbors, PackedPooling, Linear<FormatF32>,
                Linear<FormatBf16>, Linear<FormatQ8>, LinearResidualNorm<FormatF32>, LinearResidualNorm<FormatBf16>,
                LinearResidualNorm<FormatQ8>, WordWeights<FormatF32>, WordWeights<FormatBf16>, WordWeights<FormatQ8>>;

}  // namespace

OrtCustomOpDomain* domain(int threads) {
  // Never destroyed: sessions hold pointers to the operators, and some live until exit.
  static std::mutex& mutex = *new std::mutex;
  static auto& domains = *new std::map<int, std::unique_ptr<Domain>>;
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  threads = std::clamp(threads, 1, kMaxThreads);
  const std::lock_guard lock(mutex);
  auto& made = domains[threads];
  if (made == nullptr) made = std::make_unique<Domain>(static_cast<std::size_t>(threads));
  return made->domain;
}

}  // namespace weir::ops
