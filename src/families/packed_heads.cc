#include "families/packed_heads.h"

namespace weir::families {
namespace {

using onnx::ElementType;

}  // namespace

Status check_packed_head(const Encoder&, const PackedForm& form) {
  const std::string flag = "--precision";
  const std::string& pooling = form.pooling;
  if (pooling == "mean" || pooling == "cls" || pooling == "max" || pooling == "last") return {};
  return Error(ErrorKind::kUnsupported, flag + ": packed graphs do not have the pooling " + pooling + "; take fp32",
               flag);
}

void add_packed_head(const Encoder& encoder, const PackedForm& form, const std::string& hidden, ModelGraph& model) {
  onnx::GraphBuilder& graph = model.graph();
  graph.weir_node("PackedPooling", {hidden, kOffsets}, {kSentenceEmbedding},
                  {{"pooling", form.pooling}, {"normalize", std::int64_t{0}}});
  graph.output(kSentenceEmbedding, ElementType::kFloat, {"texts", std::int64_t{encoder.facts.hidden_size}});
}

}  // namespace weir::families
