#include "ops/domain.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "ops/linear_q8.h"
#include "ops/operator.h"
#include "ops/packed_attention.h"
#include "ops/packed_embedding.h"
#include "ops/packed_pooling.h"

namespace weir::ops {
namespace {

constexpr int kMaxThreads = 256;

/// Operators for one number of threads.
struct Domain {
  Operator<PackedEmbedding> embedding;
  Operator<LinearQ8> linear;
  Operator<LinearQ8ResidualNorm> linear_residual_norm;
  Operator<PackedAttention> attention;
  Operator<PackedPooling> pooling;
  Ort::CustomOpDomain domain{"weir"};

  explicit Domain(std::size_t threads)
      : embedding(threads), linear(threads), linear_residual_norm(threads), attention(threads), pooling(threads) {
    domain.Add(&embedding);
    domain.Add(&linear);
    domain.Add(&linear_residual_norm);
    domain.Add(&attention);
    domain.Add(&pooling);
  }
};

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
