#include "recognize/value.h"

#include <array>
#include <cmath>

namespace weir::recognize {
namespace {

std::vector<double> make_sample_points() {
  std::vector<double> points{0, 1e-6, 1e-3, 0.01};
  for (double x = 0.125; x < 9; x += 0.375) {
    points.push_back(x);
    points.push_back(-x);
  }
  return points;
}

/// In the order of Meaning::kind.
constexpr std::array<const char*, 21> kKindTexts = {
    "an embedding",
    "a sum",
    "a mean over columns",
    "rows less their mean",
    "a variance",
    "a layer norm",
    "a linear layer",
    "an integer product",
    "a dynamic scale",
    "a dynamic zero point",
    "a function of each element",
    "attention scores",
    "attention probabilities",
    "a test for NaN",
    "attention's result",
    "masked rows",
    "a sum over tokens",
    "a mean over tokens",
    "a sum of squares",
    "a length",
    "vectors of length 1",
};
static_assert(kKindTexts.size() == std::variant_size_v<decltype(Meaning::kind)>);

}  // namespace

const std::vector<double>& sample_points() {
  static const std::vector<double> points = make_sample_points();
  return points;
}

SampledView sampled(const View& view) {
  const auto* function = view.of->as<Pointwise>();
  SampledView result{function != nullptr ? function->x : view.of, view.map,
                     function != nullptr ? function->samples : sample_points()};
  for (double& sample : result.samples) sample *= view.scale;
  return result;
}

bool same_order(const std::shared_ptr<const IndexMap>& a, const std::shared_ptr<const IndexMap>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

std::string kind_text(const Value& value) {
  if (const auto* constant = std::get_if<Constant>(&value)) return "a constant " + dims_text(constant->dims());
  if (const auto* view = std::get_if<View>(&value)) {
    return std::string(kKindTexts[view->of->kind.index()]) + " " + dims_text(view->dims);
  }
  return "something unknown";
}

}  // namespace weir::recognize
