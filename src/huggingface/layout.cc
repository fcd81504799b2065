#include "huggingface/layout.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "huggingface/modules.h"
#include "huggingface/pooling_config.h"

namespace weir::huggingface {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMaxTokens = 1u << 24;

/// In the order in which sentence-transformers looks for them.
constexpr const char* kTransformerConfigs[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                               "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                               "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                               "sentence_xlnet_config.json"};

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "/" + name; }

class LayoutReader {
 public:
  explicit LayoutReader(const LayoutRequest& request) : request_(request) {}

  Result<Layout> read() {
    WEIR_ASSIGN_OR_RETURN(const std::optional<Modules> modules, find_modules());
    layout_.has_pooling = modules && modules->pooling;
    if (modules) layout_.transformer_path = modules->transformer;
    if (modules) layout_.dense_paths = modules->dense;
    WEIR_ASSIGN_OR_RETURN(layout_.late_interaction, read_late_interaction(modules));
    if (modules && modules->pools_words) WEIR_RETURN_IF_ERROR(read_word_pooling(*modules->pooling));
    WEIR_RETURN_IF_ERROR(read_pooling(modules));
    WEIR_RETURN_IF_ERROR(read_normalize(modules));
    WEIR_RETURN_IF_ERROR(layout_.late_interaction ? read_lengths() : read_max_tokens());
    WEIR_RETURN_IF_ERROR(check_tokenizer_settings());
    WEIR_RETURN_IF_ERROR(read_prompts());
    return std::move(layout_);
  }

 private:
  Result<std::optional<JsonObject>> read_optional(const std::string& name) {
    const auto path = find_file(request_.folders, name);
    if (!path) return std::optional<JsonObject>();
    layout_.files.push_back(*path);
    WEIR_ASSIGN_OR_RETURN(JsonObject object, JsonObject::read(*path));
    return std::optional(std::move(object));
  }

  Error missing(const std::string& name, const std::string& what) const {
    const std::string path = request_.folders.front() + "/" + name;
    return {ErrorKind::kNotFound, path + ": missing; " + what, path};
  }

  Result<std::optional<Modules>> find_modules() {
    const auto path = find_file(request_.folders, "modules.json");
    if (!path) return std::optional<Modules>();
    layout_.files.push_back(*path);
    WEIR_ASSIGN_OR_RETURN(const auto objects, JsonObject::read_array(*path));
    WEIR_ASSIGN_OR_RETURN(Modules modules, read_modules(objects, *path));
    return std::optional(std::move(modules));
  }

  bool is_ordered_otherwise() const {
    return request_.overrides.task && *request_.overrides.task != bundle::Task::kMultiVector;
  }

  /// Of ColBERT models, in the form that they have.
  Result<std::optional<LateInteraction>> read_late_interaction(const std::optional<Modules>& modules) {
    std::optional<LateInteraction> late;
    if (is_ordered_otherwise()) return late;
    if (modules && modules->interact_late()) {
      WEIR_ASSIGN_OR_RETURN(late, modules->token_mask ? read_multi_vector(*modules->token_mask) : read_pylate());
      return late;
    }
    WEIR_ASSIGN_OR_RETURN(const bool is_stanfords, has_stanfords_form(modules));
    if (!is_stanfords) return late;
    WEIR_ASSIGN_OR_RETURN(const auto metadata, read_optional("artifact.metadata"));
    if (!metadata) return missing("artifact.metadata", "it says how long queries and documents are");
    WEIR_ASSIGN_OR_RETURN(late, read_stanford_late_interaction(*metadata));
    return late;
  }

  Result<LateInteraction> read_pylate() {
    const std::string name = "config_sentence_transformers.json";
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional(name));
    if (!config) return missing(name, "it says how long queries and documents are");
    return read_pylate_late_interaction(*config);
  }

  Result<LateInteraction> read_multi_vector(const std::string& mask_path) {
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional("config_sentence_transformers.json"));
    WEIR_ASSIGN_OR_RETURN(const auto transformer, read_transformer_config());
    WEIR_ASSIGN_OR_RETURN(const auto mask, read_optional(joined(mask_path, "config.json")));
    return huggingface::read_late_interaction(
        {config ? &*config : nullptr, transformer ? &*transformer : nullptr, mask ? &*mask : nullptr});
  }

  Result<bool> has_stanfords_form(const std::optional<Modules>& modules) const {
    if (modules) return false;
    const auto path = find_file(request_.folders, "config.json");
    if (!path) return false;
    WEIR_ASSIGN_OR_RETURN(const JsonObject config, JsonObject::read(*path));
    WEIR_ASSIGN_OR_RETURN(const auto architectures, config.texts("architectures"));
    return architectures && !architectures->empty() && architectures->front() == "HF_ColBERT";
  }

  /// Queries and documents have lengths of their own; a flag takes the place of the documents'.
  Status read_lengths() {
    LateInteraction& late = *layout_.late_interaction;
    if (request_.overrides.max_tokens) late.document_tokens = request_.overrides.max_tokens;
    if (!late.query_tokens || !late.document_tokens) WEIR_RETURN_IF_ERROR(read_max_tokens());
    if (!late.query_tokens) late.query_tokens = layout_.max_tokens;
    if (!late.document_tokens) late.document_tokens = layout_.max_tokens;
    WEIR_ASSIGN_OR_RETURN(const auto positions, read_positions());
    layout_.max_tokens = std::max(*late.query_tokens, *late.document_tokens);
    const bool has_room = std::min(*late.query_tokens, *late.document_tokens) >= bundle::kLeastTokensOfARole;
    if (has_room && layout_.max_tokens <= positions.value_or(kMaxTokens)) return {};
    return Error(request_.overrides.max_tokens ? ErrorKind::kInvalidArgument : ErrorKind::kCorrupt,
                 "queries of " + std::to_string(*late.query_tokens) + " and documents of " +
                     std::to_string(*late.document_tokens) + " tokens: the model takes from " +
                     std::to_string(bundle::kLeastTokensOfARole) + " to " +
                     std::to_string(positions.value_or(kMaxTokens)) + " (max_position_embeddings); give --max-tokens",
                 "--max-tokens");
  }

  /// SPLADE's pooling, of which weir has the usual form.
  Status read_word_pooling(const std::string& path) {
    layout_.pools_words = true;
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional(joined(path, "config.json")));
    if (!config) return {};
    for (const auto& [key, usual] : {std::pair{"pooling_strategy", "max"}, {"activation_function", "relu"}}) {
      WEIR_RETURN_IF_ERROR(config->expect_text(key, usual));
    }
    return {};
  }

  Status read_pooling(const std::optional<Modules>& modules) {
    if (!request_.needs_pooling || layout_.pools_words || layout_.late_interaction) return {};
    if (request_.overrides.pooling) {
      layout_.pooling = *request_.overrides.pooling;
      return {};
    }
    if (!modules) return missing("modules.json", "it says how token vectors become a text's: give --pooling");
    if (!modules->pooling) return missing("modules.json's Pooling", "give --pooling");
    const std::string name = joined(*modules->pooling, "config.json");
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional(name));
    if (!config) return missing(name, "it says how token vectors become a text's: give --pooling");
    WEIR_ASSIGN_OR_RETURN(const PoolingConfig pooling, read_pooling_config(*config));
    layout_.pooling = pooling.pooling;
    layout_.pooling_dimensions = pooling.dimensions;
    return {};
  }

  Status read_normalize(const std::optional<Modules>& modules) {
    if (layout_.pools_words) {
      layout_.normalize = false;
      return {};
    }
    const bool is_late = layout_.late_interaction.has_value();
    // Without a MultiVectorMask it is a model of a library that always normalizes.
    if (is_late && !(modules && modules->token_mask)) return {};
    if (!is_late && request_.overrides.normalize) {
      layout_.normalize = *request_.overrides.normalize;
      return {};
    }
    if (!modules) {
      return missing("modules.json", "it says whether vectors are normalized: give --normalize or --no-normalize");
    }
    layout_.normalize = modules->normalize.has_value();
    if (!layout_.normalize) return {};
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional(joined(*modules->normalize, "config.json")));
    if (!config) return {};
    const char* normalized = is_late ? "token_embeddings" : "sentence_embedding";
    for (const char* key : {"module_input_name", "module_output_name"}) {
      WEIR_ASSIGN_OR_RETURN(const auto name, config->text(key));
      if (name && *name != normalized) {
        return config->error(key, "'" + *name + "' is not supported; weir normalizes " + normalized,
                             ErrorKind::kUnsupported);
      }
    }
    return {};
  }

  Result<std::optional<std::uint32_t>> read_positions() {
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional(joined(layout_.transformer_path, "config.json")));
    if (!config) return std::optional<std::uint32_t>();
    return config->count("max_position_embeddings", kMaxTokens);
  }

  Status read_max_tokens() {
    WEIR_ASSIGN_OR_RETURN(const auto positions, read_positions());
    WEIR_ASSIGN_OR_RETURN(const auto transformer, read_transformer_config());
    if (request_.overrides.max_tokens) {
      layout_.max_tokens = *request_.overrides.max_tokens;
      if (layout_.max_tokens == 0 || (positions && layout_.max_tokens > *positions)) {
        return Error(ErrorKind::kInvalidArgument,
                     "--max-tokens " + std::to_string(layout_.max_tokens) + ": the model takes from 1 to " +
                         std::to_string(positions.value_or(kMaxTokens)) + " tokens (max_position_embeddings)",
                     "--max-tokens");
      }
      return {};
    }
    if (transformer) {
      WEIR_ASSIGN_OR_RETURN(const auto max_tokens, transformer->count("max_seq_length", kMaxTokens));
      if (max_tokens) return set_max_tokens(*transformer, *max_tokens, positions);
    }
    return max_tokens_from_tokenizer(positions);
  }

  Status set_max_tokens(const JsonObject& source, std::uint32_t tokens, std::optional<std::uint32_t> positions) {
    if (tokens == 0) return source.error("max_seq_length", "is 0");
    if (positions && tokens > *positions) {
      return source.error("max_seq_length", "is " + std::to_string(tokens) +
                                                ", more than config.json's max_position_embeddings (" +
                                                std::to_string(*positions) + "); give --max-tokens");
    }
    layout_.max_tokens = tokens;
    return {};
  }

  Status max_tokens_from_tokenizer(std::optional<std::uint32_t> positions) {
    const std::string name = joined(layout_.transformer_path, "tokenizer_config.json");
    WEIR_ASSIGN_OR_RETURN(const auto tokenizer, read_optional(name));
    if (!tokenizer) {
      return missing(name,
                     "it, or max_seq_length in sentence_bert_config.json, says how long a text may be: give "
                     "--max-tokens");
    }
    WEIR_ASSIGN_OR_RETURN(const auto limit, tokenizer->number("model_max_length"));
    if (limit && !(*limit >= 1)) return tokenizer->error("model_max_length", "is less than 1");
    const double bound = std::min(limit.value_or(1e30), positions ? static_cast<double>(*positions) : 1e30);
    if (bound > kMaxTokens) {
      return tokenizer->error("model_max_length",
                              "sets no limit, and config.json has no max_position_embeddings: give --max-tokens");
    }
    layout_.max_tokens = static_cast<std::uint32_t>(bound);
    return {};
  }

  Result<std::optional<JsonObject>> read_transformer_config() {
    for (const char* name : kTransformerConfigs) {
      WEIR_ASSIGN_OR_RETURN(auto config, read_optional(joined(layout_.transformer_path, name)));
      if (!config) continue;
      WEIR_RETURN_IF_ERROR(check_lower_case(*config));
      return config;
    }
    return std::optional<JsonObject>();
  }

  /// `do_lower_case` puts a lower-casing step before the tokenizer, unless the tokenizer has one.
  Status check_lower_case(const JsonObject& config) {
    WEIR_ASSIGN_OR_RETURN(const auto lower, config.boolean("do_lower_case"));
    if (!lower.value_or(false)) return {};
    const auto path = find_file(request_.folders, joined(layout_.transformer_path, "tokenizer.json"));
    if (!path) return {};
    WEIR_ASSIGN_OR_RETURN(const JsonObject tokenizer, JsonObject::read(*path));
    WEIR_ASSIGN_OR_RETURN(const auto normalizer, tokenizer.object("normalizer"));
    if (normalizer) {
      WEIR_ASSIGN_OR_RETURN(const auto type, normalizer->text("type"));
      WEIR_ASSIGN_OR_RETURN(const auto lowercase, normalizer->boolean("lowercase"));
      if (type == "Lowercase" || lowercase.value_or(false)) return {};
    }
    return config.error("do_lower_case", "true is not supported when tokenizer.json does not lower-case itself",
                        ErrorKind::kUnsupported);
  }

  Status check_tokenizer_settings() {
    const auto path = find_file(request_.folders, joined(layout_.transformer_path, "tokenizer_config.json"));
    if (!path) return {};
    WEIR_ASSIGN_OR_RETURN(const JsonObject tokenizer, JsonObject::read(*path));
    WEIR_ASSIGN_OR_RETURN(const auto side, tokenizer.text("truncation_side"));
    if (side.value_or("right") != "right") {
      return tokenizer.error("truncation_side", "'" + *side + "' is not supported as a model's own setting",
                             ErrorKind::kUnsupported);
    }
    return {};
  }

  Status read_prompts() {
    WEIR_ASSIGN_OR_RETURN(const auto config, read_optional("config_sentence_transformers.json"));
    if (!config) return {};
    WEIR_ASSIGN_OR_RETURN(const auto prompts, config->text_map("prompts"));
    WEIR_ASSIGN_OR_RETURN(layout_.default_prompt, config->text("default_prompt_name"));
    layout_.prompts = prompts.value_or(std::map<std::string, std::string>());
    if (layout_.default_prompt && !layout_.prompts.contains(*layout_.default_prompt)) {
      return config->error("default_prompt_name", "'" + *layout_.default_prompt + "' is not one of prompts");
    }
    return {};
  }

  const LayoutRequest& request_;
  Layout layout_;
};

}  // namespace

std::optional<std::string> find_file(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders) {
    std::string path = folder + "/" + name;
    std::error_code code;
    if (fs::exists(path, code)) return path;
  }
  return std::nullopt;
}

Result<Layout> read_layout(const LayoutRequest& request) { return LayoutReader(request).read(); }

}  // namespace weir::huggingface
