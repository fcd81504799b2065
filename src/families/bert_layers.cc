#include "families/bert_layers.h"

#include <optional>
#include <utility>

namespace weir::families {

Layer bert_layer(const std::string& name, const LayerNames& names, const Sizes& sizes, float epsilon) {
  const std::uint64_t hidden = sizes.hidden;
  const auto square = [&](const std::string& part) { return Linear{name + part, hidden, hidden}; };
  Layer layer;
  layer.attention.query = square(names.query);
  layer.attention.key = square(names.key);
  layer.attention.value = square(names.value);
  layer.attention.output = square(names.output);
  layer.attention_norm = Norm{name + names.attention_norm, hidden, epsilon};
  layer.feed_forward.up = Linear{name + names.up, hidden, sizes.intermediate};
  layer.feed_forward.down = Linear{name + names.down, sizes.intermediate, hidden};
  layer.feed_forward_norm = Norm{name + names.output_norm, hidden, epsilon};
  return layer;
}

Embeddings bert_embeddings(const Sizes& sizes, std::uint32_t token_types, std::uint64_t columns, float epsilon) {
  Embeddings embeddings;
  embeddings.words = {"embeddings.word_embeddings", sizes.vocabulary, columns};
  embeddings.positions = Table{"embeddings.position_embeddings", sizes.positions, columns};
  if (token_types > 0) embeddings.types = Table{"embeddings.token_type_embeddings", token_types, columns};
  embeddings.norm = Norm{"embeddings.LayerNorm", columns, epsilon};
  return embeddings;
}

std::vector<Layer> bert_layers(const std::string& path, const LayerNames& names, const Sizes& sizes, float epsilon) {
  std::vector<Layer> layers;
  for (std::uint32_t i = 0; i < sizes.layers; ++i) {
    layers.push_back(bert_layer(path + std::to_string(i) + ".", names, sizes, epsilon));
  }
  return layers;
}

Head dense_head(const std::string& dense, std::uint64_t hidden, Activation activation, const std::string& classifier) {
  Head head;
  head.steps = {{Linear{dense, hidden, hidden}, activation, std::nullopt}};
  head.classifier = classifier;
  return head;
}

Head pooler_head(std::uint64_t hidden) { return dense_head("pooler.dense", hidden, Activation::kTanh, "/classifier"); }

Encoder bert_encoder(const Facts& facts, const Sizes& sizes, const std::string& prefix, std::vector<Layer> layers) {
  Encoder encoder;
  encoder.facts = facts;
  encoder.heads = sizes.heads;
  encoder.prefixes = {"", prefix};
  encoder.parts = {"embeddings.", "encoder."};
  encoder.ignored = {"embeddings.position_ids", "embeddings.token_type_ids"};
  encoder.layers = std::move(layers);
  return encoder;
}

}  // namespace weir::families
