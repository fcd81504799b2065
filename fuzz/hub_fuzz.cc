// What a hub answers: the description of a revision, ETags, the addresses that it redirects to.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hub/client.h"
#include "hub/model_files.h"
#include "hub/repository.h"
#include "hub/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::hub;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto revision = parse_revision(text); revision.ok()) {
    if (const auto files = choose_files(revision->files, "org/name"); files.ok()) {
      for (const std::string& file : *files) {
        if (!is_safe_path(file)) __builtin_trap();
      }
    }
  }
  if (const auto etag = parse_etag(text); etag.ok() && etag->find('/') != std::string::npos) __builtin_trap();
  if (const auto repository = parse_repository(text); repository.ok()) {
    if (repository->id.find("..") != std::string::npos || repository->revision.find("..") != std::string::npos) {
      __builtin_trap();
    }
  }
  const auto url = Url::parse(text);
  // An address that was read must be read again from what it is written as.
  if (url.ok() && Url::parse(url->text())->text() != url->text()) __builtin_trap();
  static const Url base = *Url::parse("https://hub/models/a?b");
  (void)base.resolve(text);
  return 0;
}
