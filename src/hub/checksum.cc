#include "hub/checksum.h"

#include <algorithm>
#include <memory>

#include <openssl/evp.h>

#include "base/hex.h"
#include "base/mapped_file.h"

namespace weir::hub {
namespace {

constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kSha256Digits = 64;

std::string hex_digest(const EVP_MD* kind, std::string_view header, std::span<const std::byte> bytes) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const bool done = context != nullptr && EVP_DigestInit_ex(context.get(), kind, nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), header.data(), header.size()) == 1 &&
                    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), digest, &length) == 1;
  if (!done) return {};
  return to_hex({digest, length});
}

}  // namespace

bool is_checksum(std::string_view etag) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (etag.size() == kSha1Digits || etag.size() == kSha256Digits) && std::all_of(etag.begin(), etag.end(), is_hex);
}

Result<bool> matches_checksum(const std::string& path, std::string_view etag) {
  if (!is_checksum(etag)) return true;
  WEIR_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const bool is_git = etag.size() == kSha1Digits;
  const std::string header = is_git ? "blob " + std::to_string(file.bytes().size()) + std::string(1, '\0') : "";
  const std::string digest = hex_digest(is_git ? EVP_sha1() : EVP_sha256(), header, file.bytes());
  if (digest.empty()) {
    return Error(ErrorKind::kInternal, path + ": this OpenSSL has no " + (is_git ? "SHA-1" : "SHA-256"), path);
  }
  return digest == etag;
}

}  // namespace weir::hub
