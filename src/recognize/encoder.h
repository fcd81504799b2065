// A BERT-family encoder as found in a graph: its sizes and its weights, whatever the graph called them.
//
// A value; weights are read from the graph's file when asked for. Encoders that differ from BERT by name alone (RoBERTa
// and XLM-R count positions from another row, DistilBERT has no token types) are described as BERT: what a table's
// unused rows or a constant type row would do is done here. Tables narrower than the layers make it ELECTRA, whose
// layers ALBERT's are, written out one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recognize/constant.h"
#include "recognize/value.h"

namespace weir::recognize {

/// A linear layer, or some columns of one.
struct LinearWeights {
  Constant weights = Constant::scalar(DataType::kFloat, 0);  ///< [inputs, all columns].
  std::vector<double> scale;                                 ///< One for all, or one per column of `weights`.
  std::vector<double> bias;                                  ///< Per column of `weights`; empty: zeros.
  std::vector<std::int64_t> columns;                         ///< Those that are meant, in order.
  double factor = 1;                                         ///< Of weights and bias.

  std::int64_t inputs() const { return weights.dims()[0]; }
  /// [columns, inputs], as checkpoints have them.
  std::vector<float> checkpoint_weights() const;
  std::vector<float> checkpoint_bias() const;
};

struct NormWeights {
  std::vector<double> gamma;
  std::vector<double> beta;
};

struct EncoderLayer {
  LinearWeights query;
  LinearWeights key;
  LinearWeights value;
  LinearWeights attention_output;
  NormWeights attention_norm;
  LinearWeights intermediate;
  LinearWeights output;
  NormWeights output_norm;
};

/// What the graph does with the token rows itself.
enum class GraphPooling { kNone, kMean, kCls };

struct Encoder {
  std::int64_t hidden_size = 0;
  std::int64_t heads = 0;
  std::int64_t intermediate_size = 0;
  double epsilon = 0;
  std::string activation;  ///< As `hidden_act` names it.
  std::optional<Constant> words;
  std::optional<Constant> positions;
  std::int64_t first_position = 0;
  std::optional<Constant> types;
  std::vector<double> position_row;  ///< Added to every position's row; empty: none.
  NormWeights embedding_norm;
  std::optional<LinearWeights> embedding_projection;  ///< From the tables' columns to the hidden size.
  std::vector<EncoderLayer> layers;
  GraphPooling pooling = GraphPooling::kNone;
  bool normalizes = false;

  std::int64_t embedding_size() const { return words->dims()[1]; }
  std::int64_t vocabulary_size() const { return words->dims()[0]; }
  std::int64_t max_positions() const { return positions->dims()[0] - first_position; }
};

/// kUnsupported: the node where the graph is something else than such an encoder, and what was expected there.
Result<Encoder> read_encoder(const Value& output);

}  // namespace weir::recognize
