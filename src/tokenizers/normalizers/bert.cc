// BertNormalizer: drops control characters, makes every white space a blank, sets Chinese characters apart, strips
// accents and lowers case. The five passes of its definition are one here; what they do to the alignment is the same.
#include <array>

#include "tokenizers/normalizers/makers.h"
#include "tokenizers/unicode/normalization.h"
#include "tokenizers/unicode/properties.h"
#include "tokenizers/unicode/stable_sort.h"

namespace weir::tokenizers::normalizers {
namespace {

using unicode::CodePoint;
using unicode::Properties;

struct Options {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

/// A combining mark that waits until its run is complete and can be put into order.
struct Mark {
  char32_t code_point = 0;
  std::uint8_t combining_class = 0;
  bool added = false;  ///< Not the first character of what it was decomposed from.
};

constexpr std::uint8_t kDropped = 0xFF;

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const Options& options) : options_(options) {
    for (std::uint32_t c = 0; c < ascii_.size(); ++c) ascii_[c] = normalized_ascii(c);
  }

  void normalize(const Segment& in, Text& out) const override;

 private:
  friend class Pass;

  std::uint8_t normalized_ascii(std::uint32_t c) const {
    if (options_.clean_text) {
      if (c == 0 || table_.has(c, unicode::kControl)) return kDropped;
      if (table_.has(c, unicode::kWhitespace)) return ' ';
    }
    return static_cast<std::uint8_t>(options_.lowercase && c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  }

  Options options_;
  const Properties& table_ = unicode::properties();
  std::array<std::uint8_t, 128> ascii_{};
};

/// One call of normalize().
class Pass {
 public:
  Pass(const BertNormalizer& owner, const Segment& in, Text& out)
      : options_(owner.options_), table_(owner.table_), ascii_(owner.ascii_), in_(in), out_(out) {}

  void run() {
    for (std::size_t at = 0; at < in_.bytes.size();) {
      if (static_cast<unsigned char>(in_.bytes[at]) < 0x80) {
        at = take_ascii(at);
      } else {
        const unicode::Decoded character = unicode::decode(in_.bytes, at);
        take(character.code_point, in_.aligned() ? in_.spans[at] : Span{});
        at += character.length;
      }
    }
    flush_marks();
  }

 private:
  /// From `at` to the end of the run of ASCII characters, which no other character changes.
  std::size_t take_ascii(std::size_t at) {
    // What is dropped does not end a run of marks: it is gone before they are put into order.
    if (ascii_[static_cast<unsigned char>(in_.bytes[at])] == kDropped) return at + 1;
    flush_marks();
    const std::size_t begin = at;
    const std::size_t written = out_.bytes.size();
    std::size_t end = at;
    while (end < in_.bytes.size() && static_cast<unsigned char>(in_.bytes[end]) < 0x80) ++end;
    out_.bytes.resize(written + (end - begin));
    char* to = out_.bytes.data() + written;
    for (; at < end; ++at) {
      const std::uint8_t byte = ascii_[static_cast<unsigned char>(in_.bytes[at])];
      *to = static_cast<char>(byte);
      if (byte == kDropped) continue;
      ++to;
      if (in_.aligned()) out_.spans.push_back(in_.spans[at]);
    }
    out_.bytes.resize(static_cast<std::size_t>(to - out_.bytes.data()));
    if (in_.aligned()) starter_span_ = in_.spans[end - 1];
    return end;
  }

  void take(char32_t code_point, Span span) {
    const CodePoint& point = table_[code_point];
    if (options_.clean_text) {
      if (code_point == unicode::kReplacement || (point.classes & unicode::kControl) != 0) return;
      if ((point.classes & unicode::kWhitespace) != 0) return start(' ', span);
    }
    const bool is_chinese = options_.handle_chinese_chars && (point.classes & unicode::kChinese) != 0;
    if (is_chinese) start(' ', span);
    if (options_.strip_accents) {
      decompose(code_point, point, span);
    } else {
      emit(code_point, point, span);
    }
    if (is_chinese) start(' ', span);
  }

  void decompose(char32_t code_point, const CodePoint& point, Span span) {
    constexpr char32_t kFirstHangul = 0xAC00;
    constexpr char32_t kLastHangul = 0xD7A3;
    const bool is_hangul = code_point >= kFirstHangul && code_point <= kLastHangul;
    if (point.canonical == 0 && point.combining_class == 0 && !is_hangul) return start(code_point, span);
    bool added = false;
    unicode::decompose(code_point, /*compatible=*/false, [&](char32_t part) {
      const std::uint8_t combining_class = table_[part].combining_class;
      if (combining_class == 0) {
        start(part, span);
      } else {
        marks_.push_back({part, combining_class, added});
        if (!added) mark_spans_.push_back(span);
      }
      added = true;
    });
  }

  /// A character that begins a new run.
  void start(char32_t code_point, Span span) {
    flush_marks();
    starter_span_ = span;
    const CodePoint& point = table_[code_point];
    if (options_.strip_accents && (point.classes & unicode::kNonspacingMark) != 0) return;
    emit(code_point, point, span);
  }

  /// The marks in canonical order. By then they no longer stand where they came from: the first takes the place of the
  /// first of their places, and so on.
  void flush_marks() {
    if (marks_.empty()) return;
    unicode::stable_sort_short(marks_.begin(), marks_.end(),
                               [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    std::size_t next = 0;
    Span span = starter_span_;
    for (const Mark& mark : marks_) {
      if (!mark.added) span = mark_spans_[next++];
      const CodePoint& point = table_[mark.code_point];
      if ((point.classes & unicode::kNonspacingMark) == 0) emit(mark.code_point, point, span);
    }
    starter_span_ = span;
    marks_.clear();
    mark_spans_.clear();
  }

  void emit(char32_t code_point, const CodePoint& point, Span span) {
    if (!options_.lowercase || point.lower == 0) return out_.append(code_point, span);
    for (const char32_t lower : table_.mapping(point.lower)) out_.append(lower, span);
  }

  const Options& options_;
  const Properties& table_;
  const std::array<std::uint8_t, 128>& ascii_;
  const Segment& in_;
  Text& out_;
  Span starter_span_;  ///< Of the last character read that is no waiting mark.
  std::vector<Mark> marks_;
  std::vector<Span> mark_spans_;  ///< Of the characters that the marks take the place of.
};

void BertNormalizer::normalize(const Segment& in, Text& out) const {
  out.bytes.reserve(out.bytes.size() + in.bytes.size() + in.bytes.size() / 2);
  Pass(*this, in, out).run();
}

}  // namespace

Made make_bert(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}));
  Options options;
  WEIR_ASSIGN_OR_RETURN(options.clean_text, config.boolean_or("clean_text", true));
  WEIR_ASSIGN_OR_RETURN(options.handle_chinese_chars, config.boolean_or("handle_chinese_chars", true));
  WEIR_ASSIGN_OR_RETURN(options.lowercase, config.boolean_or("lowercase", true));
  WEIR_ASSIGN_OR_RETURN(options.strip_accents, config.boolean_or("strip_accents", options.lowercase));
  return std::unique_ptr<Normalizer>(std::make_unique<BertNormalizer>(options));
}

}  // namespace weir::tokenizers::normalizers
