#include "hub/repository.h"

#include <algorithm>

namespace weir::hub {
namespace {

constexpr std::size_t kLongestPart = 96;
constexpr std::size_t kLongestRevision = 200;

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_part(std::string_view part) {
  const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !part.empty() && part.size() <= kLongestPart && std::all_of(part.begin(), part.end(), is_allowed) &&
         part.front() != '.' && part.front() != '-' && part.back() != '.' && part.back() != '-' &&
         part.find("..") == std::string_view::npos && part.find("--") == std::string_view::npos;
}

/// Git's own rules, and nothing that would lead out of the cache's folder.
bool is_revision(std::string_view revision) {
  const auto is_allowed = [](char c) {
    return is_alphanumeric(c) || std::string_view("-_./+=%").find(c) != std::string_view::npos;
  };
  return !revision.empty() && revision.size() <= kLongestRevision &&
         std::all_of(revision.begin(), revision.end(), is_allowed) && revision.front() != '/' &&
         revision.front() != '.' && revision.back() != '/' && revision.find("..") == std::string_view::npos &&
         revision.find("//") == std::string_view::npos && revision.find("/.") == std::string_view::npos;
}

}  // namespace

Result<Repository> parse_repository(std::string_view text) {
  const auto bad = [text](const std::string& why) {
    return Error(ErrorKind::kInvalidArgument, "'" + std::string(text.substr(0, 300)) + "' names no model: " + why);
  };
  Repository repository;
  const std::size_t at = text.find('@');
  const std::string_view id = text.substr(0, at);
  const std::size_t slash = id.find('/');
  const std::string_view first = id.substr(0, slash);
  const bool has_two_parts = slash != std::string_view::npos;
  if (!is_part(first) || (has_two_parts && !is_part(id.substr(slash + 1)))) {
    return bad("expected org/name[@revision] of letters, digits, '-', '_' and '.'");
  }
  repository.id = std::string(id);
  if (at != std::string_view::npos) {
    repository.revision = std::string(text.substr(at + 1));
    if (!is_revision(repository.revision)) return bad("the revision behind '@' is no branch, tag or commit");
  }
  return repository;
}

bool looks_like_repository(std::string_view text) {
  const std::string_view id = text.substr(0, text.find('@'));
  return std::count(id.begin(), id.end(), '/') == 1 && parse_repository(text).ok();
}

bool is_commit(std::string_view revision) {
  return revision.size() == 40 && std::all_of(revision.begin(), revision.end(),
                                              [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace weir::hub
