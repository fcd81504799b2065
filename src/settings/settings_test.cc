// Flags, environment and file of a small table, and what comes out of all three together.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "settings/help.h"
#include "settings/resolve.h"

namespace weir::settings {
namespace {

const std::vector<Setting>& table() {
  static const std::vector<Setting> settings = {
      {"config", {Kind::kText}, "", "Files", "The file.", false, false},
      {"port", {Kind::kInteger, 0, 65535, {}}, "8080", "Listening", "The port."},
      {"max-wait", {Kind::kDuration, 0, 3'600'000, {}}, "60s", "Listening", "The wait."},
      {"max-body", {Kind::kSize, 1, 1 << 30, {}}, "8MiB", "Listening", "The body."},
      {"spinning", {Kind::kBool}, "false", "Computing", "Spins."},
      {"status", {Kind::kChoice, 0, 0, {"429", "503"}}, "429", "Computing", "One | or the other."},
      {"host", {Kind::kText}, "127.0.0.1", "Computing", "The host."},
      {"model", {Kind::kList}, "", "Computing", "Models."},
      {"api-key", {Kind::kList}, "", "Computing", "Keys.", true},
  };
  return settings;
}

constexpr std::array<std::string_view, 1> kSwitches = {"--help"};
constexpr std::array<std::string_view, 1> kOthers = {"WEIR_ISA"};
constexpr Usage kUsage = {"model", "config", kSwitches, kOthers};

using Arguments = std::vector<std::string>;

Result<Resolved> run(const Arguments& arguments, const Environment& environment = {}) {
  return resolve(table(), kUsage, arguments, environment);
}

std::string message_of(const Arguments& arguments, const Environment& environment = {}) {
  const Result<Resolved> result = run(arguments, environment);
  return result.ok() ? "no error" : result.error().message;
}

std::string value_of(const Result<Resolved>& resolved, std::string_view name) {
  return resolved.ok() ? format_value(resolved->entry(name).value) : resolved.error().message;
}

class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() : path_(::testing::TempDir() + "weir_settings_" + std::to_string(getpid()) + ".toml") {}
  ~ConfigFile() override { std::filesystem::remove(path_); }

  const std::string& write(const std::string& content) {
    std::ofstream(path_) << content;
    return path_;
  }
  std::string message(const std::string& content) { return message_of({"--config", write(content)}); }

  std::string path_;
};

TEST(Settings, Defaults) {
  const Result<Resolved> resolved = run({});
  EXPECT_EQ(value_of(resolved, "port"), "8080");
  EXPECT_EQ(value_of(resolved, "max-body"), "8MiB");
  EXPECT_EQ(value_of(resolved, "model"), "");
  EXPECT_EQ(resolved->entry("port").where, "default");
}

TEST(Settings, FlagsInEveryForm) {
  const Result<Resolved> resolved =
      run({"--port", "1", "--max-wait=5s", "--spinning", "a", "--model", "b", "--", "-c"});
  EXPECT_EQ(value_of(resolved, "port"), "1");
  EXPECT_EQ(value_of(resolved, "max-wait"), "5s");
  EXPECT_EQ(value_of(resolved, "spinning"), "true");
  EXPECT_EQ(value_of(resolved, "model"), "a,b,-c");
  EXPECT_EQ(resolved->entry("port").where, "--port");
  EXPECT_EQ(value_of(run({"--no-spinning"}), "spinning"), "false");
  EXPECT_EQ(value_of(run({"--spinning=off"}), "spinning"), "false");
  EXPECT_EQ(value_of(run({"--host="}), "host"), "");
  EXPECT_TRUE(run({"--help"})->has_switch("--help"));
  EXPECT_FALSE(run({})->has_switch("--help"));
}

TEST(Settings, WrongFlagsAreNamed) {
  EXPECT_EQ(message_of({"--prot", "1"}), "--prot: no such flag (did you mean --port?)");
  EXPECT_EQ(message_of({"--something-else"}), "--something-else: no such flag");
  EXPECT_EQ(message_of({"-p"}), "-p: no such flag");
  EXPECT_EQ(message_of({"--no-port"}), "--no-port: no such flag (did you mean --port?)");
  EXPECT_EQ(message_of({"--port"}), "--port: needs a value: an integer between 0 and 65535");
  EXPECT_EQ(message_of({"--port", "1", "--port", "2"}), "--port: given twice");
  EXPECT_EQ(message_of({"--help=1"}), "--help: takes no value");
  EXPECT_EQ(message_of({"--no-spinning=1"}).substr(0, 15), "--no-spinning: ");
  EXPECT_EQ(message_of({"--port", "x"}), "--port: 'x' is not allowed; it takes an integer between 0 and 65535");
  EXPECT_EQ(run({"--port", "x"}).error().where, "--port");
}

TEST(Settings, Environment) {
  const Result<Resolved> resolved =
      run({}, {{"WEIR_PORT", "9"}, {"WEIR_MODEL", "a, b"}, {"PATH", "/bin"}, {"WEIR_ISA", "avx2"}, {"WEIR_HOST", ""}});
  EXPECT_EQ(value_of(resolved, "port"), "9");
  EXPECT_EQ(value_of(resolved, "model"), "a,b");
  EXPECT_EQ(value_of(resolved, "host"), "127.0.0.1");
  EXPECT_EQ(resolved->entry("port").where, "WEIR_PORT");
}

TEST(Settings, WrongVariablesAreNamed) {
  EXPECT_EQ(message_of({}, {{"WEIR_PROT", "9"}}),
            "environment variable WEIR_PROT: no such setting (did you mean WEIR_PORT?)");
  EXPECT_EQ(message_of({}, {{"WEIR_PORT", "99999"}}),
            "WEIR_PORT: '99999' is not allowed; it takes an integer between 0 and 65535");
}

TEST(Settings, VariablesThatKubernetesMakesUpAreNotSettings) {
  const Result<Resolved> resolved = run({}, {{"WEIR_SERVICE_HOST", "10.0.0.1"},
                                             {"WEIR_SERVICE_PORT", "80"},
                                             {"WEIR_SERVICE_PORT_HTTP", "80"},
                                             {"WEIR_PORT", "tcp://10.0.0.1:80"},
                                             {"WEIR_PORT_80_TCP", "tcp://10.0.0.1:80"},
                                             {"WEIR_PORT_80_TCP_ADDR", "10.0.0.1"},
                                             {"WEIR_SMALL_SERVICE_HOST", "10.0.0.2"},
                                             {"WEIR_SMALL_PORT", "tcp://10.0.0.2:80"}});
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  EXPECT_EQ(value_of(resolved, "port"), "8080");
  ASSERT_EQ(resolved->warnings.size(), 1u);
  EXPECT_NE(resolved->warnings[0].find("WEIR_PORT=tcp://10.0.0.1:80"), std::string::npos);
  EXPECT_FALSE(run({}, {{"WEIR_PORT_X", "1"}}).ok());
}

TEST_F(ConfigFile, AllTypes) {
  const Result<Resolved> resolved =
      run({"--config", write("# comment\nport = 7\nmax-wait = \"500ms\"\nmax-body = 4096\n"
                             "spinning = true\nstatus = 503\nhost = \"::\"\n"
                             "model = [\"a\", \"b\"]\n")});
  EXPECT_EQ(value_of(resolved, "port"), "7");
  EXPECT_EQ(value_of(resolved, "max-wait"), "500ms");
  EXPECT_EQ(value_of(resolved, "max-body"), "4KiB");
  EXPECT_EQ(value_of(resolved, "spinning"), "true");
  EXPECT_EQ(value_of(resolved, "status"), "503");
  EXPECT_EQ(value_of(resolved, "model"), "a,b");
  EXPECT_EQ(resolved->entry("max-wait").where, path_ + ":3");
}

TEST_F(ConfigFile, Precedence) {
  const Environment environment = {{"WEIR_CONFIG", write("port = 1\nmax-wait = \"1s\"\nhost = \"a\"\nmodel = \"x\"\n")},
                                   {"WEIR_PORT", "2"},
                                   {"WEIR_MAX_WAIT", "2s"},
                                   {"WEIR_MODEL", "y"}};
  const Result<Resolved> resolved = run({"--port", "3", "z"}, environment);
  EXPECT_EQ(value_of(resolved, "port"), "3");
  EXPECT_EQ(value_of(resolved, "max-wait"), "2s");
  EXPECT_EQ(value_of(resolved, "host"), "a");
  EXPECT_EQ(value_of(resolved, "max-body"), "8MiB");
  EXPECT_EQ(value_of(resolved, "model"), "z");  // a list is replaced, not added to
  EXPECT_EQ(resolved->entry("max-wait").source, Source::kEnvironment);
  EXPECT_EQ(resolved->entry("host").source, Source::kFile);
}

TEST_F(ConfigFile, WrongFilesAreNamedWithTheLine) {
  const auto ends_with = [this](const std::string& content, const std::string& end) {
    const std::string text = message(content);
    EXPECT_TRUE(text.ends_with(end)) << text;
    EXPECT_TRUE(text.starts_with(path_ + ":")) << text;
  };
  ends_with("\nprot = 1\n", ":2: no setting 'prot' (did you mean port?)");
  ends_with("port = \"8080\"\n", ":1: 'port' takes an integer between 0 and 65535");
  ends_with("port = 8.5\n", ":1: 'port' takes an integer between 0 and 65535");
  ends_with("\n\nport = 70000\n", ":3: '70000' is not allowed; it takes an integer between 0 and 65535");
  ends_with("max-wait = 60\n", ":1: '60' is not allowed; it takes a duration in ms, s, m or h between 0 and 1h");
  ends_with("spinning = \"yes\"\n", ":1: 'spinning' takes true or false");
  ends_with("model = [1]\n", ":1: 'model' takes a list of texts, none empty");
  ends_with("model = [\"\"]\n", ":1: '' is not allowed; it takes a list of texts, none empty");
  ends_with("[server]\nport = 1\n", ":1: no section 'server'; settings stand at the top of the file");
  ends_with("config = \"other\"\n", ":1: 'config' cannot be set in a file");
  EXPECT_NE(message("port = \n").find(":1: not TOML: "), std::string::npos);
  EXPECT_NE(message("port = 1\nport = 2\n").find(":2: not TOML: "), std::string::npos);
  EXPECT_NE(message("host = \"\xFF\"\n").find("not TOML"), std::string::npos);
  EXPECT_NE(message("a = " + std::string(100000, '[')).find("not TOML"), std::string::npos);
  EXPECT_NE(message(std::string(2 << 20, '#')).find("limit"), std::string::npos);
}

TEST(Settings, AMissingFileIsNamed) {
  const Result<Resolved> resolved = run({"--config", "/nowhere/weir.toml"});
  ASSERT_FALSE(resolved.ok());
  EXPECT_EQ(resolved.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(resolved.error().message.find("/nowhere/weir.toml"), std::string::npos);
}

TEST(Settings, SecretsAreNeverShown) {
  const Result<Resolved> resolved = run({"--api-key", "hunter2", "--api-key", "swordfish"});
  ASSERT_TRUE(resolved.ok());
  const std::string text = print_config(*resolved);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_NE(text.find("# api-key: 2 set, not shown"), std::string::npos);
  EXPECT_EQ(message_of({"--api-key", ""}).find("''"), std::string::npos);
}

TEST_F(ConfigFile, WhatIsPrintedIsAFileThatGivesTheSame) {
  const Result<Resolved> first =
      run({"--port", "3", "--model", "a\"b\\c", "--host", "h #", "--spinning", "--max-wait=90s"});
  const Result<Resolved> second = run({"--config", write(print_config(*first))});
  ASSERT_TRUE(second.ok()) << second.error().message;
  for (std::size_t i = 1; i < first->entries.size(); ++i) {
    EXPECT_EQ(first->entries[i].value, second->entries[i].value) << first->entries[i].setting->name;
  }
}

TEST(Settings, HelpTellsEverySetting) {
  const std::string text = help_text(table());
  EXPECT_NE(text.find("\nListening:\n  --port N   WEIR_PORT   default: 8080\n      The port.\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("--status 429|503   WEIR_STATUS   default: 429"), std::string::npos);
  const std::string page = help_markdown(table());
  EXPECT_NE(page.find("| `--status` | `WEIR_STATUS` | `429` | one of 429, 503 | One \\| or the other. |"),
            std::string::npos)
      << page;
}

TEST(Settings, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Settings, ProcessEnvironmentIsRead) {
  setenv("WEIR_SETTINGS_TEST", "a=b", 1);
  const Environment environment = process_environment();
  unsetenv("WEIR_SETTINGS_TEST");
  EXPECT_NE(std::find(environment.begin(), environment.end(),
                      std::pair<std::string, std::string>("WEIR_SETTINGS_TEST", "a=b")),
            environment.end());
}

}  // namespace
}  // namespace weir::settings
