#include <algorithm>

#include "settings/setting.h"

namespace weir::settings {
namespace {

class FlagReader {
 public:
  FlagReader(Table table, std::string_view positional, std::span<const std::string_view> switches)
      : table_(table), positional_(positional), switches_(switches) {}

  Result<FlagsGiven> read(std::span<const std::string> arguments) {
    bool only_positional = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      if (!only_positional && argument == "--") {
        only_positional = true;
      } else if (only_positional || !argument.starts_with('-') || argument == "-") {
        WEIR_RETURN_IF_ERROR(take_positional(argument));
      } else {
        const std::string* next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
        WEIR_ASSIGN_OR_RETURN(const bool took_next, take_flag(argument, next));
        if (took_next) ++i;
      }
    }
    return std::move(out_);
  }

 private:
  static Error wrong(const std::string& flag, const std::string& what) {
    return {ErrorKind::kInvalidArgument, flag + ": " + what, flag};
  }

  Status take_positional(const std::string& argument) {
    if (positional_.empty()) return wrong(argument, "unexpected argument");
    return give(*find_setting(table_, positional_), argument, "the command line");
  }

  /// True when the flag's value was the next argument.
  Result<bool> take_flag(const std::string& argument, const std::string* next) {
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const std::string value = has_value ? argument.substr(equals + 1) : std::string();
    if (std::find(switches_.begin(), switches_.end(), flag) != switches_.end()) {
      if (has_value) return wrong(flag, "takes no value");
      out_.switches.push_back(flag);
      return false;
    }
    const Setting* setting = flag.starts_with("--") ? find_setting(table_, flag.substr(2)) : nullptr;
    if (setting == nullptr) return take_negated(flag, has_value);
    if (setting->domain.kind == Kind::kBool && !has_value) {
      WEIR_RETURN_IF_ERROR(give(*setting, "true", flag));
      return false;
    }
    if (!has_value && next == nullptr) return wrong(flag, "needs a value: " + describe_domain(setting->domain));
    WEIR_RETURN_IF_ERROR(give(*setting, has_value ? value : *next, flag));
    return !has_value;
  }

  Result<bool> take_negated(const std::string& flag, bool has_value) {
    constexpr std::string_view kNo = "--no-";
    const Setting* setting = flag.starts_with(kNo) ? find_setting(table_, flag.substr(kNo.size())) : nullptr;
    if (setting == nullptr || setting->domain.kind != Kind::kBool || has_value) {
      return wrong(flag, "no such flag" + suggestion(table_, flag, flag_name));
    }
    WEIR_RETURN_IF_ERROR(give(*setting, "false", flag));
    return false;
  }

  Status give(const Setting& setting, const std::string& text, const std::string& where) {
    const auto earlier = std::find_if(out_.settings.begin(), out_.settings.end(),
                                      [&setting](const Given& given) { return given.setting == &setting; });
    if (earlier == out_.settings.end()) {
      out_.settings.push_back({&setting, {text}, where});
    } else if (setting.domain.kind == Kind::kList) {
      earlier->texts.push_back(text);
    } else {
      return wrong(where, "given twice");
    }
    return {};
  }

  Table table_;
  std::string_view positional_;
  std::span<const std::string_view> switches_;
  FlagsGiven out_;
};

}  // namespace

Result<FlagsGiven> read_flags(Table table, std::span<const std::string> arguments, std::string_view positional,
                              std::span<const std::string_view> switches) {
  return FlagReader(table, positional, switches).read(arguments);
}

}  // namespace weir::settings
