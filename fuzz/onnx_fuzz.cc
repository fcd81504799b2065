// ONNX models from anywhere: what a model says of itself can be asked and its weights moved, or there is an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "onnx/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  auto model = weir::onnx::Model::parse(bytes, "fuzz.onnx", "/nonexistent");
  if (!model.ok()) return 0;
  (void)model->inputs().size();
  (void)model->opsets();
  (void)model->external_files();
  auto weights = weir::onnx::WeightsFile::create("/dev/null");
  if (weights.ok()) (void)model->move_weights(*weights);
  return 0;
}
