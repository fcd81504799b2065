// What each family's reader refuses, by field. That the families compute what they should is
// importer/families_test.cc's to show.
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "families/family.h"

namespace weir::families {
namespace {

/// The config of one of tests/data/families with `fields` put before its own: the first of two counts.
Result<Architecture> read(const std::string& family, const std::string& fields) {
  const std::string path = std::string(WEIR_TEST_DATA "/families/") + family + "/config.json";
  std::string json = read_file(path, 1 << 20).value();
  const std::string key = fields.substr(0, fields.find(':'));
  // Fields may stand there twice for no reader: the original one gets another name.
  if (const auto old = json.find(key + ":"); old != std::string::npos) json.insert(old + 1, "x_");
  json.insert(json.find('{') + 1, fields + ",");
  return read_architecture(huggingface::JsonObject::parse(json, "config.json").value());
}

void expect_refused(const std::string& family, const std::string& fields, const std::string& part, ErrorKind kind) {
  const auto architecture = read(family, fields);
  ASSERT_FALSE(architecture.ok()) << family << " " << fields;
  EXPECT_NE(architecture.error().message.find(part), std::string::npos) << architecture.error().message;
  EXPECT_EQ(architecture.error().kind, kind) << architecture.error().message;
}

TEST(Registry, UnknownModelsAreToldTheNearest) {
  const auto nearest = [](const std::string& model_type) {
    const auto architecture = read("bert", "\"model_type\":\"" + model_type + "\"");
    EXPECT_FALSE(architecture.ok());
    EXPECT_EQ(architecture.error().kind, ErrorKind::kUnsupported);
    const std::string& message = architecture.error().message;
    const std::string mark = "the nearest that is: ";
    const auto begin = message.find(mark) + mark.size();
    return message.substr(begin, message.find(' ', begin) - begin);
  };
  EXPECT_EQ(nearest("deberta"), "deberta-v2");
  EXPECT_EQ(nearest("xlm-roberta-xl"), "xlm-roberta");
  EXPECT_EQ(nearest("modern_bert"), "modernbert");
  EXPECT_EQ(nearest("bort"), "bert");
  EXPECT_EQ(nearest(std::string(100000, 'x')).empty(), false);
}

TEST(Registry, WhatFamiliesRefuse) {
  using enum ErrorKind;
  expect_refused("roberta", R"("pad_token_id":39)", "leaves no position", kCorrupt);
  expect_refused("roberta", R"("position_embedding_type":"relative_key")", "'relative_key' is not supported",
                 kUnsupported);
  expect_refused("mpnet", R"("pad_token_id":0)", "MPNet has 1", kUnsupported);
  expect_refused("mpnet", R"("relative_attention_num_buckets":30)", "MPNet has 32", kUnsupported);
  expect_refused("electra", R"("embedding_size":null)", "missing", kCorrupt);
  expect_refused("albert", R"("num_hidden_groups":9)", "more than num_hidden_layers", kCorrupt);
  expect_refused("albert", R"("inner_group_num":0)", "must not be 0", kCorrupt);
  expect_refused("deberta-v2", R"("pos_att_type":"c2p|p2p")", "'p2p' is not supported", kUnsupported);
  expect_refused("deberta-v2", R"("relative_attention":false)", "false with pos_att_type", kUnsupported);
  expect_refused("deberta-v2", R"("position_buckets":200)", "does not fit max_relative_positions", kCorrupt);
  expect_refused("deberta-v2", R"("conv_kernel_size":2)", "even width", kUnsupported);
  expect_refused("jina-bert", R"("feed_forward_type":"swiglu")", "'swiglu' is not supported", kUnsupported);
  expect_refused("nomic_bert", R"("activation_function":"glu")", "'glu' is not supported", kUnsupported);
  expect_refused("nomic_bert", R"("prenorm":true)", "true is not supported", kUnsupported);
  expect_refused("nomic_bert", R"("rotary_emb_fraction":0.5)", "partly rotary", kUnsupported);
  expect_refused("nomic_bert", R"("num_experts":8)", "mixtures of experts", kUnsupported);
  expect_refused("nomic_bert", R"("rotary_scaling_factor":2)", "max_trained_positions", kCorrupt);
  expect_refused("gte", R"("position_embedding_type":"absolute")", "weir has rope", kUnsupported);
  expect_refused("gte", R"("rope_scaling":{"type":"yarn","factor":2})", "'yarn' is not supported", kUnsupported);
  expect_refused("gte", R"("rope_scaling":{"type":"ntk","factor":0})", "from 1 to 1024", kCorrupt);
  expect_refused("modernbert", R"("layer_types":["full_attention"])", "num_hidden_layers kinds", kCorrupt);
  expect_refused("modernbert", R"("layer_types":["a","b","c"])", "'a' is not supported", kUnsupported);
  expect_refused("modernbert", R"("local_attention":1)", "at least 2", kCorrupt);
  expect_refused("modernbert", R"("hidden_activation":"mish")", "'mish' is not supported", kUnsupported);
}

TEST(Registry, RotaryScalingIsKnownOrRefused) {
  using enum ErrorKind;
  for (const char* family : {"gte", "nomic_bert", "modernbert"}) {
    const auto refused = [&](const std::string& field, const std::string& part) {
      expect_refused(family, field, part, kUnsupported);
    };
    refused(R"("rope_scaling":{"rope_type":"dynamic","factor":2})", ".rope_type': 'dynamic' is not supported");
    refused(R"("rope_scaling":{"type":"linear","factor":2})", ".type': 'linear' is not supported");
    refused(R"("rope_scaling":{"type":"default","partial_rotary_factor":0.5})", "partly rotary");
    refused(R"("partial_rotary_factor":0.25)", "partly rotary");
    EXPECT_TRUE(read(family, R"("rope_scaling":{"type":"default"})").ok()) << family;
    EXPECT_TRUE(read(family, R"("rope_scaling":null,"partial_rotary_factor":1.0)").ok()) << family;
  }
  expect_refused("nomic_bert", R"("rope_scaling":{"type":"ntk","factor":2})",
                 "'ntk' is not supported; weir has default", kUnsupported);
  expect_refused("nomic_bert", R"("rope_parameters":{"type":"yarn","rope_theta":1000})", "'yarn' is not supported",
                 kUnsupported);
  expect_refused("nomic_bert", R"("rotary_emb_scale_base":512)", "scaled rotary positions", kUnsupported);
  EXPECT_TRUE(read("nomic_bert", R"("rotary_emb_scale_base":null)").ok());
  expect_refused("gte", R"("rope_parameters":{"rope_theta":0.5})", "must be from 1", kCorrupt);
  EXPECT_TRUE(read("gte", R"("rope_scaling":{"type":"ntk","factor":2})").ok());
  expect_refused("modernbert", R"("rope_parameters":{"full_attention":{"type":"linear","factor":2}})",
                 "'rope_parameters.full_attention.type': 'linear' is not supported", kUnsupported);
  expect_refused("modernbert", R"("rope_parameters":{"sliding_attention":{"partial_rotary_factor":0.5}})",
                 "partly rotary", kUnsupported);
  expect_refused("modernbert", R"("rope_parameters":{"rope_type":"default","rope_theta":10000})",
                 "but in full_attention and sliding_attention", kUnsupported);
}

TEST(Registry, Positions) {
  EXPECT_EQ(read("roberta", R"("x":0)")->facts().max_positions, 38u);
  EXPECT_EQ(read("mpnet", R"("x":0)")->facts().max_positions, 38u);
  EXPECT_EQ(read("bert", R"("x":0)")->facts().max_positions, 40u);
  EXPECT_EQ(read("nomic_bert", R"("rotary_scaling_factor":2,"max_trained_positions":20)")->facts().max_positions, 20u);
  EXPECT_FALSE(read("roberta", R"("x":0)")->facts().has_token_type_ids);
  EXPECT_TRUE(read("nomic_bert", R"("x":0)")->facts().has_token_type_ids);
}

}  // namespace
}  // namespace weir::families
