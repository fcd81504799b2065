// A post-processor puts special tokens around the tokens of one text or of a pair. What it does never depends on the
// text, so it is asked once, when a tokenizer is loaded, and answers with a plan that encode() then follows.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizers/json/object.h"

namespace weir::tokenizers {

/// How the offsets of a text's tokens lose the white space at their ends (ByteLevel's trim_offsets).
struct Trim {
  bool add_prefix_space = false;  ///< The blank before the first token may be one that was put there.
  bool at_start = true;           ///< The text is the first of its part.
  bool operator==(const Trim&) const = default;
};

/// One special token, or all tokens of one of the texts.
struct PlanStep {
  static constexpr int kSpecial = -1;
  int sequence = kSpecial;  ///< 0 or 1: the tokens of the first or second text.
  std::int32_t id = 0;      ///< Of the special token.
  std::int32_t type_id = 0;
  std::vector<Trim> trims;  ///< Of a text's tokens, in order.
  bool operator==(const PlanStep&) const = default;
};

/// What the library calls an encoding while it is being put together: one text with what surrounds it.
using PlanPart = std::vector<PlanStep>;
using Plan = std::vector<PlanPart>;

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;

  /// How many special tokens it adds, for truncation.
  virtual std::uint32_t added_tokens(bool pair) const = 0;

  /// Changes the plan of one text (one part) or of a pair (two parts). kUnsupported when it cannot work on what the
  /// post-processors before it have made.
  virtual Status apply(Plan& plan, bool add_special_tokens) const = 0;
};

/// Makes what `config` describes. kUnsupported names a type or a field that weir does not know; kCorrupt one that is
/// missing or wrong.
Result<std::unique_ptr<PostProcessor>> make_post_processor(const json::Object& config);

}  // namespace weir::tokenizers
