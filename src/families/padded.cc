// The graph is flat: everything but attention works on [tokens, hidden], where Gemm adds the bias inside the product,
// and Add followed by LayerNormalization on two dimensions is not fused into ONNX Runtime's SkipLayerNormalization,
// which is several times slower on CPUs.
#include "families/padded.h"

#include "families/activation.h"
#include "families/family.h"
#include "families/padded_attention.h"

namespace weir::families {
namespace {

using onnx::ElementType;

constexpr std::int64_t kFloatType = 1;  // of Cast
constexpr std::int64_t kInt64Type = 7;

class PaddedWriter {
 public:
  PaddedWriter(const Encoder& encoder, ModelGraph& model)
      : encoder_(encoder), model_(model), graph_(model.graph()), hidden_(encoder.facts.hidden_size) {}

  std::string write() {
    add_inputs();
    PaddedAttention attention(encoder_, model_);
    const std::string embedded = embeddings();
    std::string hidden = embedded;
    for (std::size_t i = 0; i < encoder_.layers.size() && model_.ok(); ++i) {
      hidden = layer(attention, encoder_.layers[i], hidden, "layer." + std::to_string(i) + ".");
      if (i == 0 && encoder_.convolution) hidden = convolution(*encoder_.convolution, embedded, hidden);
    }
    if (encoder_.final_norm) hidden = model_.layer_norm(*encoder_.final_norm, hidden, "final");
    return hidden;
  }

 private:
  void add_inputs() {
    for (const char* name : {kInputIds, kAttentionMask}) graph_.input(name, ElementType::kInt64, {"batch", "sequence"});
    if (encoder_.facts.has_token_type_ids) graph_.input(kTokenTypeIds, ElementType::kInt64, {"batch", "sequence"});
    graph_.node("Shape", {kInputIds}, "shape");
    graph_.node("Shape", {kInputIds}, "length", {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    graph_.node("Cast", {kAttentionMask}, "mask.float", {{"to", kFloatType}});
  }

  std::string embeddings() {
    const Embeddings& tables = encoder_.embeddings;
    const auto width = static_cast<std::int64_t>(tables.words.columns);
    std::string sum = graph_.node("Gather", {model_.table(tables.words), kInputIds}, "embeddings.words");
    if (tables.types) sum = graph_.node("Add", {sum, token_types(*tables.types)}, "embeddings.words_types");
    if (tables.positions) sum = graph_.node("Add", {sum, positions(*tables.positions)}, "embeddings.sum");
    std::string rows =
        graph_.node("Reshape", {sum, model_.integers("embeddings.shape", {-1, width})}, "embeddings.flat");
    const auto project = [&] {
      if (tables.projection) rows = model_.linear(*tables.projection, rows, "embeddings.projected");
    };
    if (tables.project_first) project();
    if (tables.norm) rows = model_.layer_norm(*tables.norm, rows, "embeddings.normalized");
    if (!tables.project_first) project();
    return tables.zero_padding ? without_padding(rows, "embeddings.masked") : rows;
  }

  std::string token_types(const Table& table) {
    if (encoder_.facts.has_token_type_ids) {
      return graph_.node("Gather", {model_.table(table), kTokenTypeIds}, "embeddings.types");
    }
    std::vector<float> rows = model_.values({table.name + ".weight"}, {table.rows, table.columns});
    if (model_.ok()) rows.resize(table.columns);
    return model_.weight("embeddings.type", {static_cast<std::int64_t>(table.columns)}, rows);
  }

  std::string positions(const Table& table) {
    const std::string rows = model_.table(table);
    if (encoder_.embeddings.skip_padding_tokens) {
      return graph_.node("Gather", {rows, counted_positions()}, "embeddings.positions");
    }
    const std::string zero = model_.integers("zero", {0});
    return graph_.node("Slice", {rows, zero, "length", zero}, "embeddings.positions");
  }

  /// first_position for the first token that is not padding, one more for each one after it.
  std::string counted_positions() {
    const std::int64_t pad = encoder_.facts.pad_token_id;
    const std::int64_t before = std::int64_t{encoder_.embeddings.first_position} - 1;
    const std::string is_padding =
        graph_.node("Equal", {kInputIds, graph_.int64_constant("pad_token_id", {}, {&pad, 1})}, "tokens.padding");
    const std::string is_token = graph_.node("Not", {is_padding}, "tokens.real");
    const std::string ones = graph_.node("Cast", {is_token}, "tokens.ones", {{"to", kInt64Type}});
    const std::int64_t axis = 1;
    const std::string counts =
        graph_.node("CumSum", {ones, graph_.int64_constant("tokens.axis", {}, {&axis, 1})}, "tokens.counts");
    const std::string real = graph_.node("Mul", {counts, ones}, "tokens.order");
    return graph_.node("Add", {real, graph_.int64_constant("tokens.before", {}, {&before, 1})}, "tokens.positions");
  }

  std::string without_padding(const std::string& rows, const std::string& output) {
    if (!has_mask_rows_) {
      has_mask_rows_ = true;
      graph_.node("Reshape", {"mask.float", model_.integers("column.shape", {-1, 1})}, "mask.rows");
    }
    return graph_.node("Mul", {rows, "mask.rows"}, output);
  }

  std::string layer(PaddedAttention& attention, const Layer& layer, const std::string& input, const std::string& name) {
    std::string read = input;
    if (encoder_.norm_first && layer.attention_norm) {
      read = model_.layer_norm(*layer.attention_norm, input, name + "attention.input");
    }
    const std::string context = attention.add(read, layer.attention, name + "attention.");
    std::string attended = model_.linear(layer.attention.output, context, name + "attention.output");
    if (layer.attention_inner_norm) {
      attended = graph_.node("Add", {attended, input}, name + "attention.inner.sum");
      attended = model_.layer_norm(*layer.attention_inner_norm, attended, name + "attention.inner");
    }
    const std::string sum = graph_.node("Add", {attended, input}, name + "attention.sum");
    if (encoder_.norm_first) {
      const std::string normalized = model_.layer_norm(layer.feed_forward_norm, sum, name + "feed_forward.input");
      const std::string added = feed_forward(layer.feed_forward, normalized, name + "feed_forward.");
      return graph_.node("Add", {added, sum}, name + "output");
    }
    const std::string middle = model_.layer_norm(*layer.attention_norm, sum, name + "attention.normalized");
    const std::string added = feed_forward(layer.feed_forward, middle, name + "feed_forward.");
    const std::string total = graph_.node("Add", {added, middle}, name + "sum");
    return model_.layer_norm(layer.feed_forward_norm, total, name + "output");
  }

  std::string feed_forward(const FeedForward& parts, const std::string& input, const std::string& name) {
    std::string wide = model_.linear(parts.up, input, name + "up");
    if (parts.gate) {
      const std::string gate = model_.linear(*parts.gate, input, name + "gate");
      const std::string open = add_activation(graph_, encoder_.activation, gate, name + "gate.active");
      wide = graph_.node("Mul", {open, wide}, name + "gated");
    } else {
      wide = add_activation(graph_, encoder_.activation, wide, name + "active");
    }
    return model_.linear(parts.down, wide, name + "down");
  }

  std::string convolution(const Convolution& parts, const std::string& input, const std::string& residual) {
    const std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(hidden_),
                                              static_cast<std::uint64_t>(hidden_) / parts.groups, parts.width};
    const std::string weight =
        model_.weight(parts.name + ".weight", std::vector<std::int64_t>(shape.begin(), shape.end()),
                      model_.values({parts.name + ".weight"}, shape));
    const std::string bias = model_.weight(
        parts.name + ".bias", {hidden_}, model_.values({parts.name + ".bias"}, {static_cast<std::uint64_t>(hidden_)}));
    const std::vector<std::int64_t> swap = {0, 2, 1};
    const std::string batch = add_batch_axis(model_, input, static_cast<std::uint64_t>(hidden_), "convolution.batch");
    const std::string channels = graph_.node("Transpose", {batch}, "convolution.channels", {{"perm", swap}});
    const std::int64_t side = (parts.width - 1) / 2;
    const std::string out =
        graph_.node("Conv", {channels, weight, bias}, "convolution.out",
                    {{"group", std::int64_t{parts.groups}}, {"pads", std::vector<std::int64_t>{side, side}}});
    const std::string tokens = graph_.node("Transpose", {out}, "convolution.tokens", {{"perm", swap}});
    const std::string flat = graph_.node("Reshape", {tokens, "flat_shape"}, "convolution.flat");
    const std::string masked = without_padding(flat, "convolution.masked");
    const std::string active = add_activation(graph_, parts.activation, masked, "convolution.active");
    const std::string sum = graph_.node("Add", {residual, active}, "convolution.sum");
    return without_padding(model_.layer_norm(parts.norm, sum, "convolution.normalized"), "convolution.output");
  }

  const Encoder& encoder_;
  ModelGraph& model_;
  onnx::GraphBuilder& graph_;
  std::int64_t hidden_;
  bool has_mask_rows_ = false;
};

}  // namespace

std::string add_padded_encoder(const Encoder& encoder, ModelGraph& model) {
  return PaddedWriter(encoder, model).write();
}

std::string add_batch_axis(ModelGraph& model, const std::string& input, std::uint64_t width,
                           const std::string& output) {
  const std::string last = model.integers(output + ".width", {static_cast<std::int64_t>(width)});
  const std::string shape =
      model.graph().node("Concat", {"shape", last}, output + ".shape", {{"axis", std::int64_t{0}}});
  return model.graph().node("Reshape", {input, shape}, output);
}

}  // namespace weir::families
