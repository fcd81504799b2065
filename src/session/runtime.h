// ONNX Runtime's API as this folder uses it. Internal: no other folder includes it.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

// The API table is fetched by environment(), which can say so when the library is too old; the default fetches it
// before main() and crashes later.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include "base/result.h"

namespace weir::session {

/// The process's one environment, made at first use and never destroyed: sessions may live until exit. Its log lines go
/// to base/log. kUnsupported when the library does not know the API of our headers. Any thread.
Result<Ort::Env*> environment();

/// Registers the arena that sessions may share, the first time; later calls do nothing. 0: unbounded. Any thread.
void make_process_arena(Ort::Env& env, std::size_t limit_bytes);

/// An exception of ONNX Runtime as an error. `place` is the file at fault.
Error to_error(const Ort::Exception& exception, const std::string& place);

/// Calls `body`, which returns a Result or Status; what ONNX Runtime throws becomes an error.
template <class Body>
auto catching(const std::string& place, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Ort::Exception& exception) {
    return to_error(exception, place);
  } catch (const std::exception& exception) {
    return Error(ErrorKind::kBackend, place + ": " + exception.what(), place);
  }
}

}  // namespace weir::session
