#include "tokenizers/json/factory.h"

#include "tokenizers/normalizers/makers.h"

namespace weir::tokenizers {
namespace {

using normalizers::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"BertNormalizer", normalizers::make_bert},
    {"Bert", normalizers::make_bert},
    {"ByteLevel", normalizers::make_byte_level},
    {"Lowercase", normalizers::make_lowercase},
    {"NFC", normalizers::make_nfc},
    {"NFD", normalizers::make_nfd},
    {"NFKC", normalizers::make_nfkc},
    {"NFKD", normalizers::make_nfkd},
    {"Nmt", normalizers::make_nmt},
    {"Precompiled", normalizers::make_precompiled},
    {"Prepend", normalizers::make_prepend},
    {"Replace", normalizers::make_replace},
    {"Sequence", normalizers::make_sequence},
    {"Strip", normalizers::make_strip},
    {"StripAccents", normalizers::make_strip_accents},
};

}  // namespace

Made make_normalizer(const json::Object& config) { return json::make_by_type(config, "normalizer", kMakers); }

}  // namespace weir::tokenizers
