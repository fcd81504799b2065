#include "tokenizers/json/factory.h"

#include "tokenizers/decoders/makers.h"

namespace weir::tokenizers {
namespace {

using decoders::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"BPEDecoder", decoders::make_bpe},
    {"ByteFallback", decoders::make_byte_fallback},
    {"ByteLevel", decoders::make_byte_level},
    {"CTC", decoders::make_ctc},
    {"Fuse", decoders::make_fuse},
    {"Metaspace", decoders::make_metaspace},
    {"Replace", decoders::make_replace},
    {"Sequence", decoders::make_sequence},
    {"Strip", decoders::make_strip},
    {"WordPiece", decoders::make_wordpiece},
};

}  // namespace

Made make_decoder(const json::Object& config) { return json::make_by_type(config, "decoder", kMakers); }

}  // namespace weir::tokenizers
