#include "serve/respond/entities.h"

#include <algorithm>

#include "base/json_text.h"

namespace weir::serve::respond {
namespace {

/// A token or a word with the label it has come to.
struct Piece {
  std::size_t label = 0;
  float score = 0;
  std::uint32_t start = 0;
  std::uint32_t end = 0;
};

/// Byte positions of a text's code points, and of its end.
std::vector<std::size_t> code_points(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

class Grouping {
 public:
  explicit Grouping(const LabelledTokens& tokens) : tokens_(tokens), starts_(code_points(tokens.text)) {}

  std::vector<Piece> single_tokens() const {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!is_special(i)) pieces.push_back(piece(i, i + 1, row(i)));
    }
    return pieces;
  }

  std::vector<Piece> words(std::string_view aggregation) const {
    std::vector<Piece> pieces;
    for (std::size_t first = 0; first < size();) {
      std::size_t last = first + 1;
      while (last < size() && !is_special(first) && !is_special(last) && continues_word(last)) ++last;
      if (!is_special(first)) pieces.push_back(word(first, last, aggregation));
      first = last;
    }
    return pieces;
  }

  std::string text_of(std::uint32_t start, std::uint32_t end) const {
    const std::size_t last = starts_.size() - 1;
    const std::size_t from = starts_[std::min<std::size_t>(start, last)];
    const std::size_t to = starts_[std::min<std::size_t>(end, last)];
    return std::string(tokens_.text.substr(from, to > from ? to - from : 0));
  }

 private:
  std::size_t size() const { return tokens_.encoding->ids.size(); }
  bool is_special(std::size_t i) const { return tokens_.encoding->special[i] != 0; }
  std::span<const float> row(std::size_t i) const {
    return tokens_.scores.subspan(i * tokens_.labels.size(), tokens_.labels.size());
  }

  /// Tokenizers mark it, or there is no space before it.
  bool continues_word(std::size_t i) const {
    const std::string_view token = tokens_.tokenizer->id_to_token(tokens_.encoding->ids[i]);
    const std::uint32_t start = tokens_.encoding->offsets[i].begin;
    if (token.starts_with("##")) return true;
    if (start == 0 || start >= starts_.size() - 1) return false;
    return tokens_.text[starts_[start - 1]] != ' ' && tokens_.text[starts_[start]] != ' ' && !splits_words();
  }

  /// A vocabulary with marked continuations tells all of them.
  bool splits_words() const {
    const auto& ids = tokens_.encoding->ids;
    return std::any_of(ids.begin(), ids.end(),
                       [&](std::int32_t id) { return tokens_.tokenizer->id_to_token(id).starts_with("##"); }) ||
           tokens_.tokenizer->token_to_id("##s").has_value();
  }

  Piece piece(std::size_t first, std::size_t last, std::span<const float> scores) const {
    const auto best = std::max_element(scores.begin(), scores.end());
    return {static_cast<std::size_t>(best - scores.begin()), *best, tokens_.encoding->offsets[first].begin,
            tokens_.encoding->offsets[last - 1].end};
  }

  Piece word(std::size_t first, std::size_t last, std::string_view aggregation) const {
    if (aggregation == "first") return piece(first, last, row(first));
    if (aggregation == "max") {
      std::size_t surest = first;
      for (std::size_t i = first; i < last; ++i) {
        if (piece(i, i + 1, row(i)).score > piece(surest, surest + 1, row(surest)).score) surest = i;
      }
      return piece(first, last, row(surest));
    }
    std::vector<float> mean(tokens_.labels.size(), 0.0f);
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t label = 0; label < mean.size(); ++label) {
        mean[label] += row(i)[label] / static_cast<float>(last - first);
      }
    }
    return piece(first, last, mean);
  }

  const LabelledTokens& tokens_;
  std::vector<std::size_t> starts_;
};

struct Tag {
  bool begins = false;
  std::string_view name;
};

Tag tag_of(std::string_view label) {
  if (label.starts_with("B-")) return {true, label.substr(2)};
  if (label.starts_with("I-")) return {false, label.substr(2)};
  return {false, label};
}

std::vector<Entity> joined(const std::vector<Piece>& pieces, const LabelledTokens& tokens, const Grouping& grouping) {
  std::vector<Entity> result;
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t last = first + 1;
    float sum = pieces[first].score;
    while (last < pieces.size()) {
      const Tag before = tag_of(tokens.labels[pieces[last - 1].label]);
      const Tag next = tag_of(tokens.labels[pieces[last].label]);
      if (next.begins || next.name != before.name) break;
      sum += pieces[last++].score;
    }
    const std::string_view name = tag_of(tokens.labels[pieces[first].label]).name;
    const std::uint32_t start = pieces[first].start;
    const std::uint32_t end = pieces[last - 1].end;
    if (name != "O") {
      result.push_back(
          {std::string(name), sum / static_cast<float>(last - first), grouping.text_of(start, end), start, end});
    }
    first = last;
  }
  return result;
}

}  // namespace

std::vector<Entity> entities(const LabelledTokens& tokens, std::string_view aggregation) {
  const Grouping grouping(tokens);
  if (aggregation == "simple") return joined(grouping.single_tokens(), tokens, grouping);
  if (aggregation != "none") return joined(grouping.words(aggregation), tokens, grouping);
  std::vector<Entity> result;
  for (const Piece& piece : grouping.single_tokens()) {
    const std::string& label = tokens.labels[piece.label];
    if (label == "O") continue;
    result.push_back({label, piece.score, grouping.text_of(piece.start, piece.end), piece.start, piece.end});
  }
  return result;
}

std::string entities_json(std::span<const Entity> entities, std::string_view aggregation) {
  std::string out = "[";
  for (const Entity& entity : entities) {
    out.append(out.size() > 1 ? ",{" : "{");
    out.append(aggregation == "none" ? R"("entity":)" : R"("entity_group":)");
    append_json_string(out, entity.label);
    out.append(R"(,"score":)");
    append_json_float(out, entity.score);
    out.append(R"(,"word":)");
    append_json_string(out, entity.word);
    out.append(R"(,"start":)");
    append_json_integer(out, entity.start);
    out.append(R"(,"end":)");
    append_json_integer(out, entity.end);
    out.push_back('}');
  }
  return out.append("]");
}

}  // namespace weir::serve::respond
