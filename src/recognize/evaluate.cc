#include "recognize/evaluate.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "recognize/handlers.h"
#include "recognize/sample.h"

namespace weir::recognize {
namespace {

constexpr std::size_t kMaxNodes = 200'000;
/// Elements that may be computed in all. Encoders need a few millions.
constexpr std::int64_t kMaxWork = std::int64_t{1} << 26;

/// What a value costs to make or to read: of weights, most are not even looked at.
std::int64_t work_of(const Value& value) {
  if (const auto* constant = std::get_if<Constant>(&value)) return constant->count() / (constant->is_small() ? 1 : 64);
  const auto* view = std::get_if<View>(&value);
  return view != nullptr && view->map != nullptr ? static_cast<std::int64_t>(view->map->size()) : 0;
}

class Evaluation {
 public:
  Evaluation(const onnx::Graph& graph, const Inputs& inputs, Meanings& meanings)
      : graph_(graph), inputs_(inputs), meanings_(meanings) {
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      for (const std::string& output : graph.nodes[node].outputs) {
        if (!output.empty()) makers_.emplace(output, node);
      }
    }
  }

  Result<Value> run(const std::string& output) {
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::size_t> order, order_to(output));
    for (const std::size_t node : order) compute(graph_.nodes[node]);
    const Value* value = find(output);
    if (value == nullptr) return Value(Unknown{"'" + output.substr(0, 200) + "'", "no node makes this output"});
    return *value;
  }

 private:
  /// The nodes that `output` needs, each after those that it needs itself.
  Result<std::vector<std::size_t>> order_to(const std::string& output) const {
    enum class State : char { kNew, kOpen, kDone };
    std::vector<State> states(graph_.nodes.size(), State::kNew);
    std::vector<std::size_t> order;
    std::vector<std::pair<std::size_t, std::size_t>> open;  // A node and its next input.
    const auto visit = [&](const std::string& name) -> Status {
      const auto maker = makers_.find(name);
      if (maker == makers_.end() || states[maker->second] == State::kDone) return {};
      if (states[maker->second] == State::kOpen) {
        return Error(ErrorKind::kCorrupt, "the graph has a circle through '" + name.substr(0, 200) + "'");
      }
      states[maker->second] = State::kOpen;
      open.emplace_back(maker->second, 0);
      return {};
    };
    if (graph_.nodes.size() > kMaxNodes) {
      return Error(ErrorKind::kUnsupported, "the graph has more than " + std::to_string(kMaxNodes) + " nodes");
    }
    WEIR_RETURN_IF_ERROR(visit(output));
    while (!open.empty()) {
      auto& [node, next] = open.back();
      const auto& names = graph_.nodes[node].inputs;
      if (next < names.size()) {
        const std::string& name = names[next++];
        WEIR_RETURN_IF_ERROR(visit(name));
        continue;
      }
      states[node] = State::kDone;
      order.push_back(node);
      open.pop_back();
    }
    return order;
  }

  /// Null: nothing of that name.
  const Value* find(const std::string& name) {
    const auto known = values_.find(name);
    if (known != values_.end()) return &known->second;
    auto value = given(name);
    if (!value) return nullptr;
    return &values_.emplace(name, std::move(*value)).first->second;
  }

  std::optional<Value> given(const std::string& name) const {
    if (const auto input = inputs_.find(name); input != inputs_.end()) {
      const std::vector<double>& numbers = input->second == Input::kIds    ? sample_.ids
                                           : input->second == Input::kMask ? sample_.mask
                                                                           : sample_.types;
      return Value(Constant(DataType::kInt64, {Sample::kBatch, Sample::kSequence}, numbers));
    }
    const auto tensor = graph_.initializers.find(name);
    if (tensor != graph_.initializers.end()) {
      auto constant = Constant::from(tensor->second);
      if (constant.ok()) return Value(std::move(*constant));
      return Value(Unknown{"'" + name.substr(0, 200) + "' (initializer)", constant.error().message});
    }
    const auto unreadable = graph_.unreadable.find(name);
    if (unreadable == graph_.unreadable.end()) return std::nullopt;
    return Value(Unknown{"'" + name.substr(0, 200) + "' (initializer)", unreadable->second});
  }

  void compute(const onnx::GraphNode& node) {
    std::vector<const Value*> inputs;
    std::optional<Unknown> stopped;
    for (const std::string& name : node.inputs) {
      inputs.push_back(name.empty() ? nullptr : find(name));
      if (name.empty() || stopped) continue;
      if (inputs.back() == nullptr) {
        stopped = Unknown{"", "input '" + name.substr(0, 200) + "' is made by nothing"};
      } else if (const auto* unknown = std::get_if<Unknown>(inputs.back())) {
        stopped = *unknown;
      }
    }
    const Call call(node, std::move(inputs), graph_.opset, sample_, meanings_);
    if (stopped && stopped->node.empty()) stopped->node = call.place();
    work_ += node_work(call);
    if (!stopped && work_ > kMaxWork) stopped = Unknown{call.place(), "the graph computes too much beside the encoder"};
    Outputs outputs = stopped ? Outputs(std::vector<Value>()) : run_handler(call);
    if (outputs.ok()) {
      for (const Value& value : *outputs) work_ += work_of(value);
    }
    if (!outputs.ok()) stopped = Unknown{call.place(), outputs.error().message};
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      Value value = Unknown{call.place(), "its output " + std::to_string(i) + " has no meaning here"};
      if (stopped) value = *stopped;
      const bool made = !stopped && outputs.ok() && i < outputs->size();
      if (made && !is_unnamed((*outputs)[i])) value = std::move((*outputs)[i]);
      values_.emplace(node.outputs[i], std::move(value));
    }
  }

  static std::int64_t node_work(const Call& call) {
    std::int64_t work = 1;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
      const auto value = call.value(i);
      if (value.ok()) work += work_of(**value);
    }
    return work;
  }

  static bool is_unnamed(const Value& value) {
    const auto* unknown = std::get_if<Unknown>(&value);
    return unknown != nullptr && unknown->node.empty();
  }

  static Outputs run_handler(const Call& call) {
    const Handler* handler = find_handler(call.node().domain, call.node().op);
    if (handler == nullptr) return unsupported("nothing is known of this operator");
    return handler->run(call);
  }

  const onnx::Graph& graph_;
  const Inputs& inputs_;
  const Sample sample_;
  Meanings& meanings_;
  std::int64_t work_ = 0;
  std::unordered_map<std::string, std::size_t> makers_;
  std::unordered_map<std::string, Value> values_;
};

}  // namespace

Result<Value> evaluate(const onnx::Graph& graph, const Inputs& inputs, const std::string& output, Meanings& meanings) {
  return Evaluation(graph, inputs, meanings).run(output);
}

}  // namespace weir::recognize
