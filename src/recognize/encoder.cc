#include "recognize/encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "recognize/sample.h"

namespace weir::recognize {
namespace {

constexpr std::size_t kMaxLayers = 1000;
constexpr std::int64_t kMaxSize = 1 << 20;

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double relu(double x) { return std::max(x, 0.0); }
double silu(double x) { return x / (1 + std::exp(-x)); }

struct NamedFunction {
  const char* name;
  double (*f)(double);
};
constexpr std::array<NamedFunction, 4> kActivations = {
    {{"gelu", gelu}, {"gelu_new", gelu_tanh}, {"relu", relu}, {"silu", silu}}};
/// Constants in half precision move a function by this much; erf's and tanh's GELU differ by 0.0005, so the nearest
/// function is the one.
constexpr double kActivationTolerance = 2e-3;

Error stop(const Meaning& meaning, const std::string& expected) {
  const View view{std::make_shared<const Meaning>(meaning), meaning.dims, nullptr, 1};
  return {ErrorKind::kUnsupported,
          "node " + meaning.node + ": found " + kind_text(Value(view)) + ", expected " + expected};
}

template <class T>
Result<const T*> expect(const MeaningPtr& meaning, const char* expected) {
  const T* found = meaning->as<T>();
  if (found == nullptr) return stop(*meaning, expected);
  return found;
}

Result<std::string> activation_of(const Meaning& meaning) {
  const auto* function = meaning.as<Pointwise>();
  if (function == nullptr) return stop(meaning, "an activation function");
  const std::vector<double>& points = sample_points();
  const char* best = nullptr;
  double least = kActivationTolerance;
  for (const NamedFunction& known : kActivations) {
    double distance = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double difference = std::abs(function->samples[i] - known.f(points[i]));
      // NaN is never near.
      distance = difference <= distance ? distance : (difference > distance ? difference : 1e30);
    }
    if (distance < least) {
      least = distance;
      best = known.name;
    }
  }
  if (best == nullptr) return stop(meaning, "GELU, ReLU or SiLU");
  return std::string(best);
}

Result<LinearWeights> linear_weights(const MeaningPtr& meaning, std::vector<std::int64_t> columns = {}) {
  WEIR_ASSIGN_OR_RETURN(const Linear* linear, expect<Linear>(meaning, "a linear layer"));
  LinearWeights weights{linear->weights, linear->scale, linear->bias, std::move(columns), 1};
  const std::int64_t all = linear->weights.dims()[1];
  if (weights.columns.empty()) {
    for (std::int64_t column = 0; column < all; ++column) weights.columns.push_back(column);
  }
  const auto fits = [&](const std::vector<double>& numbers) { return numbers.size() == static_cast<std::size_t>(all); };
  const bool consistent =
      (weights.scale.size() == 1 || fits(weights.scale)) && (weights.bias.empty() || fits(weights.bias));
  if (!consistent || all > kMaxSize || weights.inputs() > kMaxSize)
    return stop(*meaning, "a linear layer of such sizes");
  return weights;
}

/// Walks from the output to the embeddings.
class EncoderReader {
 public:
  Result<Encoder> read(const Value& output) {
    if (const auto* unknown = std::get_if<Unknown>(&output)) {
      return Error(ErrorKind::kUnsupported, "node " + unknown->node + ": " + unknown->reason);
    }
    const auto* view = std::get_if<View>(&output);
    if (view == nullptr) return Error(ErrorKind::kUnsupported, "the output does not depend on weights");
    WEIR_ASSIGN_OR_RETURN(const MeaningPtr rows, token_rows(*view));
    MeaningPtr current = rows;
    while (true) {
      if (current->as<Linear>() != nullptr) {
        WEIR_ASSIGN_OR_RETURN(current, embedding_projection(current));
        break;
      }
      const auto* norm = current->as<LayerNorm>();
      const auto* sum = norm != nullptr ? norm->x->as<Sum>() : nullptr;
      if (sum == nullptr) return stop(*current, "the layer norm of a sum");
      if (is_embeddings(*sum)) break;
      if (encoder_.layers.size() == kMaxLayers) return stop(*current, "fewer layers");
      WEIR_ASSIGN_OR_RETURN(current, layer(current));
    }
    WEIR_RETURN_IF_ERROR(embeddings(current));
    std::reverse(encoder_.layers.begin(), encoder_.layers.end());
    if (encoder_.layers.empty()) return stop(*current, "layers after the embeddings");
    return std::move(encoder_);
  }

 private:
  /// Takes pooling and normalization off.
  Result<MeaningPtr> token_rows(View view) {
    while (const auto* unit = view.of->as<UnitLength>()) {
      if (!view.is_plain()) return stop(*view.of, "its elements in their order");
      encoder_.normalizes = true;
      view = View(unit->x);
    }
    if (const auto* pooled = view.of->as<MeanPooled>(); pooled != nullptr && view.is_plain()) {
      encoder_.pooling = GraphPooling::kMean;
      return pooled->x;
    }
    if (view.scale != 1) return stop(*view.of, "the same without a factor");
    if (view.map != nullptr) {
      if (!takes_first_tokens(view)) return stop(*view.of, "its elements in their order, or each text's first token");
      encoder_.pooling = GraphPooling::kCls;
      return view.of;
    }
    const Dims& dims = view.dims;
    const bool fits = dims.size() == 3 && dims[0] == Sample::kBatch && dims[1] == Sample::kSequence;
    if (!fits || encoder_.normalizes) return stop(*view.of, "a row for each token");
    return view.of;
  }

  static bool takes_first_tokens(const View& view) {
    const std::int64_t columns = view.of->columns();
    if (element_count(view.of->dims) != Sample::kTokens * columns) return false;
    if (static_cast<std::int64_t>(view.map->size()) != Sample::kBatch * columns) return false;
    for (std::size_t i = 0; i < view.map->size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if ((*view.map)[i] != at / columns * Sample::kSequence * columns + at % columns) return false;
    }
    return true;
  }

  /// Returns its input.
  Result<MeaningPtr> embedding_projection(const MeaningPtr& output) {
    WEIR_ASSIGN_OR_RETURN(encoder_.embedding_projection, linear_weights(output));
    WEIR_RETURN_IF_ERROR(same(encoder_.hidden_size, output->columns(), *output));
    MeaningPtr input = output->as<Linear>()->x;
    const auto* norm = input->as<LayerNorm>();
    const auto* sum = norm != nullptr ? norm->x->as<Sum>() : nullptr;
    if (sum == nullptr || !is_embeddings(*sum)) return stop(*input, "the layer norm of the embeddings' sum");
    return input;
  }

  static bool is_embeddings(const Sum& sum) {
    return std::any_of(sum.terms.begin(), sum.terms.end(),
                       [](const MeaningPtr& term) { return term->as<Embedding>() != nullptr; });
  }

  /// Returns the layer's input.
  Result<MeaningPtr> layer(const MeaningPtr& output) {
    EncoderLayer result;
    WEIR_ASSIGN_OR_RETURN(Residual second, residual(output));
    result.output = std::move(second.linear);
    result.output_norm = std::move(second.norm);
    WEIR_ASSIGN_OR_RETURN(const std::string activation, activation_of(*second.input));
    if (!encoder_.activation.empty() && encoder_.activation != activation) {
      return stop(*second.input, encoder_.activation + " as in the other layers");
    }
    encoder_.activation = activation;
    const MeaningPtr wide = second.input->as<Pointwise>()->x;
    WEIR_ASSIGN_OR_RETURN(result.intermediate, linear_weights(wide));
    if (wide->as<Linear>()->x != second.skipped) return stop(*wide, "the input of the feed-forward part");
    WEIR_RETURN_IF_ERROR(same(encoder_.intermediate_size, wide->columns(), *wide));

    WEIR_ASSIGN_OR_RETURN(Residual first, residual(second.skipped));
    result.attention_output = std::move(first.linear);
    result.attention_norm = std::move(first.norm);
    WEIR_RETURN_IF_ERROR(attention(first, result));
    encoder_.layers.push_back(std::move(result));
    return first.skipped;
  }

  struct Residual {
    MeaningPtr input;    ///< Of the linear layer.
    MeaningPtr skipped;  ///< What is added to its result.
    LinearWeights linear;
    NormWeights norm;
  };

  /// Whether it ends what is added to a part's input. That may be a linear layer, too: ALBERT's first one is.
  static bool is_branch(const Meaning& term) {
    const auto* linear = term.as<Linear>();
    return linear != nullptr && (linear->x->as<Context>() != nullptr || linear->x->as<Pointwise>() != nullptr);
  }

  /// LayerNorm(Linear(input) + skipped).
  Result<Residual> residual(const MeaningPtr& output) {
    WEIR_ASSIGN_OR_RETURN(const LayerNorm* norm, expect<LayerNorm>(output, "a layer norm"));
    WEIR_ASSIGN_OR_RETURN(const Sum* sum, expect<Sum>(norm->x, "the sum of a linear layer and its part's input"));
    if (sum->terms.size() != 2) return stop(*norm->x, "a sum of two");
    const bool linear_first = is_branch(*sum->terms[0]);
    const MeaningPtr& linear = sum->terms[linear_first ? 0 : 1];
    Residual result{nullptr, sum->terms[linear_first ? 1 : 0], {}, {}};
    WEIR_ASSIGN_OR_RETURN(result.linear, linear_weights(linear));
    result.input = linear->as<Linear>()->x;
    if (!sum->row.empty()) {
      result.linear.bias.resize(sum->row.size(), 0.0);
      for (std::size_t i = 0; i < sum->row.size(); ++i) result.linear.bias[i] += sum->row[i];
    }
    WEIR_ASSIGN_OR_RETURN(result.norm, norm_weights(*norm, *output));
    WEIR_RETURN_IF_ERROR(same(encoder_.hidden_size, linear->columns(), *linear));
    return result;
  }

  Result<NormWeights> norm_weights(const LayerNorm& norm, const Meaning& at) {
    const auto columns = static_cast<std::size_t>(at.columns());
    // Rounded in half precision, epsilons below its smallest number are 0.
    if (has_epsilon_ && std::abs(norm.epsilon - encoder_.epsilon) > 1e-3 * encoder_.epsilon) {
      return stop(at, "the epsilon of the other layer norms");
    }
    encoder_.epsilon = norm.epsilon;
    has_epsilon_ = true;
    NormWeights weights{norm.gamma, norm.beta};
    weights.gamma.resize(columns, 1.0);
    weights.beta.resize(columns, 0.0);
    return weights;
  }

  Status attention(const Residual& part, EncoderLayer& result) {
    WEIR_ASSIGN_OR_RETURN(const Context* context, expect<Context>(part.input, "attention"));
    const MeaningPtr& scores_meaning = context->probabilities->as<Probabilities>()->scores;
    const Scores& scores = *scores_meaning->as<Scores>();
    for (const HeadColumns* columns : {&scores.query, &scores.key, &context->value}) {
      if (columns->linear->as<Linear>()->x != part.skipped) return stop(*columns->linear, "the layer's own input");
      const auto count = static_cast<std::int64_t>(columns->columns.size());
      WEIR_RETURN_IF_ERROR(same(encoder_.hidden_size, count, *scores_meaning));
    }
    WEIR_RETURN_IF_ERROR(same(encoder_.heads, scores.heads, *scores_meaning));
    WEIR_ASSIGN_OR_RETURN(result.query, linear_weights(scores.query.linear, scores.query.columns));
    WEIR_ASSIGN_OR_RETURN(result.key, linear_weights(scores.key.linear, scores.key.columns));
    WEIR_ASSIGN_OR_RETURN(result.value, linear_weights(context->value.linear, context->value.columns));
    const std::int64_t head_size = encoder_.hidden_size / scores.heads;
    const double usual = 1 / std::sqrt(static_cast<double>(head_size));
    if (std::abs(scores.scale - usual) > 1e-3 * usual) result.query.factor = scores.scale / usual;
    return {};
  }

  Status embeddings(const MeaningPtr& output) {
    const auto& norm = *output->as<LayerNorm>();
    const auto& sum = *norm.x->as<Sum>();
    std::int64_t width = encoder_.embedding_projection ? 0 : encoder_.hidden_size;
    WEIR_RETURN_IF_ERROR(same(width, output->columns(), *output));
    encoder_.hidden_size = encoder_.embedding_projection ? encoder_.hidden_size : width;
    for (const MeaningPtr& term : sum.terms) {
      WEIR_ASSIGN_OR_RETURN(const Embedding* embedding, expect<Embedding>(term, "an embedding"));
      std::optional<Constant>& slot = embedding->rows == Rows::kWords   ? encoder_.words
                                      : embedding->rows == Rows::kTypes ? encoder_.types
                                                                        : encoder_.positions;
      if (slot) return stop(*term, "one table each for words, positions and types");
      if (is_eight_bit(embedding->table.type())) return stop(*term, "a table whose scale is known");
      if (embedding->rows == Rows::kPositions) encoder_.first_position = embedding->first_row;
      slot = embedding->table;
    }
    if (!encoder_.words || !encoder_.positions) return stop(*norm.x, "embeddings of words and of positions");
    encoder_.position_row = sum.row;
    WEIR_ASSIGN_OR_RETURN(encoder_.embedding_norm, norm_weights(norm, *output));
    return {};
  }

  /// Sizes that every part of the encoder has.
  static Status same(std::int64_t& known, std::int64_t found, const Meaning& at) {
    if (known == 0) known = found;
    if (known == found && found > 0 && found <= kMaxSize) return {};
    return stop(at, "the size " + std::to_string(known) + " instead of " + std::to_string(found));
  }

  Encoder encoder_;
  bool has_epsilon_ = false;
};

}  // namespace

std::vector<float> LinearWeights::checkpoint_weights() const {
  const std::vector<float> all = weights.floats();
  const auto rows = static_cast<std::size_t>(inputs());
  const auto width = static_cast<std::size_t>(weights.dims()[1]);
  std::vector<float> result(columns.size() * rows);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = static_cast<std::size_t>(columns[i]);
    const double by = (scale.size() == 1 ? scale[0] : scale[column]) * factor;
    for (std::size_t row = 0; row < rows; ++row) {
      result[i * rows + row] = static_cast<float>(static_cast<double>(all[row * width + column]) * by);
    }
  }
  return result;
}

std::vector<float> LinearWeights::checkpoint_bias() const {
  std::vector<float> result;
  result.reserve(columns.size());
  for (const std::int64_t column : columns) {
    result.push_back(bias.empty() ? 0.0f : static_cast<float>(bias[static_cast<std::size_t>(column)] * factor));
  }
  return result;
}

Result<Encoder> read_encoder(const Value& output) { return EncoderReader().read(output); }

}  // namespace weir::recognize
