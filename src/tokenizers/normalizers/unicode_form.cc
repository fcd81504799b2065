// NFC, NFD, NFKC and NFKD.
#include <algorithm>

#include "tokenizers/normalizers/makers.h"
#include "tokenizers/unicode/normalization.h"

namespace weir::tokenizers::normalizers {
namespace {

using unicode::Form;

class UnicodeForm final : public Normalizer {
 public:
  explicit UnicodeForm(Form form) : form_(form) {}

  void normalize(const Segment& in, Text& out) const override {
    const bool is_ascii = std::all_of(in.bytes.begin(), in.bytes.end(),
                                      [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
    if (is_ascii || (form_ == Form::kNfc && unicode::is_nfc(in.bytes))) return out.copy(in, 0, in.bytes.size());
    static thread_local std::vector<unicode::Change> changes;
    changes.clear();
    unicode::normalize(form_, in.bytes, changes);
    apply(changes, in, out);
    if (changes.capacity() > kKeptChanges) std::vector<unicode::Change>().swap(changes);
  }

 private:
  static constexpr std::size_t kKeptChanges = 1 << 17;

  Form form_;
};

template <Form kForm>
Made make_form(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({}));
  return std::unique_ptr<Normalizer>(std::make_unique<UnicodeForm>(kForm));
}

}  // namespace

void apply(const std::vector<unicode::Change>& changes, const Segment& in, Text& out) {
  Rewriter rewriter(in, out);
  for (const unicode::Change& change : changes) {
    if (change.change > 0) {
      rewriter.add(change.code_point);
    } else {
      rewriter.replace(change.code_point, static_cast<std::uint32_t>(-change.change));
    }
  }
}

Made make_nfc(const json::Object& config) { return make_form<Form::kNfc>(config); }
Made make_nfd(const json::Object& config) { return make_form<Form::kNfd>(config); }
Made make_nfkc(const json::Object& config) { return make_form<Form::kNfkc>(config); }
Made make_nfkd(const json::Object& config) { return make_form<Form::kNfkd>(config); }

}  // namespace weir::tokenizers::normalizers
