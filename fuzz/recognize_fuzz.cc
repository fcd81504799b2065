// ONNX graphs from anywhere: an encoder is found in them, and its weights can be read, or there is an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "recognize/recognize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto model = weir::onnx::Model::parse(bytes, "fuzz.onnx", "/nonexistent");
  if (!model.ok() || model->outputs().empty()) return 0;
  const auto recognized = weir::recognize::recognize(*model, model->outputs().front().name);
  if (!recognized.ok()) return 0;
  for (const auto& layer : recognized->encoder.layers) {
    (void)layer.query.checkpoint_weights();
    (void)layer.output.checkpoint_bias();
  }
  return 0;
}
