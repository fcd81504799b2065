// The decoders that turn tokens back into bytes: ByteLevel and ByteFallback; and Fuse, which joins.
#include "base/utf8.h"
#include "tokenizers/decoders/makers.h"
#include "tokenizers/text/byte_level.h"
#include "tokenizers/unicode/utf8.h"

namespace weir::tokenizers::decoders {
namespace {

/// The tokens' characters are bytes; a token with a character that stands for none is taken as it is.
class ByteLevel final : public Decoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) append_bytes(token, bytes);
    tokens.assign(1, replace_invalid_utf8(bytes));
  }

 private:
  static void append_bytes(const std::string& token, std::string& bytes) {
    const std::size_t before = bytes.size();
    for (std::size_t at = 0; at < token.size();) {
      const unicode::Decoded character = unicode::decode(token, at);
      const int byte = byte_level_byte(character.code_point);
      if (byte < 0) {
        bytes.resize(before);
        bytes += token;
        return;
      }
      bytes += static_cast<char>(byte);
      at += character.length;
    }
  }
};

/// Runs of tokens like <0x61> are bytes; a run that is not valid UTF-8 becomes one U+FFFD per byte.
class ByteFallback final : public Decoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    for (std::string& token : tokens) {
      if (const int byte = byte_of(token); byte >= 0) {
        bytes += static_cast<char>(byte);
        continue;
      }
      flush(bytes, result);
      result.push_back(std::move(token));
    }
    flush(bytes, result);
    tokens = std::move(result);
  }

 private:
  static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }
  static int byte_of(const std::string& token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return -1;
    // The library's number parser takes a sign.
    if (token[3] == '+') return digit(token[4]);
    return digit(token[3]) < 0 || digit(token[4]) < 0 ? -1 : digit(token[3]) * 16 + digit(token[4]);
  }
  static void flush(std::string& bytes, std::vector<std::string>& result) {
    if (bytes.empty()) return;
    if (unicode::is_valid(bytes)) {
      result.push_back(bytes);
    } else {
      result.insert(result.end(), bytes.size(), "\uFFFD");
    }
    bytes.clear();
  }
};

class Fuse final : public Decoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string joined;
    for (const std::string& token : tokens) joined += token;
    tokens.assign(1, joined);
  }
};

template <class Kind>
Made make_plain(const json::Object& config) {
  WEIR_RETURN_IF_ERROR(config.refuse_others({}));
  return std::unique_ptr<Decoder>(std::make_unique<Kind>());
}

}  // namespace

Made make_byte_level(const json::Object& config) { return make_plain<ByteLevel>(config); }
Made make_byte_fallback(const json::Object& config) { return make_plain<ByteFallback>(config); }
Made make_fuse(const json::Object& config) { return make_plain<Fuse>(config); }

}  // namespace weir::tokenizers::decoders
