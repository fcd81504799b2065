#include "base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Opening a pipe would otherwise wait for its other end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    const ErrorKind kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kIo;
    return Error(kind, path + ": " + std::strerror(errno), path);
  }
  struct stat info {};
  MappedFile file;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Error(ErrorKind::kIo, path + ": not a regular file", path);
  }
  if (info.st_size > 0) {
    void* address = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      const int code = errno;
      ::close(fd);
      return Error(ErrorKind::kIo, path + ": cannot be mapped: " + std::strerror(code), path);
    }
    file.data_ = static_cast<const std::byte*>(address);
    file.size_ = static_cast<std::size_t>(info.st_size);
  }
  ::close(fd);
  return file;
}

}  // namespace weir
