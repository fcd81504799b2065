#include "huggingface/modules.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace weir::huggingface {
namespace {

namespace fs = std::filesystem;

/// "Pooling" of "sentence_transformers.models.Pooling" and "sentence_transformers.….pooling.Pooling", and "Dense" of
/// "pylate.models.Dense.Dense"; empty when the type is not one of those libraries.
std::string module_kind(const std::string& type) {
  std::string kind = type.substr(type.rfind('.') + 1);
  if (type.starts_with("sentence_transformers.") || (type.starts_with("pylate.") && kind == "Dense")) return kind;
  return {};
}

bool stays_inside(const std::string& path) {
  const fs::path relative = path;
  return relative.is_relative() && path.find('\0') == std::string::npos &&
         std::none_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
}

/// Takes the parts one by one. Each works on what the one before it made, so that another order is another model.
class ModuleList {
 public:
  Status add(const JsonObject& object) {
    WEIR_ASSIGN_OR_RETURN(const auto type, object.text("type"));
    WEIR_ASSIGN_OR_RETURN(const auto path, object.text("path"));
    if (!type) return object.error("type", "missing");
    if (!stays_inside(path.value_or(""))) {
      return object.error("path", "'" + *path + "' leads out of the model's folder");
    }
    const std::string kind = module_kind(*type);
    if (!take(kind, path.value_or(""))) {
      return object.error(
          "type",
          "'" + *type +
              "' is not supported; weir has Transformer, MLMTransformer, Pooling, SpladePooling, Dense, "
              "MultiVectorMask and Normalize",
          ErrorKind::kUnsupported);
    }
    if (in_order_) return {};
    return object.error("type", "'" + kind + "' stands there twice or out of order", ErrorKind::kUnsupported);
  }

  Result<Modules> finish(const std::string& path) && {
    if (!has_transformer_) return Error(ErrorKind::kUnsupported, path + ": no Transformer among its modules", path);
    if (modules_.token_mask && !modules_.interact_late()) {
      return Error(ErrorKind::kUnsupported, path + ": a MultiVectorMask without a Dense for tokens is not supported",
                   path);
    }
    return std::move(modules_);
  }

 private:
  /// False: weir has no such part.
  bool take(const std::string& kind, const std::string& path) {
    if (kind == "Transformer" || kind == "MLMTransformer") {
      in_order_ = !has_transformer_ && !has_followers();
      has_transformer_ = true;
      modules_.transformer = path;
    } else if (kind == "Pooling" || kind == "SpladePooling") {
      in_order_ = has_transformer_ && !has_followers();
      modules_.pooling = path;
      modules_.pools_words = kind == "SpladePooling";
    } else if (kind == "Dense") {
      in_order_ = has_transformer_ && !modules_.pools_words && !modules_.token_mask && !modules_.normalize;
      modules_.dense.push_back(path);
    } else if (kind == "MultiVectorMask") {
      in_order_ = has_transformer_ && !modules_.token_mask && !modules_.pooling;
      modules_.token_mask = path;
    } else if (kind == "Normalize") {
      in_order_ = has_transformer_ && !modules_.normalize;
      modules_.normalize = path;
    } else {
      return false;
    }
    return true;
  }

  bool has_followers() const {
    return modules_.pooling || !modules_.dense.empty() || modules_.token_mask || modules_.normalize;
  }

  Modules modules_;
  bool has_transformer_ = false;
  bool in_order_ = true;  ///< The part that was taken last.
};

}  // namespace

Result<Modules> read_modules(const std::vector<JsonObject>& objects, const std::string& path) {
  ModuleList list;
  for (const JsonObject& object : objects) WEIR_RETURN_IF_ERROR(list.add(object));
  return std::move(list).finish(path);
}

}  // namespace weir::huggingface
