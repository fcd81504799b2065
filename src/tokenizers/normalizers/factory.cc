#include "tokenizers/json/factory.h"

#include "tokenizers/normalizers/makers.h"

namespace weir::tokenizers {
namespace {

using normalizers::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"BertNormalizer", normalizers::make_bert},
    {"Bert", normalizers::make_bert},
};

}  // namespace

Made make_normalizer(const json::Object& config) { return json::make_by_type(config, "normalizer", kMakers); }

}  // namespace weir::tokenizers
