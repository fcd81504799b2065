// A pickle is a program for a machine with a stack and a memo. This one knows the instructions of a dictionary of
// tensors, and of callables only those that make one; nothing is imported or called.
#include "torch_file/pickle.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace weir::torch_file {
namespace {

constexpr std::size_t kMaxInstructions = 100'000;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxDimensions = 8;

struct Value;
using ValuePtr = std::shared_ptr<const Value>;

/// Immutable but for dictionaries under construction; shared, so that the memo copies nothing.
struct Value {
  enum class Kind { kMark, kNone, kBoolean, kInteger, kText, kTuple, kGlobal, kStorage, kTensor, kDictionary };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  std::string text{};  ///< Also a global's "module name".
  std::vector<ValuePtr> items{};
  Described tensor{};  ///< Of a storage: its type and key.
  std::size_t depth = 1;
};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  Result<std::map<std::string, Described>> run() {
    for (std::size_t count = 0; count < kMaxInstructions; ++count) {
      WEIR_ASSIGN_OR_RETURN(const std::uint8_t code, byte());
      if (code == '.') return result();
      WEIR_RETURN_IF_ERROR(step(code));
    }
    return corrupt("more instructions than a dictionary of tensors has");
  }

 private:
  using Kind = Value::Kind;

  Error corrupt(const std::string& what) const { return {ErrorKind::kCorrupt, name_ + ": data.pkl: " + what, name_}; }
  Error unsupported(const std::string& what) const {
    return {ErrorKind::kUnsupported, name_ + ": data.pkl: " + what + "; convert the file to safetensors", name_};
  }

  Status step(std::uint8_t code) {
    switch (code) {
      case 0x80:  // PROTO
        return skip(1);
      case 0x95:  // FRAME
        return skip(8);
      case '(':
        return push({.kind = Kind::kMark});
      case 'N':
        return push({.kind = Kind::kNone});
      case 0x88:
      case 0x89:
        return push({.kind = Kind::kBoolean, .integer = code == 0x88});
      case 'K':
        return push_integer(1);
      case 'M':
        return push_integer(2);
      case 'J':
        return push_integer(4);
      case 'X':
        return push_text(4);
      case 0x8c:
        return push_text(1);
      case 'c':
        return push_global();
      case 'q':
      case 'r':
        return memorize(code == 'q' ? 1 : 4);
      case 0x94:
        return memorize_next();
      case 'h':
      case 'j':
        return recall(code == 'h' ? 1 : 4);
      case ')':
        return push({.kind = Kind::kTuple});
      case '}':
        return push({.kind = Kind::kDictionary});
      case 't':
      case 0x85:
      case 0x86:
      case 0x87:
        return make_tuple(code);
      case 'Q':
        return make_storage();
      case 'R':
        return call();
      case 's':
      case 'u':
        return set_items(code == 's');
      case 'b':  // BUILD: attributes of an OrderedDict, such as _metadata, are no concern of ours.
        return drop();
      default:
        return unsupported("instruction " + std::to_string(code) + " is not of a dictionary of tensors");
    }
  }

  // ---- bytes

  Result<std::uint8_t> byte() {
    if (at_ >= bytes_.size()) return corrupt("cut off");
    return std::to_integer<std::uint8_t>(bytes_[at_++]);
  }
  Status skip(std::size_t count) {
    if (count > bytes_.size() - at_) return corrupt("cut off");
    at_ += count;
    return {};
  }
  Result<std::uint64_t> number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      WEIR_ASSIGN_OR_RETURN(const std::uint8_t next, byte());
      value |= std::uint64_t{next} << (8 * i);
    }
    return value;
  }
  Result<std::string> text(std::uint64_t count) {
    if (count > bytes_.size() - at_) return corrupt("cut off");
    const auto* first = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += count;
    return std::string(first, count);
  }
  Result<std::string> line() {
    std::string result;
    for (;;) {
      WEIR_ASSIGN_OR_RETURN(const std::uint8_t next, byte());
      if (next == '\n') return result;
      result.push_back(static_cast<char>(next));
    }
  }

  // ---- stack

  Status push(Value value) {
    for (const ValuePtr& item : value.items) value.depth = std::max(value.depth, item->depth + 1);
    if (value.depth > kMaxDepth) return corrupt("nests too deep");
    stack_.push_back(std::make_shared<const Value>(std::move(value)));
    return {};
  }
  Result<ValuePtr> pop() {
    if (stack_.empty()) return corrupt("takes what is not there");
    ValuePtr value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }
  Status drop() {
    WEIR_RETURN_IF_ERROR(pop());
    return {};
  }
  /// What stands above the last mark, which goes too.
  Result<std::vector<ValuePtr>> pop_to_mark() {
    std::vector<ValuePtr> items{};
    for (;;) {
      WEIR_ASSIGN_OR_RETURN(ValuePtr value, pop());
      if (value->kind == Kind::kMark) break;
      items.push_back(std::move(value));
    }
    std::reverse(items.begin(), items.end());
    return items;
  }

  Status push_integer(std::size_t bytes) {
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t value, number(bytes));
    const bool is_signed = bytes == 4;
    return push({.kind = Kind::kInteger,
                 .integer = is_signed ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                                      : static_cast<std::int64_t>(value)});
  }
  Status push_text(std::size_t length_bytes) {
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t length, number(length_bytes));
    WEIR_ASSIGN_OR_RETURN(std::string value, text(length));
    return push({.kind = Kind::kText, .text = std::move(value)});
  }
  Status push_global() {
    WEIR_ASSIGN_OR_RETURN(const std::string module, line());
    WEIR_ASSIGN_OR_RETURN(const std::string global, line());
    return push({.kind = Kind::kGlobal, .text = module + " " + global});
  }

  Status memorize(std::size_t bytes) {
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t index, number(bytes));
    if (stack_.empty()) return corrupt("remembers what is not there");
    memo_[index] = stack_.back();
    return {};
  }
  Status memorize_next() {
    if (stack_.empty()) return corrupt("remembers what is not there");
    memo_[memo_.size()] = stack_.back();
    return {};
  }
  Status recall(std::size_t bytes) {
    WEIR_ASSIGN_OR_RETURN(const std::uint64_t index, number(bytes));
    const auto found = memo_.find(index);
    if (found == memo_.end()) return corrupt("recalls what was never remembered");
    stack_.push_back(found->second);
    return {};
  }

  Status make_tuple(std::uint8_t code) {
    std::vector<ValuePtr> items{};
    if (code == 't') {
      WEIR_ASSIGN_OR_RETURN(items, pop_to_mark());
    } else {
      for (int i = 0; i <= code - 0x85; ++i) {
        WEIR_ASSIGN_OR_RETURN(ValuePtr item, pop());
        items.insert(items.begin(), std::move(item));
      }
    }
    return push({.kind = Kind::kTuple, .items = std::move(items)});
  }

  /// ("storage", torch FloatStorage, "0", "cpu", 1024).
  Status make_storage() {
    WEIR_ASSIGN_OR_RETURN(const ValuePtr id, pop());
    const auto& items = id->items;
    const bool fits = id->kind == Kind::kTuple && items.size() >= 3 && items[0]->text == "storage" &&
                      items[1]->kind == Kind::kGlobal && items[2]->kind == Kind::kText;
    if (!fits) return unsupported("a reference that is no tensor's storage");
    Value storage{.kind = Kind::kStorage};
    storage.tensor.storage_type = items[1]->text;
    storage.tensor.key = items[2]->text;
    return push(std::move(storage));
  }

  Status call() {
    WEIR_ASSIGN_OR_RETURN(const ValuePtr arguments, pop());
    WEIR_ASSIGN_OR_RETURN(const ValuePtr callable, pop());
    if (callable->kind != Kind::kGlobal || arguments->kind != Kind::kTuple) return corrupt("calls what is no function");
    if (callable->text == "collections OrderedDict") return push({.kind = Kind::kDictionary});
    if (callable->text == "torch._utils _rebuild_tensor_v2") return make_tensor(arguments->items);
    const bool is_wrapped = callable->text == "torch._utils _rebuild_parameter" && !arguments->items.empty();
    if (is_wrapped) return push(*arguments->items.front());
    return unsupported("it calls '" + callable->text.substr(0, 100) + "'");
  }

  /// (storage, first element, shape, strides, …).
  Status make_tensor(const std::vector<ValuePtr>& items) {
    const bool fits = items.size() >= 4 && items[0]->kind == Kind::kStorage && items[1]->kind == Kind::kInteger &&
                      items[1]->integer >= 0;
    if (!fits) return corrupt("a tensor's description is malformed");
    Value tensor{.kind = Kind::kTensor};
    tensor.tensor = items[0]->tensor;
    tensor.tensor.first = static_cast<std::uint64_t>(items[1]->integer);
    WEIR_ASSIGN_OR_RETURN(tensor.tensor.shape, sizes(*items[2]));
    WEIR_ASSIGN_OR_RETURN(tensor.tensor.strides, sizes(*items[3]));
    if (tensor.tensor.shape.size() != tensor.tensor.strides.size()) return corrupt("a tensor's strides do not fit");
    return push(std::move(tensor));
  }
  Result<std::vector<std::uint64_t>> sizes(const Value& value) const {
    if (value.kind != Kind::kTuple || value.items.size() > kMaxDimensions)
      return corrupt("a tensor's shape is malformed");
    std::vector<std::uint64_t> result;
    for (const ValuePtr& item : value.items) {
      if (item->kind != Kind::kInteger || item->integer < 0) return corrupt("a tensor's shape is malformed");
      result.push_back(static_cast<std::uint64_t>(item->integer));
    }
    return result;
  }

  /// Every tensor goes to the result: a state_dict is the only dictionary that holds any.
  Status set_items(bool single) {
    std::vector<ValuePtr> items{};
    if (single) {
      WEIR_ASSIGN_OR_RETURN(ValuePtr value, pop());
      WEIR_ASSIGN_OR_RETURN(ValuePtr key, pop());
      items = {std::move(key), std::move(value)};
    } else {
      WEIR_ASSIGN_OR_RETURN(items, pop_to_mark());
    }
    if (stack_.empty() || stack_.back()->kind != Kind::kDictionary || items.size() % 2 != 0) {
      return corrupt("sets items of what is no dictionary");
    }
    for (std::size_t i = 0; i < items.size(); i += 2) {
      if (items[i + 1]->kind != Kind::kTensor) continue;
      if (items[i]->kind != Kind::kText) return corrupt("a tensor has no name");
      tensors_[items[i]->text] = items[i + 1]->tensor;
    }
    return {};
  }

  Result<std::map<std::string, Described>> result() {
    if (stack_.size() != 1 || stack_.back()->kind != Kind::kDictionary) {
      return unsupported("it holds something else than a dictionary of tensors");
    }
    return std::move(tensors_);
  }

  std::span<const std::byte> bytes_;
  std::string name_;
  std::size_t at_ = 0;
  std::vector<ValuePtr> stack_;
  std::map<std::uint64_t, ValuePtr> memo_;
  std::map<std::string, Described> tensors_;
};

}  // namespace

Result<std::map<std::string, Described>> read_pickle(std::span<const std::byte> bytes, const std::string& name) {
  return Machine(bytes, name).run();
}

}  // namespace weir::torch_file
