// A node of a graph while its kernel is made: attributes and constant inputs. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

// As in session/runtime.h: who loads us hands over the API's table.
#ifndef ORT_API_MANUAL_INIT
#define ORT_API_MANUAL_INIT
#endif
#include <onnxruntime_cxx_api.h>

#include "base/cpu_features.h"
#include "base/result.h"

namespace weir::ops {

class Node {
 public:
  Node(const OrtKernelInfo* info, std::size_t threads) : info_(info), threads_(threads) {}

  std::string name() const;
  /// Into how many parts to divide work.
  std::size_t threads() const { return threads_; }

  /// Attributes; all that an operator knows must be there. kInvalidArgument names the attribute.
  Result<std::int64_t> integer(const char* attribute, std::int64_t least, std::int64_t most) const;
  /// The same, where it may be missing.
  Result<std::int64_t> integer_or(const char* attribute, std::int64_t least, std::int64_t most,
                                  std::int64_t missing) const;
  Result<float> number(const char* attribute) const;
  /// A text attribute that is one of `names`: its place among them.
  Result<std::size_t> choice(const char* attribute, std::span<const char* const> names) const;
  Result<bool> flag(const char* attribute) const;

  /// Bytes of an int8 initializer. kInvalidArgument when the input is not one; the bytes live as long as the kernel.
  Result<std::span<const std::byte>> constant_bytes(std::size_t input) const;

 private:
  const OrtKernelInfo* info_;
  std::size_t threads_;
};

/// Runs `body`, which returns a Status; errors and exceptions become ONNX Runtime's status, with `place` before them.
OrtStatusPtr ort_status(const std::string& place, const Error& error);

template <class Body>
OrtStatusPtr to_ort_status(const std::string& place, const Body& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? nullptr : ort_status(place, status.error());
  } catch (const std::exception& exception) {
    return ort_status(place, Error(ErrorKind::kInternal, exception.what()));
  }
}

}  // namespace weir::ops
