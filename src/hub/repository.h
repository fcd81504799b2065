// The name of a model on the hub: "org/name", or "org/name@revision" with a branch, a tag or a commit. Values.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::hub {

inline constexpr std::string_view kDefaultRevision = "main";

struct Repository {
  std::string id;  ///< "org/name", or a name alone for the hub's oldest models.
  std::string revision = std::string(kDefaultRevision);

  /// The last part of `id`.
  std::string name() const { return id.substr(id.rfind('/') + 1); }
  std::string text() const { return revision == kDefaultRevision ? id : id + "@" + revision; }
};

/// kInvalidArgument says what is wrong with the name.
Result<Repository> parse_repository(std::string_view text);

/// Whether `text` may be meant as "org/name[@revision]": exactly one '/', and nothing that only a path has.
bool looks_like_repository(std::string_view text);

/// Whether `revision` is a commit: 40 hex digits.
bool is_commit(std::string_view revision);

}  // namespace weir::hub
