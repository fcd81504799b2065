#include "importer/expected_vectors_for_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/cosine.h"
#include "base/file.h"
#include "bundle/manifest.h"
#include "serve/pooling/pooling.h"
#include "serve/request/hidden_rows.h"
#include "session/session.h"
#include "tokenizers/tokenizer.h"

namespace weir::importer {
namespace {

using Encodings = std::vector<tokenizers::Encoding>;

/// Texts as the graph's layout has them.
struct Inputs {
  std::vector<std::int64_t> ids, mask, types, offsets;
  std::size_t columns = 0;

  Inputs(const Encodings& texts, const bundle::Manifest& manifest) {
    for (const auto& text : texts) columns = std::max(columns, text.ids.size());
    const bool packed = manifest.layout == bundle::Layout::kPacked;
    if (packed) offsets.push_back(0);
    for (const auto& text : texts) {
      ids.insert(ids.end(), text.ids.begin(), text.ids.end());
      mask.insert(mask.end(), text.ids.size(), 1);
      if (packed) {
        offsets.push_back(static_cast<std::int64_t>(ids.size()));
      } else {
        ids.insert(ids.end(), columns - text.ids.size(), manifest.pad_token_id);
        mask.resize(ids.size(), 0);
      }
    }
    types.resize(ids.size(), 0);
  }
};

Result<std::vector<std::vector<float>>> embed(session::Session& session, const bundle::Manifest& manifest,
                                              const Encodings& texts) {
  const Inputs in(texts, manifest);
  const session::Batch batch{texts.size(), in.columns, in.ids, in.mask, in.types, in.offsets};
  WEIR_ASSIGN_OR_RETURN(const session::Tensor output, session.run(batch, manifest.output_name));
  const bool pooled = manifest.output == bundle::Output::kTextVectors;
  const serve::HiddenRows rows{output.values(), texts.size(), pooled ? 0 : in.columns, manifest.width()};
  std::vector<std::vector<float>> vectors(texts.size(), std::vector<float>(manifest.dimensions));
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const serve::pooling::Rule rule{manifest.pooling, manifest.normalize, manifest.dimensions};
    WEIR_RETURN_IF_ERROR(serve::pooling::pool_row(rows, row, texts[row].ids.size(), rule, vectors[row]));
  }
  return vectors;
}

/// The file is the `texts` of a golden.json.
Result<std::vector<bundle::Golden>> read_expected(const std::string& path, std::uint32_t dimensions) {
  WEIR_ASSIGN_OR_RETURN(const std::string texts, read_file(path, std::size_t{1} << 20));
  return bundle::parse_golden(R"({"format_version":1,"texts":)" + texts + "}", path, dimensions);
}

void include(Distance& distance, const std::vector<float>& vector, const std::vector<float>& expected) {
  for (std::size_t j = 0; j < expected.size(); ++j) {
    const double difference = std::abs(static_cast<double>(vector.at(j)) - expected[j]);
    distance.largest_difference = std::max(distance.largest_difference, difference);
  }
  distance.least_cosine = std::min(distance.least_cosine, cosine(vector, expected));
}

Result<Distance> compare(const bundle::Bundle& bundle, const std::string& expected_path) {
  WEIR_ASSIGN_OR_RETURN(const auto tokenizer, tokenizers::Tokenizer::from_file(bundle.tokenizer_path()));
  WEIR_ASSIGN_OR_RETURN(const auto session, session::Session::load(bundle.model_path(), session::Options()));
  WEIR_ASSIGN_OR_RETURN(const auto expected, read_expected(expected_path, bundle.manifest.dimensions));
  Encodings all;
  tokenizers::EncodeOptions options;
  options.max_tokens = bundle.manifest.max_tokens;
  for (const bundle::Golden& one : expected) {
    WEIR_ASSIGN_OR_RETURN(tokenizers::Encoding encoding, tokenizer->encode(one.text, options));
    all.push_back(std::move(encoding));
  }
  WEIR_ASSIGN_OR_RETURN(const auto together, embed(*session, bundle.manifest, all));
  Distance all_texts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const auto alone, embed(*session, bundle.manifest, {all[i]}));
    include(all_texts, together[i], expected[i].vector);
    include(all_texts, alone[0], expected[i].vector);
  }
  return all_texts;
}

}  // namespace

Distance distance(const bundle::Bundle& bundle, const std::string& expected_path) {
  const auto found = compare(bundle, expected_path);
  if (found.ok()) return *found;
  ADD_FAILURE() << found.error().message;
  return {std::numeric_limits<double>::infinity(), -1};
}

}  // namespace weir::importer
