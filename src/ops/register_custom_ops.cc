// The entry point of libweir_ops.so, by which any ONNX Runtime takes the operators into a session:
//   options.register_custom_ops_library("libweir_ops.so")
#include "ops/domain.h"
#include "ops/node.h"

extern "C" __attribute__((visibility("default"))) OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* options,
                                                                                            const OrtApiBase* base) {
  constexpr std::uint32_t kFirstVersion = 1;
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  if (api == nullptr) {
    const std::string text = std::string("libweir_ops.so needs ONNX Runtime's API version ") +
                             std::to_string(ORT_API_VERSION) + "; this is ONNX Runtime " + base->GetVersionString();
    return base->GetApi(kFirstVersion)->CreateStatus(ORT_NOT_IMPLEMENTED, text.c_str());
  }
  Ort::InitApi(api);
  return weir::ops::to_ort_status("libweir_ops.so", [&]() -> weir::Status {
    Ort::ThrowOnError(api->AddCustomOpDomain(options, weir::ops::domain(0)));
    return {};
  });
}
