// Safetensors files for tests: written field by field, so that a test can also write wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace weir::safetensors::testing {

struct TestTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Eight bytes of length, the header, the data.
inline std::string with_header(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string file(sizeof size, '\0');
  std::memcpy(file.data(), &size, sizeof size);
  return file + header + data;
}

inline std::string entry(const TestTensor& tensor, std::uint64_t begin, std::uint64_t end) {
  std::string shape;
  for (const std::uint64_t dimension : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(dimension);
  return "\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

inline std::string file_of(const std::vector<TestTensor>& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::string data;
  for (const TestTensor& tensor : tensors) {
    header += "," + entry(tensor, data.size(), data.size() + tensor.bytes.size());
    data += tensor.bytes;
  }
  return with_header(header + "}", data);
}

inline std::span<const std::byte> span_of(const std::string& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace weir::safetensors::testing
