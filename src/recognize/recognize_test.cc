// Exports of tiny encoders by torch's two exporters and ONNX Runtime's optimizers and quantizers (tests/data/foreign,
// made by scripts/foreign_graphs.py), and what is left of them after damage.
#include "recognize/recognize.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <onnx/onnx-ml.pb.h>

namespace weir::recognize {
namespace {

std::string read_fixture(const std::string& name) {
  std::ifstream file(WEIR_TEST_DATA "/foreign/" + name + ".onnx", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

::onnx::ModelProto proto_of(const std::string& name) {
  ::onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(read_fixture(name))) << name;
  return proto;
}

/// Holds the model that the encoder's weights are read from.
struct Found {
  onnx::Model model;
  Result<Recognized> result;
};

Found find(const std::string& bytes, const std::string& output = "last_hidden_state") {
  auto model = onnx::Model::parse(std::as_bytes(std::span(bytes)), "test.onnx", "");
  EXPECT_TRUE(model.ok());
  auto result = recognize(*model, output);
  return {std::move(*model), std::move(result)};
}

Found find(const ::onnx::ModelProto& proto, const std::string& output = "last_hidden_state") {
  return find(proto.SerializeAsString(), output);
}

void expect_stopped(const ::onnx::ModelProto& proto, const std::string& part) {
  const Found found = find(proto);
  ASSERT_FALSE(found.result.ok()) << "recognized, though: " << part;
  EXPECT_NE(found.result.error().message.find(part), std::string::npos) << found.result.error().message;
}

::onnx::NodeProto* node_of(::onnx::ModelProto& proto, const std::string& op, int which = 0) {
  for (auto& node : *proto.mutable_graph()->mutable_node()) {
    if (node.op_type() == op && which-- == 0) return &node;
  }
  ADD_FAILURE() << "no such " << op;
  return nullptr;
}

struct Kind {
  const char* fixture;
  const char* activation = "gelu";
  bool has_types = true;
  std::int64_t first_position = 0;
  bool is_half = false;
  Rounding rounding = Rounding::kNone;
  std::int64_t embedding_size = 8;
};

class Foreign : public ::testing::TestWithParam<Kind> {};

TEST_P(Foreign, IsRecognized) {
  const Kind& kind = GetParam();
  const Found found = find(read_fixture(kind.fixture));
  ASSERT_TRUE(found.result.ok()) << found.result.error().message;
  const Encoder& encoder = found.result->encoder;
  EXPECT_EQ(encoder.hidden_size, 8);
  EXPECT_EQ(encoder.heads, 4);
  EXPECT_EQ(encoder.intermediate_size, 16);
  EXPECT_EQ(encoder.layers.size(), 2u);
  EXPECT_EQ(encoder.vocabulary_size(), 285);
  EXPECT_EQ(encoder.max_positions(), 64);
  EXPECT_EQ(encoder.activation, kind.activation);
  EXPECT_EQ(encoder.types.has_value(), kind.has_types);
  EXPECT_EQ(encoder.first_position, kind.first_position);
  EXPECT_EQ(found.result->is_half, kind.is_half);
  EXPECT_EQ(found.result->rounding, kind.rounding);
  EXPECT_EQ(encoder.embedding_size(), kind.embedding_size);
  EXPECT_EQ(encoder.embedding_projection.has_value(), kind.embedding_size != 8);
  EXPECT_EQ(encoder.pooling, GraphPooling::kNone);
  EXPECT_NEAR(encoder.epsilon, 1e-12, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Foreign,
    ::testing::Values(Kind{"bert.legacy11.eager"}, Kind{"bert.legacy17.sdpa"}, Kind{"bert.dynamo18.sdpa"},
                      Kind{"bert.legacy17.notypes", "gelu", false}, Kind{"bert-tanh.legacy14.eager", "gelu_new"},
                      Kind{"roberta.legacy17.pooled", "gelu", false, 2},
                      Kind{"distilbert.dynamo18.sdpa", "gelu", false}, Kind{"bert.legacy14.eager.optimizer"},
                      Kind{"bert.legacy14.eager.optimizer-mha"},
                      Kind{"albert.legacy17.sdpa", "gelu_new", true, 0, false, Rounding::kNone, 4},
                      Kind{"electra-narrow.legacy14.eager.optimizer", "gelu", true, 0, false, Rounding::kNone, 4},
                      Kind{"bert.legacy14.eager.optimizer-fp16", "gelu", true, 0, true},
                      Kind{"bert.legacy14.eager.dynamic", "gelu", true, 0, false, Rounding::kDynamic},
                      Kind{"bert.legacy14.eager.dynamic.session", "gelu", true, 0, false, Rounding::kDynamic},
                      Kind{"bert.legacy14.eager.dynamic-fused", "gelu", true, 0, false, Rounding::kDynamic},
                      Kind{"bert.legacy14.eager.qdq-channel", "gelu", true, 0, false, Rounding::kPairs},
                      Kind{"bert.legacy14.eager.qoperator", "gelu", true, 0, false, Rounding::kStatic}),
    [](const auto& param) {
      std::string name = param.param.fixture;
      std::replace_if(name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
      return name;
    });

std::vector<std::vector<float>> weights_of(const Encoder& encoder) {
  std::vector<std::vector<float>> all{encoder.words->floats(), encoder.positions->floats()};
  for (const EncoderLayer& layer : encoder.layers) {
    for (const LinearWeights* linear :
         {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.intermediate, &layer.output}) {
      all.push_back(linear->checkpoint_weights());
      all.push_back(linear->checkpoint_bias());
    }
    for (const NormWeights* norm : {&layer.attention_norm, &layer.output_norm}) {
      all.emplace_back(norm->gamma.begin(), norm->gamma.end());
      all.emplace_back(norm->beta.begin(), norm->beta.end());
    }
  }
  return all;
}

// One model, exported in different ways: the same bits come out.
TEST(Recognize, WeightsAreThoseOfTheModelWhateverTheExport) {
  const Found reference = find(read_fixture("bert.legacy17.sdpa"));
  const auto expected = weights_of(reference.result->encoder);
  for (const char* other : {"bert.legacy11.eager", "bert.dynamo18.sdpa", "bert.legacy14.eager.optimizer",
                            "bert.legacy14.eager.optimizer-mha"}) {
    const Found found = find(read_fixture(other));
    ASSERT_TRUE(found.result.ok()) << other;
    EXPECT_EQ(weights_of(found.result->encoder), expected) << other;
  }
}

TEST(Recognize, EightBitWeightsAreWithinAStepOfTheModels) {
  const Found reference = find(read_fixture("bert.legacy17.sdpa"));
  const auto expected = weights_of(reference.result->encoder);
  for (const char* other :
       {"bert.legacy14.eager.dynamic", "bert.legacy14.eager.dynamic.session", "bert.legacy14.eager.dynamic-fused",
        "bert.legacy14.eager.qdq-channel", "bert.legacy14.eager.qoperator"}) {
    const Found found = find(read_fixture(other));
    ASSERT_TRUE(found.result.ok()) << other;
    const auto weights = weights_of(found.result->encoder);
    ASSERT_EQ(weights.size(), expected.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      float largest = 0;
      for (const float weight : expected[i]) largest = std::max(largest, std::abs(weight));
      ASSERT_EQ(weights[i].size(), expected[i].size());
      for (std::size_t k = 0; k < weights[i].size(); ++k) {
        ASSERT_NEAR(weights[i][k], expected[i][k], largest / 100) << other << " tensor " << i << " element " << k;
      }
    }
  }
}

TEST(Recognize, PoolingInTheGraph) {
  const Found found = find(read_fixture("roberta.legacy17.pooled"), "sentence_embedding");
  ASSERT_TRUE(found.result.ok()) << found.result.error().message;
  EXPECT_EQ(found.result->encoder.pooling, GraphPooling::kMean);
  EXPECT_TRUE(found.result->encoder.normalizes);
}

TEST(Recognize, FirstTokenPooling) {
  ::onnx::ModelProto proto = proto_of("bert.legacy17.sdpa");
  auto& zero = *proto.mutable_graph()->add_initializer();
  zero.set_name("first");
  zero.set_data_type(::onnx::TensorProto::INT64);
  zero.add_int64_data(0);
  auto& gather = *proto.mutable_graph()->add_node();
  gather.set_op_type("Gather");
  gather.add_input("last_hidden_state");
  gather.add_input("first");
  gather.add_output("cls");
  auto& axis = *gather.add_attribute();
  axis.set_name("axis");
  axis.set_type(::onnx::AttributeProto::INT);
  axis.set_i(1);
  const Found found = find(proto, "cls");
  ASSERT_TRUE(found.result.ok()) << found.result.error().message;
  EXPECT_EQ(found.result->encoder.pooling, GraphPooling::kCls);
  EXPECT_FALSE(found.result->encoder.normalizes);
}

// Nothing is told by names, nor by the order of nodes in the file.
TEST(Recognize, NamesAndOrderDoNotMatter) {
  for (const char* fixture : {"bert.legacy11.eager", "bert.dynamo18.sdpa", "bert.legacy14.eager.optimizer"}) {
    ::onnx::ModelProto proto = proto_of(fixture);
    const std::set<std::string> kept{"", "input_ids", "attention_mask", "token_type_ids", "last_hidden_state"};
    std::map<std::string, std::string> names;
    const auto rename = [&](std::string* name) {
      if (!kept.contains(*name)) *name = names.emplace(*name, "v" + std::to_string(names.size())).first->second;
    };
    auto& graph = *proto.mutable_graph();
    for (auto& tensor : *graph.mutable_initializer()) rename(tensor.mutable_name());
    for (auto& node : *graph.mutable_node()) {
      node.clear_name();
      for (auto& name : *node.mutable_input()) rename(&name);
      for (auto& name : *node.mutable_output()) rename(&name);
    }
    std::reverse(graph.mutable_node()->pointer_begin(), graph.mutable_node()->pointer_end());
    std::reverse(graph.mutable_input()->pointer_begin(), graph.mutable_input()->pointer_end());
    const Found found = find(proto);
    EXPECT_TRUE(found.result.ok()) << fixture << ": " << found.result.error().message;
  }
}

TEST(Recognize, TheNodeThatStopsIsNamed) {
  ::onnx::ModelProto proto = proto_of("bert.legacy17.sdpa");
  node_of(proto, "Softmax", 1)->set_op_type("Hardmax");
  expect_stopped(proto, "layer.1/attention/self/Softmax' (Hardmax): nothing is known of this operator");
  proto = proto_of("bert.legacy17.sdpa");
  node_of(proto, "Erf")->set_op_type("Tanh");
  expect_stopped(proto, "expected GELU, ReLU or SiLU");
  proto = proto_of("bert.legacy14.eager.optimizer");
  node_of(proto, "SkipLayerNormalization", 2)->set_domain("com.example");
  expect_stopped(proto, "(com.example.SkipLayerNormalization): nothing is known");
}

TEST(Recognize, AttentionThatLooksAtPaddingIsRefused) {
  ::onnx::ModelProto proto = proto_of("bert.legacy14.eager.optimizer");
  node_of(proto, "Attention")->set_input(3, "");
  expect_stopped(proto, "attention without a mask");
  // Everyone's mask turned round: only padding is attended to.
  proto = proto_of("bert.dynamo18.sdpa");
  for (auto& node : *proto.mutable_graph()->mutable_node()) {
    if (node.op_type() == "Where" && node.input_size() == 3 && !node.input(0).starts_with("val")) {
      node.mutable_input()->SwapElements(1, 2);
    }
  }
  expect_stopped(proto, "a mask that is not that of each text's own tokens");
}

TEST(Recognize, OtherArchitecturesAreRefused) {
  // Causal attention.
  ::onnx::ModelProto proto = proto_of("bert.legacy14.eager.optimizer");
  for (auto& attribute : *node_of(proto, "Attention")->mutable_attribute()) {
    if (attribute.name() == "num_heads") attribute.set_i(3);
  }
  expect_stopped(proto, "attention over");
  // A residual that skips two parts.
  proto = proto_of("bert.legacy14.eager.optimizer");
  auto* last = node_of(proto, "SkipLayerNormalization", 3);
  auto* first = node_of(proto, "SkipLayerNormalization", 0);
  last->set_input(last->input(1) == node_of(proto, "SkipLayerNormalization", 2)->output(0) ? 1 : 0, first->output(0));
  expect_stopped(proto, "expected");
}

TEST(Recognize, DamagedGraphs) {
  ::onnx::ModelProto proto = proto_of("bert.legacy17.sdpa");
  auto* product = node_of(proto, "MatMul");
  product->set_input(0, "last_hidden_state");
  expect_stopped(proto, "the graph has a circle");

  proto = proto_of("bert.legacy17.sdpa");
  node_of(proto, "MatMul")->set_input(1, "not there");
  expect_stopped(proto, "input 'not there' is made by nothing");

  proto = proto_of("bert.legacy17.sdpa");
  for (auto& tensor : *proto.mutable_graph()->mutable_initializer()) tensor.mutable_dims()->Add(1);
  expect_stopped(proto, "node");

  proto = proto_of("bert.legacy17.sdpa");
  for (auto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.dims_size() == 2) tensor.set_dims(0, std::int64_t{1} << 40);
  }
  expect_stopped(proto, "(initializer)");

  proto = proto_of("bert.legacy17.sdpa");
  auto& none = *proto.mutable_graph()->add_initializer();
  none.set_name("none");
  none.set_data_type(::onnx::TensorProto::INT64);
  none.add_dims(0);
  none.add_dims(5);
  for (auto& node : *proto.mutable_graph()->mutable_node()) {
    if (node.op_type() == "Gather" && node.input(1) == "input_ids") node.set_input(1, "none");
  }
  expect_stopped(proto, "node");

  proto = proto_of("bert.legacy17.sdpa");
  proto.mutable_graph()->clear_node();
  auto* lone = proto.mutable_graph()->add_node();
  lone->set_op_type("Identity");
  lone->add_input("input_ids");
  lone->add_output("last_hidden_state");
  expect_stopped(proto, "does not depend on weights");
}

TEST(Recognize, EveryNodeLeftOutIsMissed) {
  for (const char* fixture : {"bert.legacy14.eager.optimizer", "bert.legacy14.eager.dynamic-fused"}) {
    const int count = proto_of(fixture).graph().node_size();
    for (int i = 0; i < count; ++i) {
      ::onnx::ModelProto proto = proto_of(fixture);
      const std::string op = proto.graph().node(i).op_type();
      proto.mutable_graph()->mutable_node()->DeleteSubrange(i, 1);
      EXPECT_FALSE(find(proto).result.ok()) << fixture << ": without node " << i << " (" << op << ")";
    }
  }
}

TEST(Recognize, WorkIsBounded) {
  ::onnx::ModelProto proto = proto_of("bert.legacy17.sdpa");
  auto& graph = *proto.mutable_graph();
  graph.clear_node();
  auto& shape = *graph.add_initializer();
  shape.set_name("shape");
  shape.set_data_type(::onnx::TensorProto::INT64);
  shape.add_dims(2);
  shape.add_int64_data(2000);
  shape.add_int64_data(2000);
  std::string before = "input_ids";
  for (int i = 0; i < 1000; ++i) {
    auto& fill = *graph.add_node();
    fill.set_op_type("ConstantOfShape");
    fill.add_input("shape");
    fill.add_output("fill" + std::to_string(i));
    auto& sum = *graph.add_node();
    sum.set_op_type("Add");
    sum.add_input(fill.output(0));
    sum.add_input(i == 0 ? fill.output(0) : before);
    before = i == 999 ? "last_hidden_state" : "sum" + std::to_string(i);
    sum.add_output(before);
  }
  expect_stopped(proto, "the graph computes too much");
}

// A chain as long as files can be: neither the search nor its end takes a stack as deep.
TEST(Recognize, LongChains) {
  ::onnx::ModelProto proto = proto_of("bert.legacy14.eager.optimizer");
  auto& graph = *proto.mutable_graph();
  auto* last = node_of(proto, "SkipLayerNormalization", 3);
  last->set_output(0, "link0");
  constexpr int kLinks = 50'000;
  for (int i = 1; i <= kLinks; ++i) {
    auto& link = *graph.add_node();
    link.set_op_type("Tanh");
    link.add_input("link" + std::to_string(i - 1));
    link.add_output(i == kLinks ? "last_hidden_state" : "link" + std::to_string(i));
  }
  expect_stopped(proto, "expected the layer norm of a sum");
}

}  // namespace
}  // namespace weir::recognize
