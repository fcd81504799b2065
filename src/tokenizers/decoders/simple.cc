// The decoders that rewrite tokens one by one: Metaspace, BPEDecoder, Replace, Strip, CTC; and Sequence.
#include "tokenizers/decoders/makers.h"
#include "tokenizers/pattern/pattern.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::decoders {
namespace {

/// The visible blanks become blanks; those of the first token go if one was put in front.
class Metaspace final : public Decoder {
 public:
  Metaspace(std::string replacement, bool prepended) : replacement_(std::move(replacement)), prepended_(prepended) {}

  void decode(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement_, i == 0 && prepended_ ? "" : " ");
    }
  }

 private:
  std::string replacement_;
  bool prepended_;
};

class Bpe final : public Decoder {
 public:
  explicit Bpe(std::string suffix) : suffix_(std::move(suffix)) {}

  void decode(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
  }

 private:
  std::string suffix_;
};

/// A token in which the search is given up stays as it is, and so does all that follows once too much has been added.
class Replace final : public Decoder {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void decode(std::vector<std::string>& tokens) const override {
    std::vector<Pattern::Match> matches;
    std::size_t added = 0;
    for (std::string& token : tokens) {
      if (!pattern_.find_all(token, matches) || matches.empty()) continue;
      added += matches.size() * content_.size();
      if (added > kMostAdded) return;
      std::string result;
      std::size_t copied = 0;
      for (const Pattern::Match& match : matches) {
        result.append(token, copied, match.begin - copied).append(content_);
        copied = match.end;
      }
      token = result.append(token, copied);
    }
  }

 private:
  static constexpr std::size_t kMostAdded = 1 << 25;  ///< Bytes: many such steps must not fill the memory.

  Pattern pattern_;
  std::string content_;
};

/// Takes up to `start` and `stop` of one character off a token's ends.
class Strip final : public Decoder {
 public:
  Strip(std::string content, std::uint64_t start, std::uint64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}

  void decode(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::uint64_t i = 0; i < start_ && rest.starts_with(content_); ++i) rest.remove_prefix(content_.size());
      for (std::uint64_t i = 0; i < stop_ && rest.ends_with(content_); ++i) rest.remove_suffix(content_.size());
      token = std::string(rest);
    }
  }

 private:
  std::string content_;
  std::uint64_t start_;
  std::uint64_t stop_;
};

/// For speech models: repeated tokens are one, padding is nothing.
class Ctc final : public Decoder {
 public:
  Ctc(std::string pad, std::string delimiter, bool cleanup)
      : pad_(std::move(pad)), delimiter_(std::move(delimiter)), cleanup_(cleanup) {}

  void decode(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1]) continue;
      std::string token = tokens[i];
      replace_all(token, pad_, "");
      if (cleanup_) {
        clean_up(token);
        replace_all(token, delimiter_, " ");
      }
      if (!token.empty()) result.push_back(std::move(token));
    }
    tokens = std::move(result);
  }

 private:
  std::string pad_;
  std::string delimiter_;
  bool cleanup_;
};

class Sequence final : public Decoder {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Decoder>> steps) : steps_(std::move(steps)) {}

  void decode(std::vector<std::string>& tokens) const override {
    for (const auto& step : steps_) step->decode(tokens);
  }

 private:
  std::vector<std::unique_ptr<Decoder>> steps_;
};

/// Reads a string that is looked for in tokens.
Result<std::string> read_needle(const json::Object& config, std::string_view field, std::string_view otherwise) {
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, config.string_or(field, otherwise));
  if (text.empty()) {
    return Error(ErrorKind::kUnsupported, config.path_of(field) + ": an empty string is not supported",
                 config.path_of(field));
  }
  return std::string(text);
}

constexpr std::uint64_t kLongestStrip = 1 << 20;

}  // namespace

Result<std::string> read_character(const json::Object& config, std::string_view field) {
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, config.string(field));
  if (unicode::count_code_points(text) != 1) {
    return Error(ErrorKind::kCorrupt, config.path_of(field) + ": expected exactly one character",
                 config.path_of(field));
  }
  return std::string(text);
}

Made make_metaspace(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"replacement", "prepend_scheme", "split", "add_prefix_space"}));
  WEIR_ASSIGN_OR_RETURN(std::string replacement, read_character(config, "replacement"));
  WEIR_ASSIGN_OR_RETURN(const std::string_view scheme, config.string_or("prepend_scheme", "always"));
  static constexpr std::string_view kSchemes[] = {"always", "first", "never"};
  if (scheme != kSchemes[0] && scheme != kSchemes[1] && scheme != kSchemes[2]) {
    return json::unsupported_type(config.path_of("prepend_scheme"), "scheme", scheme, kSchemes);
  }
  WEIR_ASSIGN_OR_RETURN(const bool prefix, config.boolean_or("add_prefix_space", true));
  return std::unique_ptr<Decoder>(std::make_unique<Metaspace>(std::move(replacement), prefix && scheme != "never"));
}

Made make_bpe(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"suffix"}));
  WEIR_ASSIGN_OR_RETURN(std::string suffix, read_needle(config, "suffix", "</w>"));
  return std::unique_ptr<Decoder>(std::make_unique<Bpe>(std::move(suffix)));
}

Made make_replace(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"pattern", "content"}));
  WEIR_ASSIGN_OR_RETURN(Pattern pattern, Pattern::read(config, "pattern"));
  WEIR_ASSIGN_OR_RETURN(const std::string_view content, config.string("content"));
  return std::unique_ptr<Decoder>(std::make_unique<Replace>(std::move(pattern), std::string(content)));
}

Made make_strip(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"content", "start", "stop"}));
  WEIR_ASSIGN_OR_RETURN(std::string content, read_character(config, "content"));
  WEIR_ASSIGN_OR_RETURN(const std::uint64_t start, config.unsigned_or("start", 0, kLongestStrip));
  WEIR_ASSIGN_OR_RETURN(const std::uint64_t stop, config.unsigned_or("stop", 0, kLongestStrip));
  return std::unique_ptr<Decoder>(std::make_unique<Strip>(std::move(content), start, stop));
}

Made make_ctc(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"pad_token", "word_delimiter_token", "cleanup"}));
  WEIR_ASSIGN_OR_RETURN(std::string pad, read_needle(config, "pad_token", "<pad>"));
  WEIR_ASSIGN_OR_RETURN(std::string delimiter, read_needle(config, "word_delimiter_token", "|"));
  WEIR_ASSIGN_OR_RETURN(const bool cleanup, config.boolean_or("cleanup", true));
  return std::unique_ptr<Decoder>(std::make_unique<Ctc>(std::move(pad), std::move(delimiter), cleanup));
}

Made make_sequence(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"decoders"}));
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array list, config.array("decoders"));
  std::vector<std::unique_ptr<Decoder>> steps;
  for (const json::Element element : list) {
    const std::string path = config.path_of("decoders") + "[" + std::to_string(steps.size()) + "]";
    WEIR_ASSIGN_OR_RETURN(const json::Object step, json::Object::from(element, path));
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Decoder> decoder, make_decoder(step));
    steps.push_back(std::move(decoder));
  }
  return std::unique_ptr<Decoder>(std::make_unique<Sequence>(std::move(steps)));
}

}  // namespace weir::tokenizers::decoders
