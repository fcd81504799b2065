#include "ops/call.h"

#include <algorithm>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace weir::ops {
namespace {

// ONNX Runtime's pool orders its threads out of ThreadSanitizer's sight, which is told here: what one thread did before
// comes_before(at) is seen by another after comes_after(at).
#ifdef __SANITIZE_THREAD__
void comes_before(void* at) { __tsan_release(at); }
void comes_after(void* at) { __tsan_acquire(at); }
#else
void comes_before(void*) {}
void comes_after(void*) {}
#endif

Error bad_input(const char* name, const std::string& what) {
  return {ErrorKind::kInvalidArgument, std::string("input '") + name + "' " + what, name};
}

}  // namespace

Result<Call::Shape> Call::shape_of(std::size_t index, const char* name, std::size_t rank) const {
  const Ort::ConstValue value = context_.GetInput(index);
  if (value == nullptr) return bad_input(name, "is missing");
  const auto info = value.GetTensorTypeAndShapeInfo();
  const std::vector<std::int64_t> sizes = info.GetShape();
  if (sizes.size() != rank) {
    return bad_input(name, "has " + std::to_string(sizes.size()) + " dimensions instead of " + std::to_string(rank));
  }
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) shape.sizes[i] = static_cast<std::size_t>(sizes[i]);
  shape.data = value.GetTensorRawData();
  return shape;
}

Status Call::check_size(const char* name, const char* what, std::size_t found, std::size_t wanted) {
  if (found == wanted) return {};
  return bad_input(name, "has " + std::to_string(found) + " " + what + " instead of " + std::to_string(wanted));
}

void* Call::output_data(std::size_t index, std::size_t rows, std::size_t columns) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  Ort::UnownedValue value = context_.GetOutput(index, shape, 2);
  return value == nullptr ? nullptr : value.GetTensorMutableRawData();
}

kernels::ParallelFor Call::parallel() const {
  return [this](std::size_t count, const std::function<void(std::size_t)>& task) {
    if (count == 1) return task(0);
    const auto call = [](void* user, std::size_t i) {
      comes_after(user);
      (*static_cast<const std::function<void(std::size_t)>*>(user))(i);
      comes_before(user);
    };
    auto* const user = const_cast<std::function<void(std::size_t)>*>(&task);
    comes_before(user);
    context_.ParallelFor(call, count, 0, user);
    comes_after(user);
  };
}

std::size_t useful_threads(std::size_t count, std::size_t unit, std::size_t most) {
  return std::clamp<std::size_t>((count + unit - 1) / unit, 1, most);
}

}  // namespace weir::ops
