// What a value of a graph means, as far as encoders need words for it.
//
// A View is how a graph holds a Meaning: multiplied by a number and with its elements in another order or shape. Both
// are values; meanings are shared and never change. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "recognize/constant.h"
#include "recognize/dims.h"

namespace weir::recognize {

struct Meaning;
using MeaningPtr = std::shared_ptr<const Meaning>;

struct View {
  MeaningPtr of;
  Dims dims;
  std::shared_ptr<const IndexMap> map;  ///< Element i is element (*map)[i] of the meaning; null: element i.
  double scale = 1;

  /// The meaning as it is, but for its shape.
  bool is_plain() const { return map == nullptr && scale == 1; }
};

/// Nothing is known of a value: a node was met that has no meaning here, or something it depends on.
struct Unknown {
  std::string node;    ///< "'NAME' (OP)" of the one that stopped.
  std::string reason;  ///< What was expected of it.
};

using Value = std::variant<Unknown, Constant, View>;

/// How the rows of an embedding table are chosen.
enum class Rows { kWords, kTypes, kPositions };

struct Embedding {
  Rows rows;
  Constant table;              ///< [rows, columns]; quantized until a DequantizeLinear follows.
  std::int64_t first_row = 0;  ///< Of the first position.
};

/// A sum of meanings of the same shape, and a row added to each row.
struct Sum {
  std::vector<MeaningPtr> terms;
  std::vector<double> row;  ///< Empty: none.
};

/// Of each row: its mean, the row less it, the mean of squares of that.
struct Mean {
  MeaningPtr x;
};
struct Centered {
  MeaningPtr x;
};
struct Variance {
  MeaningPtr x;
};

struct LayerNorm {
  MeaningPtr x;
  double epsilon = 0;
  std::vector<double> gamma;  ///< Empty: ones.
  std::vector<double> beta;   ///< Empty: zeros.
};

/// x · weights, each column times its scale, plus bias.
struct Linear {
  MeaningPtr x;
  Constant weights;           ///< [inputs, columns].
  std::vector<double> scale;  ///< One for all or one per column.
  std::vector<double> bias;   ///< Empty: zeros.
};

/// A product of 8-bit numbers that waits for its scales: a Linear's, or that of two views.
struct IntegerProduct {
  MeaningPtr linear;
  std::optional<View> left;
  std::optional<View> right;
};

/// The scale that DynamicQuantizeLinear found for x, or the product of two such, times numbers.
struct DynamicScale {
  std::vector<MeaningPtr> x;
  std::vector<double> factor;
};
struct DynamicZeroPoint {
  MeaningPtr x;
};

/// A function of each element of x, by its values at sample_points().
struct Pointwise {
  MeaningPtr x;
  std::vector<double> samples;
};

/// Where elements of a head's queries, keys or values lie among a Linear's columns: [heads * head size].
struct HeadColumns {
  MeaningPtr linear;
  std::vector<std::int64_t> columns;
};

struct Scores {
  HeadColumns query;
  HeadColumns key;
  std::int64_t heads = 0;
  double scale = 1;  ///< Once masked.
  bool is_masked = false;
};
struct Probabilities {
  MeaningPtr scores;
};
struct IsNan {
  MeaningPtr x;
};
/// [batch, sequence, heads * head size].
struct Context {
  MeaningPtr probabilities;
  HeadColumns value;
};

/// Token rows with those of padding set to 0, and their sum over the tokens of each text.
struct MaskedRows {
  MeaningPtr x;
};
struct MaskedSum {
  MeaningPtr x;
};
/// The mean over the tokens of each text: [batch, columns].
struct MeanPooled {
  MeaningPtr x;
};
/// Of each row of a view: the sum of squares, its root, the row divided by that.
struct SquaredSum {
  View x;
};
struct Length {
  View x;
};
struct UnitLength {
  View x;
};

struct Meaning {
  std::variant<Embedding, Sum, Mean, Centered, Variance, LayerNorm, Linear, IntegerProduct, DynamicScale,
               DynamicZeroPoint, Pointwise, Scores, Probabilities, IsNan, Context, MaskedRows, MaskedSum, MeanPooled,
               SquaredSum, Length, UnitLength>
      kind;
  Dims dims;         ///< As the meaning's own elements lie.
  std::string node;  ///< Of the graph, where it was made: for messages.

  template <class T>
  const T* as() const {
    return std::get_if<T>(&kind);
  }
  std::int64_t columns() const { return dims.empty() ? 1 : dims.back(); }
};

/// Where functions of one number are compared: 0, small and large numbers of both signs.
const std::vector<double>& sample_points();

/// The view as a function of what it is a view of, by its samples.
struct SampledView {
  MeaningPtr x;
  std::shared_ptr<const IndexMap> map;
  std::vector<double> samples;
};
SampledView sampled(const View& view);

bool same_order(const std::shared_ptr<const IndexMap>& a, const std::shared_ptr<const IndexMap>& b);

/// Words for messages, such as "a layer norm".
std::string kind_text(const Value& value);

}  // namespace weir::recognize
