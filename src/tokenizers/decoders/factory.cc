#include "tokenizers/json/factory.h"

#include "tokenizers/decoders/makers.h"

namespace weir::tokenizers {
namespace {

using decoders::Made;

/// By the name that a tokenizer.json has for them.
constexpr json::Maker<Made> kMakers[] = {
    {"WordPiece", decoders::make_wordpiece},
};

}  // namespace

Made make_decoder(const json::Object& config) { return json::make_by_type(config, "decoder", kMakers); }

}  // namespace weir::tokenizers
