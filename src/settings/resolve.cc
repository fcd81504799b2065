#include "settings/resolve.h"

#include <algorithm>
#include <cassert>

#include "base/file.h"

namespace weir::settings {
namespace {

constexpr std::size_t kMaxConfigBytes = 1 << 20;

Result<Value> parse_given(const Given& given) {
  const Setting& setting = *given.setting;
  List list;
  for (const std::string& text : given.texts) {
    Result<Value> value = parse_value(setting.domain, text);
    if (!value.ok()) {
      const std::string what =
          setting.secret ? "is not allowed; it takes " + describe_domain(setting.domain) : value.error().message;
      return Error(ErrorKind::kInvalidArgument, given.where + ": " + what, given.where);
    }
    if (setting.domain.kind != Kind::kList) return value;
    list.push_back(std::move(std::get<List>(*value).front()));
  }
  return Value(std::move(list));
}

class Resolver {
 public:
  explicit Resolver(Table table) { out_.entries = defaults(table); }

  /// Later sources replace what earlier ones said.
  Status apply(const std::vector<Given>& givens, Source source) {
    for (const Given& given : givens) {
      WEIR_ASSIGN_OR_RETURN(Value value, parse_given(given));
      const auto entry = std::find_if(out_.entries.begin(), out_.entries.end(),
                                      [&given](const InForce& e) { return e.setting == given.setting; });
      *entry = {given.setting, std::move(value), source, given.where};
    }
    return {};
  }

  Resolved& out() { return out_; }

 private:
  Resolved out_;
};

/// The configuration file's name from the flags or else the environment.
std::string config_path(const Usage& usage, const FlagsGiven& flags, const EnvironmentGiven& environment) {
  std::string path;
  for (const std::vector<Given>* givens : {&environment.settings, &flags.settings}) {
    for (const Given& given : *givens) {
      if (given.setting->name == usage.config) path = given.texts.front();
    }
  }
  return path;
}

}  // namespace

const InForce& Resolved::entry(std::string_view name) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [name](const InForce& e) { return e.setting->name == name; });
  assert(found != entries.end() && "no setting of that name in the table");
  return *found;
}

bool Resolved::has_switch(std::string_view name) const {
  return std::find(switches.begin(), switches.end(), name) != switches.end();
}

std::vector<InForce> defaults(Table table) {
  std::vector<InForce> out;
  for (const Setting& setting : table) {
    Value value = List();
    if (setting.domain.kind != Kind::kList) {
      Result<Value> parsed = parse_value(setting.domain, setting.default_text);
      assert(parsed.ok() && "a setting's default is not allowed by the setting");
      value = std::move(*parsed);
    }
    out.push_back({&setting, std::move(value), Source::kDefault, "default"});
  }
  return out;
}

Result<Resolved> resolve(Table table, const Usage& usage, std::span<const std::string> arguments,
                         const Environment& environment) {
  WEIR_ASSIGN_OR_RETURN(FlagsGiven flags, read_flags(table, arguments, usage.positional, usage.switches));
  WEIR_ASSIGN_OR_RETURN(EnvironmentGiven variables, read_environment(table, environment, usage.other_variables));
  Resolver resolver(table);
  const std::string path = config_path(usage, flags, variables);
  if (!path.empty()) {
    Result<std::string> content = read_file(path, kMaxConfigBytes);
    if (!content.ok()) return Error(content.error().kind, "--config: " + content.error().message, "--config");
    WEIR_ASSIGN_OR_RETURN(const std::vector<Given> file, read_toml(table, *content, path));
    WEIR_RETURN_IF_ERROR(resolver.apply(file, Source::kFile));
  }
  WEIR_RETURN_IF_ERROR(resolver.apply(variables.settings, Source::kEnvironment));
  WEIR_RETURN_IF_ERROR(resolver.apply(flags.settings, Source::kFlag));
  resolver.out().switches = std::move(flags.switches);
  resolver.out().warnings = std::move(variables.warnings);
  return std::move(resolver.out());
}

}  // namespace weir::settings
