// The hub's HTTP interface as far as weir needs it: what a revision holds, what a file is, its bytes.
//
// Redirects are followed; the token goes to the hub's own address only, and never from https to http. What fails for a
// while (connections that break, 408, 429, 5xx) is tried again, as long as the hub's Retry-After asks for or with
// growing pauses; bytes that have arrived are not asked for again. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/connection.h"
#include "hub/environment.h"
#include "hub/repository.h"

namespace weir::hub {

struct ClientOptions {
  HttpOptions http;
  int attempts = 5;  ///< Without a byte of progress.
  Clock::duration first_pause = std::chrono::seconds(1);
  Clock::duration longest_pause = std::chrono::minutes(2);  ///< A Retry-After above it is not waited for.
  std::function<void(const std::string&)> notice;           ///< Told why something is tried again. May be null.
};

/// What a branch, tag or commit holds.
struct Revision {
  std::string commit;
  std::vector<std::string> files;
};

struct FileInfo {
  std::string etag;  ///< Fit to be a file's name.
  std::uint64_t bytes = 0;
};

/// Reads what the hub says of a revision. kMalformed names the field.
Result<Revision> parse_revision(std::string_view json);

/// An ETag without its quotes; kMalformed when it could not be a file's name.
Result<std::string> parse_etag(std::string_view header);

/// Called with the bytes that are there of a file.
using OnBytes = std::function<void(std::uint64_t)>;

class Client {
 public:
  Client(const Environment& environment, ClientOptions options)
      : environment_(environment), options_(std::move(options)) {}

  /// kNotFound: no such model or revision, or it is private; kUnauthorized: the token is missing, wrong, or has no
  /// access to a gated model; kUnavailable: no connection, or the hub is busy; kIo; kMalformed; kCancelled.
  Result<Revision> revision(const Repository& repository) const;
  Result<FileInfo> file_info(const Repository& repository, const std::string& commit, const std::string& path) const;
  /// Completes the file `target`, which may hold the first bytes already. Also kIo: the disk is full.
  Status download(const Repository& repository, const std::string& commit, const std::string& path, std::uint64_t bytes,
                  const std::string& target, const OnBytes& on_bytes) const;

 private:
  struct Answer;
  using Headers = std::vector<std::pair<std::string, std::string>>;

  Result<Url> url_of(const std::string& path) const;
  Result<Url> file_url(const Repository& repository, const std::string& commit, const std::string& path) const;
  /// Follows redirects (for HEAD only those that stay on the hub).
  Status ask(const std::string& method, Url url, const Headers& headers, Answer& answer) const;
  /// Calls `attempt` until it succeeds, fails for good, or has failed too often. `progress` is compared between calls.
  Status with_retries(const std::function<Status(Answer&)>& attempt,
                      const std::function<std::uint64_t()>& progress) const;
  Status pause(Clock::duration length) const;

  const Environment& environment_;
  ClientOptions options_;
};

}  // namespace weir::hub
