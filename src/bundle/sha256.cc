#include <memory>

#include <openssl/evp.h>

#include "base/mapped_file.h"
#include "bundle/bundle.h"

namespace weir::bundle {

Result<std::string> sha256_file(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const auto bytes = file.bytes();
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr) != 1) {
    return Error(ErrorKind::kInternal, path + ": SHA-256 is not available in this OpenSSL", path);
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(std::size_t{length} * 2);
  for (unsigned int i = 0; i < length; ++i) {
    hex += kHex[digest[i] >> 4];
    hex += kHex[digest[i] & 15];
  }
  return hex;
}

}  // namespace weir::bundle
