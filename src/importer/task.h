// What a checkpoint is for, and what makes scores of its numbers: from config.json and the files beside it. Pure but
// for reading files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/bundle.h"
#include "families/family.h"
#include "huggingface/json_object.h"
#include "huggingface/layout.h"

namespace weir::importer {

struct ModelTask {
  bundle::Task task = bundle::Task::kEmbedding;
  std::vector<std::string> labels;  ///< Of classifiers, in the order of the graph's numbers.
  bundle::ScoreFunction score_function = bundle::ScoreFunction::kNone;
  families::HeadForm head;
};

/// bge-m3's heads for token vectors and word weights, where both lie in `folder` (sparse_linear.pt,
/// colbert_linear.pt). kCorrupt where they do not fit the hidden size; else as torch_file.
Result<std::optional<families::TokenHeads>> read_token_heads(const std::string& folder, std::uint32_t hidden_size,
                                                             std::vector<std::string>& files);

/// By `overrides.task`, else by the modules of `layout`, else by config.json's `architectures`. kCorrupt: labels that
/// contradict each other; kUnsupported: a function that weir does not have.
Result<ModelTask> read_task(const huggingface::JsonObject& config, const huggingface::Layout& layout,
                            const huggingface::Overrides& overrides, const std::vector<std::string>& folders);

}  // namespace weir::importer
