#include "tokenizers/unicode/normalization.h"

#include "tokenizers/unicode/stable_sort.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::unicode {
namespace {

std::uint8_t combining_class(char32_t code_point) { return properties()[code_point].combining_class; }

/// Puts the marks of each run into the order of their classes; marks of one class keep theirs.
void sort_marks(std::vector<Change>& changes, std::size_t first) {
  const auto by_class = [](const Change& a, const Change& b) {
    return combining_class(a.code_point) < combining_class(b.code_point);
  };
  for (std::size_t at = first; at < changes.size();) {
    if (combining_class(changes[at].code_point) == 0) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < changes.size() && combining_class(changes[end].code_point) != 0) ++end;
    stable_sort_short(changes.begin() + static_cast<std::ptrdiff_t>(at),
                      changes.begin() + static_cast<std::ptrdiff_t>(end), by_class);
    at = end;
  }
}

void decompose_text(std::string_view text, bool compatible, std::vector<Change>& out) {
  const std::size_t first = out.size();
  for (std::size_t at = 0; at < text.size();) {
    const Decoded character = decode(text, at);
    bool added = false;
    decompose(character.code_point, compatible, [&](char32_t part) {
      out.push_back({part, added ? 1 : 0});
      added = true;
    });
    at += character.length;
  }
  sort_marks(out, first);
}

/// Joins starters with the marks behind them, in place. The library's way, to the letter: a mark that is blocked stays,
/// and what has been joined counts the characters it took the place of.
class Composer {
 public:
  Composer(std::vector<Change>& changes, std::size_t first) : changes_(changes), write_(first), first_(first) {}

  void run() {
    for (std::size_t read = first_; read < changes_.size(); ++read) take(changes_[read]);
    flush();
    changes_.resize(write_);
  }

 private:
  void take(Change next) {
    const std::uint8_t next_class = combining_class(next.code_point);
    if (!has_starter_) {
      if (next_class != 0) return put(next);
      return begin(next);
    }
    const bool blocked = !marks_.empty() && last_class_ >= next_class;
    if (!blocked) {
      if (const char32_t composed = properties().compose(starter_.code_point, next.code_point)) {
        starter_ = {composed, starter_.change + next.change - 1};
        return;
      }
    }
    if (next_class == 0) {
      flush();
      return begin(next);
    }
    marks_.push_back(next);
    last_class_ = next_class;
  }

  void begin(Change starter) {
    starter_ = starter;
    has_starter_ = true;
  }

  void flush() {
    if (has_starter_) put(starter_);
    for (const Change& mark : marks_) put(mark);
    marks_.clear();
    has_starter_ = false;
  }

  /// Never overtakes the reader: what is written has been read.
  void put(Change change) { changes_[write_++] = change; }

  std::vector<Change>& changes_;
  std::size_t write_;
  std::size_t first_;
  Change starter_;
  bool has_starter_ = false;
  std::uint8_t last_class_ = 0;
  std::vector<Change> marks_;
};

}  // namespace

bool is_nfc(std::string_view text) {
  const Properties& table = properties();
  for (std::size_t at = 0; at < text.size();) {
    const Decoded character = decode(text, at);
    if (table.has(character.code_point, kNfcUnstable)) return false;
    at += character.length;
  }
  return true;
}

void normalize(Form form, std::string_view text, std::vector<Change>& out) {
  const std::size_t first = out.size();
  decompose_text(text, form == Form::kNfkc || form == Form::kNfkd, out);
  if (form == Form::kNfc || form == Form::kNfkc) Composer(out, first).run();
}

}  // namespace weir::tokenizers::unicode
