#include "session/runtime.h"

#include <mutex>
#include <string_view>

#include "base/log.h"
#include "session/session.h"

namespace weir::session {
namespace {

void ORT_API_CALL log_line(void*, OrtLoggingLevel level, const char* category, const char*, const char* location,
                           const char* message) {
  const auto write = level >= ORT_LOGGING_LEVEL_ERROR     ? log::error
                     : level >= ORT_LOGGING_LEVEL_WARNING ? log::warn
                                                          : log::debug;
  write("onnxruntime", {{"category", category}, {"location", location}, {"detail", message}});
}

struct Environment {
  Ort::Env* env = nullptr;
  Error error;
};

Environment make_environment() {
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (api == nullptr) {
    return {nullptr, Error(ErrorKind::kUnsupported, "ONNX Runtime " + runtime_version() +
                                                        " is too old: weir needs its API version " +
                                                        std::to_string(ORT_API_VERSION) + " or newer")};
  }
  Ort::InitApi(api);
  auto made = catching("ONNX Runtime", []() -> Result<Ort::Env*> {
    auto* env = new Ort::Env(ORT_LOGGING_LEVEL_WARNING, "weir", log_line, nullptr);
    env->DisableTelemetryEvents();
    return env;
  });
  return made.ok() ? Environment{*made, {}} : Environment{nullptr, made.error()};
}

ErrorKind kind_of(OrtErrorCode code) {
  switch (code) {
    case ORT_NO_SUCHFILE:
      return ErrorKind::kNotFound;
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
    case ORT_NO_MODEL:
      return ErrorKind::kCorrupt;
    case ORT_NOT_IMPLEMENTED:
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kBackend;
  }
}

}  // namespace

Result<Ort::Env*> environment() {
  static const Environment made = make_environment();
  if (made.env == nullptr) return made.error;
  return made.env;
}

void make_process_arena(Ort::Env& env, std::size_t limit_bytes) {
  static std::once_flag made;
  std::call_once(made, [&] {
    constexpr int kSameAsRequested = 1;  // grow by what is asked for, not to the next power of two
    constexpr int kDefault = -1;
    const Ort::ArenaCfg settings(limit_bytes, kSameAsRequested, kDefault, kDefault);
    env.CreateAndRegisterAllocator(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault), settings);
  });
}

Error to_error(const Ort::Exception& exception, const std::string& place) {
  return {kind_of(exception.GetOrtErrorCode()), place + ": ONNX Runtime: " + exception.what(), place};
}

std::string runtime_version() { return OrtGetApiBase()->GetVersionString(); }

}  // namespace weir::session
