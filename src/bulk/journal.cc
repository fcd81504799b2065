#include "bulk/journal.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include <openssl/evp.h>

#include "base/file.h"
#include "base/hex.h"
#include "bundle/json_fields.h"
#include "bundle/json_writer.h"

namespace weir::bulk {
namespace {

constexpr std::uint64_t kFormatVersion = 1;
constexpr std::size_t kLimitBytes = 1 << 20;
constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

Status read_job(simdjson::dom::object object, const std::string& at, const std::string& path, Journal& journal) {
  for (const auto field : object) {
    std::string_view value;
    if (field.value.get(value)) {
      return bundle::field_error(path, at + "." + std::string(field.key), "expected a string");
    }
    journal.job[std::string(field.key)] = value;
  }
  return {};
}

}  // namespace

struct RecordHash::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Impl() { EVP_DigestInit_ex(context, EVP_sha256(), nullptr); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { EVP_MD_CTX_free(context); }
};

RecordHash::RecordHash() : impl_(std::make_unique<Impl>()) {}
RecordHash::RecordHash(RecordHash&&) noexcept = default;
RecordHash& RecordHash::operator=(RecordHash&&) noexcept = default;
RecordHash::~RecordHash() = default;

void RecordHash::add(std::string_view text) {
  const std::uint64_t size = text.size();
  EVP_DigestUpdate(impl_->context, &size, sizeof size);
  EVP_DigestUpdate(impl_->context, text.data(), text.size());
}

std::string RecordHash::hex() const {
  Impl copy;
  EVP_MD_CTX_copy_ex(copy.context, impl_->context);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(copy.context, digest, &length);
  return to_hex({digest, length});
}

std::string journal_path(const std::string& output) { return output + ".weir-resume"; }

Result<Journal> read_journal(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string json, read_file(path, kLimitBytes));
  simdjson::dom::parser parser;
  WEIR_ASSIGN_OR_RETURN(const auto object, bundle::parse_object(parser, json, path));
  Journal journal;
  std::uint64_t version = 0;
  bundle::Fields fields(object, path);
  fields.number("format_version", version, 1, kMost);
  if (version > kFormatVersion) {
    fields.fail("format_version", "is newer than this weir reads", ErrorKind::kUnsupported);
  }
  fields.object("job",
                [&](simdjson::dom::object job, const std::string& at) { return read_job(job, at, path, journal); });
  fields.number("records", journal.records, 0, kMost);
  fields.number("skipped", journal.skipped, 0, kMost);
  fields.number("output_bytes", journal.output_bytes, 0, kMost);
  fields.text("input_sha256", journal.input_sha256, 64, 64);
  WEIR_RETURN_IF_ERROR(fields.finish());
  return journal;
}

Status write_journal(const std::string& path, const Journal& journal) {
  bundle::JsonWriter json;
  json.open('{');
  json.field("format_version", kFormatVersion);
  json.key("job");
  json.open('{');
  for (const auto& [name, value] : journal.job) json.field(name, value);
  json.close('}');
  json.field("records", journal.records);
  json.field("skipped", journal.skipped);
  json.field("output_bytes", journal.output_bytes);
  json.field("input_sha256", journal.input_sha256);
  json.close('}');
  const std::string fresh = path + ".new";
  Status written = write_file(fresh, std::move(json).take());
  if (written.ok() && std::rename(fresh.c_str(), path.c_str()) != 0) {
    written = Error(ErrorKind::kIo, path + ": " + std::strerror(errno), path);
  }
  if (!written.ok()) std::remove(fresh.c_str());
  return written;
}

Status check_same_job(const Journal& journal, const std::map<std::string, std::string>& job, const std::string& path) {
  const auto differs = [&](const std::string& name, const std::string& before, const std::string& now) {
    return Error(ErrorKind::kInvalidArgument,
                 path + ": the interrupted job had " + name + " " + before + "; now it is " + now +
                     ". Resume with the same settings, or delete this file to begin anew",
                 name);
  };
  for (const auto& [name, value] : job) {
    const auto before = journal.job.find(name);
    const std::string was = before == journal.job.end() ? "(none)" : before->second;
    if (was != value) return differs(name, was, value);
  }
  for (const auto& [name, value] : journal.job) {
    if (!job.contains(name)) return differs(name, value, "(none)");
  }
  return {};
}

}  // namespace weir::bulk
