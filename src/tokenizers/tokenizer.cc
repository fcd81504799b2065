#include "tokenizers/tokenizer.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "tokenizers/decoders/decoder.h"
#include "tokenizers/json/object.h"
#include "tokenizers/pipeline.h"
#include "tokenizers/post_processors/post_processor.h"
#include "tokenizers/text/byte_level.h"
#include "tokenizers/truncation.h"
#include "tokenizers/unicode/properties.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers {
namespace {

constexpr std::size_t kLargestFileBytes = std::size_t{256} << 20;

/// The tokens that are kept of one text.
struct Kept {
  const Sequence* sequence = nullptr;  ///< Null for ids that a client sent.
  std::span<const std::int32_t> ids;   ///< Used when `sequence` is null.
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return sequence != nullptr ? sequence->tokens.size() : ids.size(); }
  std::int32_t id(std::size_t i) const { return sequence != nullptr ? sequence->tokens[i].id : ids[i]; }
  Offset offset(std::size_t i) const { return sequence != nullptr ? sequence->offsets[i] : Offset{}; }
};

/// What a post-processor makes of a text or a pair, with or without special tokens: made at load, followed by encode().
struct FlatPlan {
  std::vector<PlanStep> steps;
  std::uint32_t special_tokens = 0;
};

/// The white space at the ends of a token, in characters; a blank may be in byte-level writing.
struct SpaceCount {
  std::uint32_t leading = 0;
  std::uint32_t trailing = 0;
};

SpaceCount count_spaces(std::string_view token) {
  const auto is_space = [](char32_t c) {
    return c == byte_level_characters()[' '] || unicode::properties().has(c, unicode::kWhitespace);
  };
  SpaceCount count;
  for (std::size_t at = 0; at < token.size(); ++count.leading) {
    const unicode::Decoded character = unicode::decode(token, at);
    if (!is_space(character.code_point)) break;
    at += character.length;
  }
  for (std::size_t end = token.size(); end > 0; ++count.trailing) {
    const unicode::Decoded character = unicode::decode_before(token, end);
    if (!is_space(character.code_point)) break;
    end -= character.length;
  }
  return count;
}

class TokenizerFromJson final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> load(const json::Object& file);

  Result<Encoding> encode(std::string_view text, const EncodeOptions& options) const override {
    return encode_texts(std::array{text}, options);
  }
  Result<Encoding> encode_pair(std::string_view first, std::string_view second,
                               const EncodeOptions& options) const override {
    return encode_texts(std::array{first, second}, options);
  }
  Result<Encoding> encode_ids(std::span<const std::int32_t> ids, const EncodeOptions& options) const override;
  Result<std::string> decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override;

  std::optional<std::int32_t> token_to_id(std::string_view token) const override {
    const auto added = pipeline_.added_tokens.id_of(token);
    return added ? added : pipeline_.model->vocabulary().find(token);
  }
  std::string_view id_to_token(std::int32_t id) const override {
    const AddedToken* added = pipeline_.added_tokens.by_id(id);
    return added != nullptr ? std::string_view(added->text) : pipeline_.model->vocabulary().token(id);
  }
  std::uint32_t vocabulary_size() const override {
    const auto added = static_cast<std::uint32_t>(pipeline_.added_tokens.largest_id() + 1);
    return std::max(pipeline_.model->vocabulary().ids(), added);
  }
  std::uint32_t special_tokens_added() const override { return plan(/*pair=*/false, /*special=*/true).special_tokens; }

 private:
  Status read_parts(const json::Object& file);
  Status make_plans(const PostProcessor* post_processor);
  const FlatPlan& plan(bool pair, bool special) const { return plans_[pair ? 1 : 0][special ? 1 : 0]; }

  Result<Encoding> encode_texts(std::span<const std::string_view> texts, const EncodeOptions& options) const;
  Result<Encoding> assemble(std::span<Kept> texts, const EncodeOptions& options) const;
  void trim_offsets(const Kept& text, Trim trim, std::span<Offset> offsets) const;
  Status truncate_texts(std::span<Kept> texts, const EncodeOptions& options) const;
  Status check_ids(std::span<const std::int32_t> ids) const;

  Pipeline pipeline_;
  std::unique_ptr<Decoder> decoder_;  ///< May be null.
  std::array<std::array<FlatPlan, 2>, 2> plans_;
  std::array<std::uint32_t, 2> added_tokens_{};  ///< What truncation leaves room for: a text, a pair.
};

Result<std::unique_ptr<Tokenizer>> TokenizerFromJson::load(const json::Object& file) {
  WEIR_RETURN_IF_ERROR(file.refuse_others({"version", "truncation", "padding", "added_tokens", "normalizer",
                                           "pre_tokenizer", "post_processor", "decoder", "model"}));
  WEIR_ASSIGN_OR_RETURN(const std::string_view version, file.string_or("version", "1.0"));
  if (version != "1.0") {
    return Error(ErrorKind::kUnsupported,
                 "version: \"" + std::string(version.substr(0, 80)) +
                     "\" is not supported; "
                     "the only one that is: \"1.0\"",
                 "version");
  }
  auto tokenizer = std::make_unique<TokenizerFromJson>();
  WEIR_RETURN_IF_ERROR(tokenizer->read_parts(file));
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

Status TokenizerFromJson::read_parts(const json::Object& file) {
  WEIR_ASSIGN_OR_RETURN(const json::Object model, file.object("model"));
  WEIR_ASSIGN_OR_RETURN(pipeline_.model, make_model(model));
  if (file.find("normalizer")) {
    WEIR_ASSIGN_OR_RETURN(const json::Object config, file.object("normalizer"));
    WEIR_ASSIGN_OR_RETURN(pipeline_.normalizer, make_normalizer(config));
  }
  if (file.find("pre_tokenizer")) {
    WEIR_ASSIGN_OR_RETURN(const json::Object config, file.object("pre_tokenizer"));
    WEIR_ASSIGN_OR_RETURN(pipeline_.pre_tokenizer, make_pre_tokenizer(config));
  }
  if (file.find("decoder")) {
    WEIR_ASSIGN_OR_RETURN(const json::Object config, file.object("decoder"));
    WEIR_ASSIGN_OR_RETURN(decoder_, make_decoder(config));
  }
  std::unique_ptr<PostProcessor> post_processor;
  if (file.find("post_processor")) {
    WEIR_ASSIGN_OR_RETURN(const json::Object config, file.object("post_processor"));
    WEIR_ASSIGN_OR_RETURN(post_processor, make_post_processor(config));
  }
  WEIR_ASSIGN_OR_RETURN(pipeline_.added_tokens,
                        AddedTokens::load(file, pipeline_.model->vocabulary(), pipeline_.normalizer.get()));
  return make_plans(post_processor.get());
}

Status TokenizerFromJson::make_plans(const PostProcessor* post_processor) {
  for (const bool pair : {false, true}) {
    if (post_processor != nullptr) added_tokens_[pair ? 1 : 0] = post_processor->added_tokens(pair);
    for (const bool special : {false, true}) {
      Plan parts;
      for (int i = 0; i < (pair ? 2 : 1); ++i) parts.push_back({PlanStep{i, 0, i, {}}});
      if (post_processor != nullptr) WEIR_RETURN_IF_ERROR(post_processor->apply(parts, special));
      FlatPlan& flat = plans_[pair ? 1 : 0][special ? 1 : 0];
      for (PlanPart& part : parts) {
        for (PlanStep& step : part) {
          flat.special_tokens += step.sequence == PlanStep::kSpecial ? 1 : 0;
          flat.steps.push_back(std::move(step));
        }
      }
    }
  }
  return {};
}

Result<Encoding> TokenizerFromJson::encode_texts(std::span<const std::string_view> texts,
                                                 const EncodeOptions& options) const {
  static thread_local std::array<Sequence, 2> sequences;
  std::array<Kept, 2> kept;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    WEIR_RETURN_IF_ERROR(pipeline_.run(texts[i], options.with_offsets, sequences[i]));
    kept[i].sequence = &sequences[i];
  }
  Result<Encoding> encoding = assemble(std::span(kept).first(texts.size()), options);
  for (std::size_t i = 0; i < texts.size(); ++i) sequences[i].shrink();
  return encoding;
}

Result<Encoding> TokenizerFromJson::encode_ids(std::span<const std::int32_t> ids, const EncodeOptions& options) const {
  WEIR_RETURN_IF_ERROR(check_ids(ids));
  Kept kept;
  kept.ids = ids;
  return assemble(std::span(&kept, 1), options);
}

Status TokenizerFromJson::check_ids(std::span<const std::int32_t> ids) const {
  for (const std::int32_t id : ids) {
    if (pipeline_.added_tokens.by_id(id) != nullptr || pipeline_.model->vocabulary().has_id(id)) continue;
    return Error(ErrorKind::kInvalidArgument, "the id " + std::to_string(id) + " is not in the vocabulary, which has " +
                                                  std::to_string(vocabulary_size()) + " ids");
  }
  return {};
}

Status TokenizerFromJson::truncate_texts(std::span<Kept> texts, const EncodeOptions& options) const {
  for (Kept& text : texts) text.end = text.size();
  if (!options.max_tokens) return {};
  const bool pair = texts.size() == 2;
  const std::uint32_t special = options.add_special_tokens ? added_tokens_[pair ? 1 : 0] : 0;
  if (*options.max_tokens < special) {
    return Error(ErrorKind::kInvalidArgument,
                 "the limit of " + std::to_string(*options.max_tokens) + " tokens is below the " +
                     std::to_string(special) + " special tokens that every text gets",
                 "max_tokens");
  }
  const Lengths lengths = {texts[0].size(), pair ? texts[1].size() : 0};
  WEIR_ASSIGN_OR_RETURN(const Lengths kept,
                        truncate(lengths, pair, *options.max_tokens - special, options.pair_truncation));
  const std::array<std::size_t, 2> sizes = {kept.first, kept.second};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (options.truncation_side == Side::kLeft) texts[i].begin = texts[i].end - sizes[i];
    texts[i].end = texts[i].begin + sizes[i];
  }
  return {};
}

Result<Encoding> TokenizerFromJson::assemble(std::span<Kept> texts, const EncodeOptions& options) const {
  WEIR_RETURN_IF_ERROR(truncate_texts(texts, options));
  const FlatPlan& flat = plan(texts.size() == 2, options.add_special_tokens);
  std::size_t tokens = flat.special_tokens;
  std::size_t untruncated = flat.special_tokens;
  for (const Kept& text : texts) {
    tokens += text.end - text.begin;
    untruncated += text.size();
  }
  Encoding encoding;
  encoding.untruncated_tokens = static_cast<std::uint32_t>(untruncated);
  encoding.ids.reserve(tokens);
  encoding.type_ids.reserve(tokens);
  if (options.with_offsets) {
    encoding.offsets.reserve(tokens);
    encoding.special.reserve(tokens);
  }
  for (const PlanStep& step : flat.steps) {
    const bool is_special = step.sequence == PlanStep::kSpecial;
    const Kept one_token = {nullptr, std::span(&step.id, 1), 0, 1};
    const Kept& text = is_special ? one_token : texts[static_cast<std::size_t>(step.sequence)];
    for (std::size_t i = text.begin; i < text.end; ++i) encoding.ids.push_back(text.id(i));
    encoding.type_ids.resize(encoding.ids.size(), step.type_id);
    if (!options.with_offsets) continue;
    const std::size_t first = encoding.offsets.size();
    for (std::size_t i = text.begin; i < text.end; ++i) encoding.offsets.push_back(text.offset(i));
    for (const Trim trim : step.trims) trim_offsets(text, trim, std::span(encoding.offsets).subspan(first));
    encoding.special.resize(encoding.ids.size(), is_special ? 1 : 0);
  }
  return encoding;
}

/// Takes the white space that the tokens begin and end with out of their offsets. As in the library, a character of a
/// token counts as one of the text, and a single blank stays where one may have been put in front.
void TokenizerFromJson::trim_offsets(const Kept& text, Trim trim, std::span<Offset> offsets) const {
  if (text.sequence == nullptr) return;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Token& token = text.sequence->tokens[text.begin + i];
    const std::string_view characters = token.is_added ? text.sequence->pieces.text.view(token.begin, token.end)
                                                       : pipeline_.model->vocabulary().token(token.id);
    Offset& offset = offsets[i];
    SpaceCount spaces = count_spaces(characters);
    const bool is_first = (i == 0 && trim.at_start) || offset.begin == 0;
    if (is_first && trim.add_prefix_space && spaces.leading == 1) spaces.leading = 0;
    offset.begin = std::min(offset.begin + spaces.leading, offset.end);
    if (offset.end >= spaces.trailing) offset.end = std::max(offset.end - spaces.trailing, offset.begin);
  }
}

Result<std::string> TokenizerFromJson::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  WEIR_RETURN_IF_ERROR(check_ids(ids));
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const std::int32_t id : ids) {
    const std::string_view token = id_to_token(id);
    if (!skip_special_tokens || !pipeline_.added_tokens.is_special(token)) tokens.emplace_back(token);
  }
  if (decoder_ != nullptr) decoder_->decode(tokens);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i != 0 && decoder_ == nullptr) text += ' ';
    text += tokens[i];
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_json(std::string_view json, const std::string& name) {
  const auto named = [&](const Error& error) {
    return Error(error.kind, name + ": " + error.message, error.where.empty() ? name : error.where);
  };
  simdjson::dom::parser parser;
  json::Element root;
  if (const auto code = parser.parse(json.data(), json.size()).get(root); code != simdjson::SUCCESS) {
    return named({ErrorKind::kCorrupt, std::string("not valid JSON: ") + simdjson::error_message(code)});
  }
  const Result<json::Object> file = json::Object::from(root, "");
  if (!file.ok()) return named({ErrorKind::kCorrupt, "not a JSON object"});
  Result<std::unique_ptr<Tokenizer>> tokenizer = TokenizerFromJson::load(*file);
  if (!tokenizer.ok()) return named(tokenizer.error());
  return tokenizer;
}

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_file(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string content, read_file(path, kLargestFileBytes));
  return from_json(content, path);
}

}  // namespace weir::tokenizers
