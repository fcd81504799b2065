#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "families/families.h"
#include "families/family.h"
#include "families/heads.h"
#include "families/model_graph.h"
#include "families/packed.h"
#include "families/packed_heads.h"
#include "families/padded.h"

namespace weir::families {
namespace {

using ReadConfig = Result<Architecture> (*)(const huggingface::JsonObject&);

struct Family {
  std::string_view model_type;  ///< As config.json names it.
  ReadConfig read;
};

constexpr std::array<Family, 14> kFamilies = {{
    {"albert", read_albert},
    {"bert", read_bert},
    {"camembert", read_roberta},
    {"deberta-v2", read_deberta_v2},
    {"distilbert", read_distilbert},
    {"electra", read_electra},
    {"gte", read_gte},
    {"modernbert", read_modernbert},
    {"mpnet", read_mpnet},
    {"new", read_gte},
    {"nomic_bert", read_nomic_bert},
    {"roberta", read_roberta},
    {"xlm-roberta", read_roberta},
    {"xlm_roberta", read_roberta},
}};

/// Letters to insert, remove or replace to make one of the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Names of one kin begin alike; where that does not tell, the one that fewer letters make.
std::string_view nearest(std::string_view model_type) {
  constexpr std::size_t kLongestName = 64;  // What is longer is no model's name.
  const std::string_view name = model_type.substr(0, kLongestName);
  const auto alike = [&](std::string_view other) {
    return std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin();
  };
  const auto closer = [&](const Family& a, const Family& b) {
    const auto a_alike = alike(a.model_type);
    const auto b_alike = alike(b.model_type);
    if (a_alike != b_alike) return a_alike > b_alike;
    return edit_distance(name, a.model_type) < edit_distance(name, b.model_type);
  };
  return std::min_element(kFamilies.begin(), kFamilies.end(), closer)->model_type;
}

}  // namespace

Encoder Architecture::encoder(const Weights& weights) const {
  Encoder encoder = describe_(weights);
  encoder.facts.has_token_type_ids = facts_.has_token_type_ids;
  return encoder;
}

Status Architecture::build(Weights& weights, onnx::GraphBuilder& graph, const HeadForm& head) const {
  const Encoder described = encoder(weights);
  WEIR_RETURN_IF_ERROR(check_head(described, head));
  ModelGraph model(described, weights, graph);
  add_head(described, head, add_padded_encoder(described, model), model);
  return model.finish();
}

Result<PackedOutputs> Architecture::build_packed(Weights& weights, onnx::GraphBuilder& graph,
                                                 const PackedForm& form) const {
  const Encoder described = encoder(weights);
  WEIR_ASSIGN_OR_RETURN(const PackedNumbers numbers, read_packed_numbers(form.precision, form.attention));
  WEIR_RETURN_IF_ERROR(check_packed(described, form.unattended_tokens));
  WEIR_RETURN_IF_ERROR(check_packed_head(described, form));
  ModelGraph model(described, weights, graph);
  const std::string hidden = add_packed_encoder(described, model, numbers, form.unattended_tokens > 0);
  PackedOutputs outputs = add_packed_head(described, form, numbers.layers, hidden, model);
  WEIR_RETURN_IF_ERROR(model.finish());
  return outputs;
}

Result<Architecture> read_architecture(const huggingface::JsonObject& config) {
  WEIR_ASSIGN_OR_RETURN(const auto model_type, config.text("model_type"));
  if (!model_type) return config.error("model_type", "missing");
  std::string known;
  for (const Family& family : kFamilies) {
    if (family.model_type == *model_type) return family.read(config);
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  return config.error("model_type",
                      "'" + *model_type + "' is not supported; the nearest that is: " +
                          std::string(nearest(*model_type)) + " (weir knows: " + known + ")",
                      ErrorKind::kUnsupported);
}

}  // namespace weir::families
