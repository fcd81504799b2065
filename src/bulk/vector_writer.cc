#include "bulk/vector_writer.h"

#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_text.h"

namespace weir::bulk {
namespace {

static_assert(std::endian::native == std::endian::little, "npy is written as '<f4'");

constexpr std::size_t kHeaderBytes = 128;
constexpr std::size_t kBufferBytes = 1 << 20;

Error io_error(const std::string& path, const char* what) {
  return {ErrorKind::kIo, path + ": " + what + ": " + std::strerror(errno), path};
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error(path, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

std::optional<OutputFormat> output_format_from_name(std::string_view name) {
  if (name == "jsonl") return OutputFormat::kJsonl;
  if (name == "npy") return OutputFormat::kNpy;
  return std::nullopt;
}

std::string npy_header(std::uint64_t records, std::uint32_t dimensions) {
  std::string header("\x93NUMPY\x01\x00", 8);
  constexpr std::size_t kText = kHeaderBytes - 10;  // after its own length, two bytes
  header += static_cast<char>(kText & 0xFF);
  header += static_cast<char>(kText >> 8);
  header += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(records) + ", " +
            std::to_string(dimensions) + "), }";
  header.resize(kHeaderBytes - 1, ' ');
  return header + '\n';
}

VectorWriter::VectorWriter(std::string path, int fd, OutputFormat format, std::uint32_t dimensions)
    : path_(std::move(path)), fd_(fd), format_(format), dimensions_(dimensions) {}

VectorWriter::~VectorWriter() { ::close(fd_); }

Result<std::unique_ptr<VectorWriter>> VectorWriter::create(const std::string& path, OutputFormat format,
                                                           std::uint32_t dimensions) {
  const bool to_stdout = path == "-";
  if (to_stdout && format == OutputFormat::kNpy) {
    return Error(ErrorKind::kInvalidArgument, "npy cannot go to standard output: name a file with --output",
                 "--output");
  }
  const int fd =
      to_stdout ? ::dup(STDOUT_FILENO) : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return io_error(path, "cannot be created");
  std::unique_ptr<VectorWriter> writer(new VectorWriter(to_stdout ? "standard output" : path, fd, format, dimensions));
  if (format == OutputFormat::kNpy) {
    WEIR_RETURN_IF_ERROR(write_all(fd, npy_header(0, dimensions), path));
    writer->bytes_ = kHeaderBytes;
  }
  return writer;
}

Result<std::unique_ptr<VectorWriter>> VectorWriter::resume(const std::string& path, OutputFormat format,
                                                           std::uint32_t dimensions, std::uint64_t records,
                                                           std::uint64_t bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    const ErrorKind kind = errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
    return Error(kind, path + ": " + std::strerror(errno), path);
  }
  std::unique_ptr<VectorWriter> writer(new VectorWriter(path, fd, format, dimensions));
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_error(path, "cannot be read");
  const std::uint64_t npy_bytes = kHeaderBytes + records * dimensions * sizeof(float);
  if (static_cast<std::uint64_t>(info.st_size) < bytes || (format == OutputFormat::kNpy && bytes != npy_bytes)) {
    return Error(ErrorKind::kInvalidArgument,
                 path + ": is not the output that the interrupted job left; delete its journal to begin anew", path);
  }
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0 || ::lseek(fd, 0, SEEK_END) < 0) {
    return io_error(path, "cannot be cut to its valid part");
  }
  writer->records_ = records;
  writer->bytes_ = bytes;
  return writer;
}

Status VectorWriter::append(std::span<const float> vector) {
  assert(vector.size() == dimensions_);
  if (format_ == OutputFormat::kNpy) {
    buffer_.append(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
  } else {
    buffer_ += "{\"index\":" + std::to_string(records_) + ",\"embedding\":";
    append_json_floats(buffer_, vector);
    buffer_ += "}\n";
  }
  ++records_;
  return write_if_large();
}

Status VectorWriter::append_rows(std::span<const float> vectors) {
  assert(format_ == OutputFormat::kJsonl && vectors.size() % dimensions_ == 0);
  buffer_ += "{\"index\":" + std::to_string(records_) + ",\"embeddings\":[";
  for (std::size_t at = 0; at < vectors.size(); at += dimensions_) {
    if (at > 0) buffer_ += ',';
    append_json_floats(buffer_, vectors.subspan(at, dimensions_));
  }
  buffer_ += "]}\n";
  ++records_;
  return write_if_large();
}

Status VectorWriter::append_skipped(std::string_view problem) {
  if (format_ == OutputFormat::kNpy) {
    return append(std::vector<float>(dimensions_, std::numeric_limits<float>::quiet_NaN()));
  }
  buffer_ += "{\"index\":" + std::to_string(records_) + ",\"error\":";
  append_json_string(buffer_, problem);
  buffer_ += "}\n";
  ++records_;
  return write_if_large();
}

Status VectorWriter::write_if_large() {
  if (buffer_.size() < kBufferBytes) return {};
  return write_out();
}

Status VectorWriter::write_out() {
  WEIR_RETURN_IF_ERROR(write_all(fd_, buffer_, path_));
  bytes_ += buffer_.size();
  buffer_.clear();
  return {};
}

Status VectorWriter::write_header() {
  const std::string header = npy_header(records_, dimensions_);
  if (::pwrite(fd_, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size())) {
    return io_error(path_, "its header cannot be written");
  }
  return {};
}

Result<std::uint64_t> VectorWriter::flush() {
  WEIR_RETURN_IF_ERROR(write_out());
  if (format_ == OutputFormat::kNpy) WEIR_RETURN_IF_ERROR(write_header());
  // A pipe cannot be synced, and need not be.
  if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) return io_error(path_, "cannot be written");
  return bytes_;
}

}  // namespace weir::bulk
