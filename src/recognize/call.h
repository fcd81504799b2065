// One node of the graph while its meaning is looked for: its inputs' values, its attributes, the sample inputs.
//
// One thread. Errors are kUnsupported: what was expected and not found; the evaluation turns them into Unknown values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "onnx/graph.h"
#include "recognize/sample.h"
#include "recognize/value.h"

namespace weir::recognize {

using Outputs = Result<std::vector<Value>>;

/// Owns all meanings of a graph: values that are found with it must not outlive it. Some that are made of others are
/// made once, so that two of the same are the same object.
class Meanings {
 public:
  Meanings() = default;
  Meanings(const Meanings&) = delete;
  Meanings& operator=(const Meanings&) = delete;
  /// Each before those that it is made of: a long chain released from its end would take a stack as deep.
  ~Meanings() {
    made_.clear();
    while (!all_.empty()) all_.pop_back();
  }

  MeaningPtr keep(Meaning meaning) {
    all_.push_back(std::make_shared<const Meaning>(std::move(meaning)));
    return all_.back();
  }

  template <class T>
  MeaningPtr of(const MeaningPtr& x, Dims dims, const std::string& node) {
    MeaningPtr& slot = made_[{x.get(), decltype(Meaning::kind)(std::in_place_type<T>).index()}];
    if (slot == nullptr) slot = keep(Meaning{T{x}, std::move(dims), node});
    return slot;
  }

 private:
  std::map<std::pair<const Meaning*, std::size_t>, MeaningPtr> made_;
  std::vector<MeaningPtr> all_;
};

class Call {
 public:
  Call(const onnx::GraphNode& node, std::vector<const Value*> inputs, std::int64_t opset, const Sample& sample,
       Meanings& meanings)
      : node_(node), inputs_(std::move(inputs)), opset_(opset), sample_(sample), meanings_(meanings) {}

  /// The same node with other inputs.
  Call(const Call& other, std::vector<const Value*> inputs)
      : Call(other.node_, std::move(inputs), other.opset_, other.sample_, other.meanings_) {}

  const onnx::GraphNode& node() const { return node_; }
  std::int64_t opset() const { return opset_; }
  const Sample& sample() const { return sample_; }
  Meanings& meanings() const { return meanings_; }
  /// "'NAME' (OP)".
  std::string place() const;

  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t index) const { return index < inputs_.size() && inputs_[index] != nullptr; }
  Result<const Value*> value(std::size_t index) const;
  Result<const Constant*> constant(std::size_t index) const;
  Result<const View*> view(std::size_t index) const;
  /// A small constant's numbers as integers; numbers beyond 2^53 keep their sign and size.
  Result<IndexMap> integers(std::size_t index) const;
  /// An attribute of old operator sets or, from `index` on, an input of newer ones; nothing when neither is there.
  Result<std::optional<IndexMap>> integers(std::string_view attribute, std::size_t index) const;

  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  double number(std::string_view attribute, double otherwise) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  const onnx::NodeAttribute* attribute(std::string_view name) const;

  /// A new meaning of the given shape, as a plain view.
  template <class T>
  View make(T kind, const Dims& dims) const {
    return {meanings_.keep(Meaning{std::move(kind), dims, place()}), dims, nullptr, 1};
  }

 private:
  const onnx::GraphNode& node_;
  std::vector<const Value*> inputs_;
  std::int64_t opset_;
  const Sample& sample_;
  Meanings& meanings_;
};

Error unsupported(const std::string& what);

/// The value's elements as the selection says.
Result<Value> selected(const Value& value, const Selection& selection);
/// One output.
Outputs one(Result<Value> value);

const Dims* dims_of(const Value& value);

}  // namespace weir::recognize
