// Sequence: several normalizers, one after the other.
#include "tokenizers/normalizers/makers.h"

namespace weir::tokenizers::normalizers {
namespace {

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}

  void normalize(const Segment& in, Text& out) const override {
    if (steps_.empty()) return out.copy(in, 0, in.bytes.size());
    // A sequence may stand in a sequence: each depth has buffers of its own.
    static thread_local std::vector<std::unique_ptr<Text[]>> buffers;
    static thread_local std::size_t depth = 0;
    if (buffers.size() == depth) buffers.push_back(std::make_unique<Text[]>(2));
    Text* const texts = buffers[depth].get();
    ++depth;
    Segment current = in;
    for (std::size_t i = 0; i + 1 < steps_.size() && out.trouble == Trouble::kNone; ++i) {
      Text& next = texts[i % 2];
      next.reset(in.aligned());
      steps_[i]->normalize(current, next);
      if (!next.is_usable()) out.fail(next.trouble);
      current = next.whole(in.origin);
    }
    if (out.trouble == Trouble::kNone) steps_.back()->normalize(current, out);
    --depth;
    for (Text* text : {texts, texts + 1}) {
      if (text->bytes.capacity() > kKeptBytes) *text = {};
    }
  }

 private:
  static constexpr std::size_t kKeptBytes = 1 << 18;

  std::vector<std::unique_ptr<Normalizer>> steps_;
};

}  // namespace

Made make_sequence(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({"normalizers"}));
  WEIR_ASSIGN_OR_RETURN(const simdjson::dom::array list, config.array("normalizers"));
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (const json::Element element : list) {
    const std::string path = config.path_of("normalizers") + "[" + std::to_string(steps.size()) + "]";
    WEIR_ASSIGN_OR_RETURN(const json::Object step, json::Object::from(element, path));
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Normalizer> normalizer, make_normalizer(step));
    steps.push_back(std::move(normalizer));
  }
  return std::unique_ptr<Normalizer>(std::make_unique<Sequence>(std::move(steps)));
}

}  // namespace weir::tokenizers::normalizers
