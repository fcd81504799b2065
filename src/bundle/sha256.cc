#include <memory>

#include <openssl/evp.h>

#include "base/hex.h"
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
  return to_hex({digest, length});
}

}  // namespace weir::bundle
