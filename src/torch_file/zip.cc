#include "torch_file/zip.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weir::torch_file {
namespace {

constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kEntryMark = 0x02014b50;
constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kMaxComment = 65535;

/// Little-endian numbers at checked places.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool has(std::uint64_t at, std::uint64_t count) const { return at <= bytes_.size() && count <= bytes_.size() - at; }
  std::uint32_t u16(std::uint64_t at) const { return number(at, 2); }
  std::uint32_t u32(std::uint64_t at) const { return number(at, 4); }
  std::span<const std::byte> part(std::uint64_t at, std::uint64_t count) const { return bytes_.subspan(at, count); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::uint32_t number(std::uint64_t at, std::size_t count) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::to_integer<std::uint32_t>(bytes_[at + i]) << (8 * i);
    return value;
  }

  std::span<const std::byte> bytes_;
};

Error corrupt(const std::string& name, const std::string& what) {
  return {ErrorKind::kCorrupt, name + ": not a whole zip archive: " + what, name};
}

/// The end's place, looked for from behind.
Result<std::uint64_t> find_end(const Reader& reader, const std::string& name) {
  if (reader.size() < kEndBytes) return corrupt(name, "too short");
  const std::size_t last = reader.size() - kEndBytes;
  const std::size_t first = last - std::min(last, kMaxComment);
  for (std::size_t at = last + 1; at-- > first;) {
    if (reader.u32(at) == kEndMark) return at;
  }
  return corrupt(name, "no end record");
}

Result<std::span<const std::byte>> content_of(const Reader& reader, std::uint64_t entry, const std::string& name) {
  const std::uint32_t method = reader.u16(entry + 10);
  const std::uint64_t size = reader.u32(entry + 24);
  const std::uint64_t local = reader.u32(entry + 42);
  if (method != 0 || reader.u32(entry + 20) != size) {
    return Error(ErrorKind::kUnsupported, name + ": compressed entries are not supported", name);
  }
  if (!reader.has(local, kLocalBytes) || reader.u32(local) != kLocalMark) return corrupt(name, "an entry lies outside");
  const std::uint64_t begin = local + kLocalBytes + reader.u16(local + 26) + reader.u16(local + 28);
  if (!reader.has(begin, size)) return corrupt(name, "an entry is cut off");
  return reader.part(begin, size);
}

}  // namespace

Result<std::map<std::string, std::span<const std::byte>>> zip_entries(std::span<const std::byte> bytes,
                                                                      const std::string& name) {
  const Reader reader(bytes);
  WEIR_ASSIGN_OR_RETURN(const std::uint64_t end, find_end(reader, name));
  const std::uint32_t count = reader.u16(end + 10);
  std::uint64_t at = reader.u32(end + 16);
  std::map<std::string, std::span<const std::byte>> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!reader.has(at, kEntryBytes) || reader.u32(at) != kEntryMark) return corrupt(name, "its directory is cut off");
    const std::uint64_t name_bytes = reader.u16(at + 28);
    if (!reader.has(at + kEntryBytes, name_bytes)) return corrupt(name, "its directory is cut off");
    const auto text = reader.part(at + kEntryBytes, name_bytes);
    std::string entry_name(name_bytes, '\0');
    if (name_bytes > 0) std::memcpy(entry_name.data(), text.data(), name_bytes);
    WEIR_ASSIGN_OR_RETURN(entries[entry_name], content_of(reader, at, name));
    at += kEntryBytes + name_bytes + reader.u16(at + 30) + reader.u16(at + 32);
  }
  return entries;
}

}  // namespace weir::torch_file
