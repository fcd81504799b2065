#include "hub/client.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include <simdjson.h>

#include "hub/file_sink.h"
#include "hub/model_files.h"

namespace weir::hub {
namespace {

constexpr int kMostRedirects = 8;
constexpr int kConnectAttempts = 3;
constexpr std::size_t kLargestAnswer = 32 << 20;
constexpr std::size_t kLargestErrorBody = 16 << 10;
constexpr std::size_t kLongestEtag = 200;
constexpr auto kPoll = std::chrono::milliseconds(100);

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}
bool is_passing(int status) {
  return status == 408 || status == 429 || (status >= 500 && status <= 504 && status != 501);
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                  : std::nullopt;
}

Error status_error(const HttpHead& head, const Environment& environment, const std::string& what) {
  const std::string code(head.header("x-error-code"));
  std::string detail = " (status " + std::to_string(head.status) + (code.empty() ? "" : ", " + code);
  if (const auto message = head.header("x-error-message"); !message.empty()) {
    detail += ": " + std::string(message.substr(0, 300));
  }
  detail += ")";
  const std::string token = environment.token.empty() ? "set HF_TOKEN to a token that has access"
                                                      : "the token of HF_TOKEN has no access to it";
  if (code == "GatedRepo" || head.status == 403) {
    return {ErrorKind::kUnauthorized,
            what + ": access has to be granted on the hub's page of the model, and " + token + detail, "HF_TOKEN"};
  }
  if (head.status == 401 && code.empty()) {
    return {ErrorKind::kUnauthorized, what + ": the hub wants to know who asks; " + token + detail, "HF_TOKEN"};
  }
  if (head.status == 404 || head.status == 401) {
    const std::string why = code == "RevisionNotFound" ? "the model has no such revision"
                            : code == "EntryNotFound"  ? "the revision has no such file"
                                                       : "the hub knows no such model, or it is private and " + token;
    return {ErrorKind::kNotFound, what + ": " + why + detail};
  }
  if (is_passing(head.status))
    return {ErrorKind::kUnavailable, what + ": the hub is busy or broken; try again later" + detail};
  return {ErrorKind::kIo, what + ": an answer that weir does not understand" + detail};
}

}  // namespace

/// The last answer of a chain of redirects: its head, and its body unless that goes to `sink`.
struct Client::Answer final : HttpReceiver {
  HttpHead head;
  std::string body;
  FileSink* sink = nullptr;

  bool is_success() const { return head.status == 200 || head.status == 206; }

  Status begin(const HttpHead& new_head) override {
    head = new_head;
    body.clear();
    return sink != nullptr && is_success() ? sink->begin(head) : Status();
  }
  Status take(std::string_view bytes) override {
    if (sink != nullptr && is_success()) return sink->take(bytes);
    const std::size_t limit = is_success() ? kLargestAnswer : kLargestErrorBody;
    if (is_success() && body.size() + bytes.size() > limit)
      return Error(ErrorKind::kMalformed, "the hub's answer is too long");
    body.append(bytes.substr(0, limit - std::min(limit, body.size())));
    return {};
  }
};

Result<Revision> parse_revision(std::string_view json) {
  const auto bad = [](const char* what) {
    return Error(ErrorKind::kMalformed, std::string("the hub's answer about the model: ") + what);
  };
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view text;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return bad("not JSON");
  Revision revision;
  if (root["sha"].get_string().get(text) != simdjson::SUCCESS || !is_commit(text)) return bad("\"sha\" is no commit");
  revision.commit = text;
  simdjson::dom::array siblings;
  if (root["siblings"].get_array().get(siblings) != simdjson::SUCCESS) return bad("\"siblings\" is no list");
  for (const simdjson::dom::element entry : siblings) {
    if (entry["rfilename"].get_string().get(text) != simdjson::SUCCESS)
      return bad("\"siblings\" without \"rfilename\"");
    if (is_safe_path(text)) revision.files.emplace_back(text);
  }
  return revision;
}

Result<std::string> parse_etag(std::string_view header) {
  if (header.starts_with("W/")) header.remove_prefix(2);
  if (header.size() >= 2 && header.front() == '"' && header.back() == '"') header = header.substr(1, header.size() - 2);
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  const bool is_name = !header.empty() && header.size() <= kLongestEtag && header.front() != '.' &&
                       std::all_of(header.begin(), header.end(), is_allowed);
  if (!is_name) return Error(ErrorKind::kMalformed, "the hub's answer about a file has no usable ETag");
  return std::string(header);
}

Result<Url> Client::url_of(const std::string& path) const {
  Url url = environment_.endpoint;
  url.target += path;
  return url;
}

Result<Url> Client::file_url(const Repository& repository, const std::string& commit, const std::string& path) const {
  return url_of("/" + encode_path(repository.id) + "/resolve/" + commit + "/" + encode_path(path));
}

Status Client::ask(const std::string& method, Url url, const Headers& headers, Answer& answer) const {
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    HttpRequest request{method, url, environment_.proxy_for(url), headers};
    if (!environment_.token.empty() && url.same_origin(environment_.endpoint)) {
      request.headers.emplace_back("Authorization", "Bearer " + environment_.token);
    }
    WEIR_RETURN_IF_ERROR(exchange(options_.http, request, answer));
    if (!is_redirect(answer.head.status)) return {};
    WEIR_ASSIGN_OR_RETURN(const Url next, url.resolve(answer.head.header("location")));
    // What the hub says of a file stands in its own answer, not in that of the storage that it points to.
    const bool is_enough = method == "HEAD" && (!answer.head.header("x-linked-etag").empty() || !next.same_origin(url));
    if (is_enough) return {};
    if (url.secure && !next.secure) {
      return Error(ErrorKind::kMalformed,
                   url.authority() + " redirects from https to " + next.origin() + ": not followed");
    }
    url = next;
  }
  return Error(ErrorKind::kMalformed, url.authority() + " redirects again and again");
}

Status Client::pause(Clock::duration length) const {
  const Clock::time_point end = Clock::now() + length;
  while (Clock::now() < end) {
    if (options_.http.cancelled && options_.http.cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
    std::this_thread::sleep_for(std::min<Clock::duration>(kPoll, end - Clock::now()));
  }
  return {};
}

Status Client::with_retries(const std::function<Status(Answer&)>& attempt,
                            const std::function<std::uint64_t()>& progress) const {
  int failures = 0;
  std::uint64_t before = progress();
  Clock::duration delay = options_.first_pause;
  for (;;) {
    Answer answer;
    Status status = attempt(answer);
    const ErrorKind kind = status.ok() ? ErrorKind::kInternal : status.error().kind;
    if (status.ok() || (kind != ErrorKind::kIo && kind != ErrorKind::kUnavailable)) return status;
    if (progress() > before) {
      before = progress();
      failures = 0;
      delay = options_.first_pause;
    }
    const bool has_answer = answer.head.status != 0;
    const int attempts = has_answer ? options_.attempts : std::min(options_.attempts, kConnectAttempts);
    if (++failures >= attempts) return status;
    const auto asked_for = parse_number<std::uint32_t>(answer.head.header("retry-after"));
    const Clock::duration length = asked_for ? std::chrono::seconds(*asked_for) : delay;
    if (length > options_.longest_pause) return status;
    if (options_.notice) options_.notice(status.error().message + "; trying again");
    WEIR_RETURN_IF_ERROR(pause(length));
    delay *= 2;
  }
}

Result<Revision> Client::revision(const Repository& repository) const {
  WEIR_ASSIGN_OR_RETURN(const Url url, url_of("/api/models/" + encode_path(repository.id) + "/revision/" +
                                              encode_component(repository.revision)));
  std::string body;
  Status status = with_retries(
      [&](Answer& answer) -> Status {
        WEIR_RETURN_IF_ERROR(ask("GET", url, {}, answer));
        if (answer.head.status != 200) return status_error(answer.head, environment_, repository.text());
        body = std::move(answer.body);
        return {};
      },
      [] { return 0; });
  if (!status.ok()) return std::move(status).error();
  return parse_revision(body);
}

Result<FileInfo> Client::file_info(const Repository& repository, const std::string& commit,
                                   const std::string& path) const {
  WEIR_ASSIGN_OR_RETURN(const Url url, file_url(repository, commit, path));
  HttpHead head;
  Status status = with_retries(
      [&](Answer& answer) -> Status {
        WEIR_RETURN_IF_ERROR(ask("HEAD", url, {}, answer));
        head = answer.head;
        const bool is_known = head.status == 200 || is_redirect(head.status);
        return is_known ? Status() : status_error(head, environment_, repository.text() + ": " + path);
      },
      [] { return 0; });
  if (!status.ok()) return std::move(status).error();
  const std::string_view linked = head.header("x-linked-etag");
  const std::string_view linked_bytes = head.header("x-linked-size");
  FileInfo info;
  WEIR_ASSIGN_OR_RETURN(info.etag, parse_etag(linked.empty() ? head.header("etag") : linked));
  const auto bytes = parse_number<std::uint64_t>(linked_bytes.empty() ? head.header("content-length") : linked_bytes);
  if (!bytes)
    return Error(ErrorKind::kMalformed, repository.text() + ": " + path + ": the hub does not say how long it is");
  info.bytes = *bytes;
  return info;
}

Status Client::download(const Repository& repository, const std::string& commit, const std::string& path,
                        std::uint64_t bytes, const std::string& target, const OnBytes& on_bytes) const {
  WEIR_ASSIGN_OR_RETURN(const Url url, file_url(repository, commit, path));
  WEIR_ASSIGN_OR_RETURN(FileSink sink, FileSink::open(target, bytes, on_bytes));
  Status status = with_retries(
      [&](Answer& answer) -> Status {
        if (sink.size() == bytes) return {};
        answer.sink = &sink;
        Headers headers;
        if (sink.size() > 0) headers.emplace_back("Range", "bytes=" + std::to_string(sink.size()) + "-");
        WEIR_RETURN_IF_ERROR(ask("GET", url, headers, answer));
        if (!answer.is_success()) return status_error(answer.head, environment_, repository.text() + ": " + path);
        if (sink.size() < bytes) return Error(ErrorKind::kIo, path + ": the connection ended early");
        return {};
      },
      [&] { return sink.size(); });
  return status.ok() ? sink.finish() : status;
}

}  // namespace weir::hub
