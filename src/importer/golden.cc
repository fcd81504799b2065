#include "importer/golden.h"

#include <utility>

#include "serve/pooling/pooling.h"
#include "serve/request/hidden_rows.h"
#include "session/session.h"

namespace weir::importer {
namespace {

class Runner {
 public:
  Runner(session::Session& session, bundle::Manifest& manifest) : session_(session), manifest_(manifest) {}

  Result<std::vector<float>> embed(const tokenizers::Encoding& encoding) {
    const std::size_t tokens = encoding.ids.size();
    const std::vector<std::int64_t> ids(encoding.ids.begin(), encoding.ids.end());
    const std::vector<std::int64_t> types(encoding.type_ids.begin(), encoding.type_ids.end());
    const std::vector<std::int64_t> mask(tokens, 1);
    const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(tokens)};
    session::Batch batch{1, tokens, ids, mask, {}};
    if (manifest_.layout == bundle::Layout::kPacked) batch.offsets = offsets;
    if (manifest_.has_token_type_ids) batch.token_type_ids = types;
    WEIR_ASSIGN_OR_RETURN(const session::Tensor output, session_.run(batch, manifest_.output_name));
    WEIR_ASSIGN_OR_RETURN(const std::size_t hidden, check_shape(output.shape(), tokens));
    const bool pooled = manifest_.output == bundle::Output::kTextVectors;
    const serve::HiddenRows rows{output.values(), 1, pooled ? 0 : tokens, hidden};
    const serve::pooling::Rule rule{manifest_.pooling, manifest_.normalize, manifest_.dimensions};
    std::vector<float> vector(rule.dimensions);
    WEIR_RETURN_IF_ERROR(serve::pooling::pool_row(rows, 0, tokens, rule, vector));
    return vector;
  }

 private:
  Result<std::size_t> check_shape(std::span<const std::int64_t> shape, std::size_t tokens) {
    const bool pooled = manifest_.output == bundle::Output::kTextVectors;
    const bool fits = pooled ? shape.size() == 2 && shape[0] == 1
                             : shape.size() == 3 && shape[0] == 1 && shape[1] == static_cast<std::int64_t>(tokens);
    if (fits && manifest_.dimensions == 0) manifest_.dimensions = static_cast<std::uint32_t>(shape.back());
    if (fits && shape.back() == static_cast<std::int64_t>(manifest_.width())) return manifest_.width();
    std::string found;
    for (const std::int64_t size : shape) found += (found.empty() ? "" : ", ") + std::to_string(size);
    return Error(ErrorKind::kCorrupt, "output '" + manifest_.output_name + "' has the shape [" + found +
                                          "] for one text of " + std::to_string(tokens) + " tokens");
  }

  session::Session& session_;
  bundle::Manifest& manifest_;
};

}  // namespace

std::vector<std::string> golden_texts() {
  std::string long_text;
  for (int i = 1; i <= 60; ++i) {
    long_text += "On day " + std::to_string(i) + " the water stood at " + std::to_string(100 + 7 * i % 50) +
                 " centimetres, and the gate stayed open until the evening. ";
  }
  return {
      "A weir holds the flood back.",
      "How high is the water today?",
      "Das Wehr hält die Flut zurück.",
      "Le barrage retient la crue ; l'eau passe quand même.",
      "Плотина сдерживает паводок.",
      "堰挡住洪水，让河流通过。",
      "السد يحجز الفيضان",
      "42 % — naïve ﬁgures, 🌊 and C++17!",
      long_text,
  };
}

Result<std::vector<bundle::Golden>> compute_golden(const GoldenRequest& request, bundle::Manifest& manifest,
                                                   const tokenizers::Tokenizer& tokenizer) {
  WEIR_ASSIGN_OR_RETURN(const auto session, session::Session::load(request.folder + "/model.onnx", session::Options()));
  Runner runner(*session, manifest);
  tokenizers::EncodeOptions encode;
  encode.max_tokens = manifest.max_tokens;
  std::vector<bundle::Golden> golden;
  for (const std::string& text : request.texts) {
    if (request.cancelled && request.cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
    const auto encoding = tokenizer.encode(text, encode);
    if (!encoding.ok()) {
      Error error = encoding.error();
      error.message = "tokenizer.json fails on the text \"" + text.substr(0, 40) + "\": " + error.message;
      return error;
    }
    auto vector = runner.embed(*encoding);
    if (!vector.ok()) {
      Error error = std::move(vector).error();
      error.message = "the model fails on the text \"" + text.substr(0, 40) + "\": " + error.message;
      return error;
    }
    golden.push_back({text, std::move(*vector)});
  }
  return golden;
}

}  // namespace weir::importer
