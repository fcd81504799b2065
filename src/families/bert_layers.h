// What BERT and those who kept its names have in common: layers with learned absolute positions and normalization after
// each sum. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "families/config.h"
#include "families/encoder.h"

namespace weir::families {

/// Tensors of one layer, their names relative to it.
struct LayerNames {
  std::string query = "attention.self.query";
  std::string key = "attention.self.key";
  std::string value = "attention.self.value";
  std::string output = "attention.output.dense";
  std::string attention_norm = "attention.output.LayerNorm";
  std::string up = "intermediate.dense";
  std::string down = "output.dense";
  std::string output_norm = "output.LayerNorm";
};

/// `name` stands before all names and ends in a dot.
Layer bert_layer(const std::string& name, const LayerNames& names, const Sizes& sizes, float epsilon);

/// Tables of words, positions and, if there are `token_types`, of those, with a norm, as BERT names them.
Embeddings bert_embeddings(const Sizes& sizes, std::uint32_t token_types, std::uint64_t columns, float epsilon);

/// Layers `path`0. to `path`N-1. of one kind.
std::vector<Layer> bert_layers(const std::string& path, const LayerNames& names, const Sizes& sizes, float epsilon);

/// The rest: an Encoder with BERT's parts whose prefixes are "" and `prefix`.
Encoder bert_encoder(const Facts& facts, const Sizes& sizes, const std::string& prefix, std::vector<Layer> layers);

/// A dense layer of the hidden size with an activation, read by a classifier.
Head dense_head(const std::string& dense, std::uint64_t hidden, Activation activation, const std::string& classifier);
/// BERT's: tanh of the pooler.
Head pooler_head(std::uint64_t hidden);

}  // namespace weir::families
