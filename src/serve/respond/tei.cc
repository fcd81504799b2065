#include "serve/respond/tei.h"

#include <algorithm>

#include "base/json_text.h"

namespace weir::serve::respond {
namespace {

/// Where each code point of `text` starts, in bytes, and where the last one ends.
std::vector<std::size_t> code_point_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  starts.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continuation = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!continuation) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

void append_token(std::string& out, std::int32_t id, std::string_view text, bool special) {
  out.append(R"({"id":)");
  append_json_integer(out, id);
  out.append(R"(,"text":)");
  append_json_string(out, text);
  out.append(special ? R"(,"special":true,"start":)" : R"(,"special":false,"start":)");
}

void append_tokens(std::string& out, const TokenizedText& text, const tokenizers::Tokenizer& tokenizer) {
  const tokenizers::Encoding& encoding = *text.encoding;
  const std::vector<std::size_t> starts = code_point_starts(text.text);
  const auto byte_of = [&](std::uint32_t code_point) {
    return starts[std::min<std::size_t>(code_point, starts.size() - 1)];
  };
  out.push_back('[');
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (i > 0) out.push_back(',');
    const std::int32_t id = encoding.ids[i];
    const bool special = i < encoding.special.size() && encoding.special[i] != 0;
    if (special || i >= encoding.offsets.size()) {
      append_token(out, id, tokenizer.id_to_token(id), special);
      out.append(R"(null,"stop":null})");
      continue;
    }
    const std::size_t start = byte_of(encoding.offsets[i].begin);
    const std::size_t stop = std::max(start, byte_of(encoding.offsets[i].end));
    append_token(out, id, std::string_view(text.text).substr(start, stop - start), special);
    append_json_integer(out, static_cast<std::int64_t>(start));
    out.append(R"(,"stop":)");
    append_json_integer(out, static_cast<std::int64_t>(stop));
    out.push_back('}');
  }
  out.push_back(']');
}

void append_member(std::string& out, std::string_view name, std::size_t value) {
  out.append(R"(,")").append(name).append(R"(":)");
  append_json_integer(out, static_cast<std::int64_t>(value));
}

void append_model_type(std::string& out, const Info& info) {
  out.append(R"(,"model_type":{)");
  append_json_string(out, info.model_type);
  if (info.model_type == "embedding") {
    out.append(R"(:{"pooling":)");
    append_json_string(out, info.pooling);
    out.append("}}");
    return;
  }
  out.append(R"(:{"id2label":{)");
  for (std::size_t i = 0; i < info.labels.size(); ++i) {
    out.append(i == 0 ? "\"" : ",\"").append(std::to_string(i)).append("\":");
    append_json_string(out, info.labels[i]);
  }
  out.append(R"(},"label2id":{)");
  for (std::size_t i = 0; i < info.labels.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_json_string(out, info.labels[i]);
    out.append(":").append(std::to_string(i));
  }
  out.append("}}}");
}

}  // namespace

std::string tei_embed(const Vectors& vectors) {
  std::string out = "[";
  out.reserve(64 + vectors.values.size() * 13);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_json_floats(out, vectors.row(i));
  }
  return out.append("]");
}

std::string tei_tokenize(const std::vector<TokenizedText>& texts, const tokenizers::Tokenizer& tokenizer) {
  std::string out = "[";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_tokens(out, texts[i], tokenizer);
  }
  return out.append("]");
}

std::string tei_info(const Info& info) {
  std::string out = R"({"model_id":)";
  append_json_string(out, info.model_id);
  out.append(R"(,"model_sha":)");
  append_json_string_or_null(out, info.model_sha);
  out.append(R"(,"model_dtype":)");
  append_json_string(out, info.model_dtype);
  out.append(R"(,"served_model_name":)");
  append_json_string(out, info.model_id);
  append_model_type(out, info);
  append_member(out, "max_concurrent_requests", info.max_concurrent_requests);
  append_member(out, "max_input_length", info.max_input_length);
  append_member(out, "max_batch_tokens", info.max_batch_tokens);
  append_member(out, "max_batch_requests", info.max_batch_requests);
  append_member(out, "max_client_batch_size", info.max_client_batch_size);
  out.append(info.auto_truncate ? R"(,"auto_truncate":true)" : R"(,"auto_truncate":false)");
  append_member(out, "tokenization_workers", info.tokenization_workers);
  out.append(R"(,"version":)");
  append_json_string(out, info.version);
  return out.append(R"(,"sha":null,"docker_label":null})");
}

}  // namespace weir::serve::respond
