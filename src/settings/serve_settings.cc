#include "settings/serve_settings.h"

#include <array>
#include <variant>

#include "settings/help.h"

namespace weir::settings {
namespace {

using Field = std::variant<std::int64_t ServeSettings::*, Size ServeSettings::*, Duration ServeSettings::*,
                           bool ServeSettings::*, std::string ServeSettings::*, List ServeSettings::*>;

struct Row {
  Setting setting;
  Field field;
};

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kKib = 1 << 10;
constexpr std::int64_t kGib = 1 << 30;

Domain integer(std::int64_t min, std::int64_t max) { return {Kind::kInteger, min, max, {}}; }
Domain size(std::int64_t min, std::int64_t max) { return {Kind::kSize, min, max, {}}; }
Domain duration(std::int64_t min, std::int64_t max) { return {Kind::kDuration, min, max, {}}; }
Domain choice(std::vector<std::string_view> words) { return {Kind::kChoice, 0, 0, std::move(words)}; }
Domain boolean() { return {Kind::kBool, 0, 0, {}}; }
Domain text() { return {Kind::kText, 0, 0, {}}; }
Domain list() { return {Kind::kList, 0, 0, {}}; }

std::vector<Row> listening() {
  constexpr std::string_view kSection = "Listening";
  using S = ServeSettings;
  return {
      {{"config", text(), "", kSection, "A TOML file with settings, such as weir.toml: max-wait = \"60s\".", false,
        false},
       &S::config},
      {{"host", text(), "127.0.0.1", kSection,
        "The address to listen on. 0.0.0.0 or :: listens on all networks: set an API key then."},
       &S::host},
      {{"port", integer(0, 65535), "8080", kSection, "The port to listen on. 0 takes a free one and prints it."},
       &S::port},
      {{"network-threads", integer(0, 256), "0", kSection,
        "Threads that read requests and write answers. 0: cores / 8, between 1 and 4."},
       &S::network_threads},
      {{"max-connections", integer(1, 1'000'000), "10000", kSection,
        "Connections at once. One more is answered 503 and closed."},
       &S::max_connections},
      {{"header-timeout", duration(1, kHour), "10s", kSection, "From a request's first byte to the end of its header."},
       &S::header_timeout},
      {{"body-timeout", duration(1, kHour), "30s", kSection,
        "From the end of a request's header to the end of its body."},
       &S::body_timeout},
      {{"write-timeout", duration(1, kHour), "30s", kSection, "How long a client may take no byte of an answer."},
       &S::write_timeout},
      {{"idle-timeout", duration(1, 24 * kHour), "75s", kSection,
        "How long a connection may stay open without a request."},
       &S::idle_timeout},
      {{"drain-timeout", duration(0, kHour), "30s", kSection,
        "After SIGTERM, how long requests that were taken may still run."},
       &S::drain_timeout},
      {{"api-key", list(), "", kSection,
        "Clients must send one of these as 'Authorization: Bearer KEY'. Flags are seen by every user of the machine: "
        "better set the variable or --api-key-file. None: no key is asked for.",
        true},
       &S::api_keys},
      {{"api-key-file", text(), "", kSection, "A file with an API key on each line; added to those of --api-key."},
       &S::api_key_file},
  };
}

std::vector<Row> models() {
  constexpr std::string_view kSection = "Models";
  using S = ServeSettings;
  return {
      {{"model", list(), "", kSection,
        "A bundle's folder, or a model of the hub (org/name[@revision]), or NAME= and one of these to give it another "
        "name. May be given several times, also without the flag; the first is the default for requests that name "
        "none."},
       &S::models},
      {{"bundle-cache", text(), "", kSection,
        "The folder for bundles made of models of the hub. Empty: weir/bundles in XDG_CACHE_HOME or ~/.cache."},
       &S::bundle_cache},
      {{"self-test", boolean(), "true", kSection,
        "Before a model is ready, compare what it computes with the vectors that its bundle carries."},
       &S::self_test},
  };
}

std::vector<Row> admission() {
  constexpr std::string_view kSection = "Admission";
  using S = ServeSettings;
  return {
      {{"permits", integer(1, 100'000), "200", kSection, "Requests in work at once."}, &S::permits},
      {{"waiting-room", integer(0, 1'000'000), "100", kSection,
        "Requests that may wait for a permit. More are refused."},
       &S::waiting_room},
      {{"max-wait", duration(1, 24 * kHour), "60s", kSection,
        "The longest wait for a permit. A request that waited longer is answered 504."},
       &S::max_wait},
      {{"timeout", duration(0, 24 * kHour), "0", kSection,
        "The longest time for a request from its arrival to its answer, unless the client asks for less by "
        "X-Request-Timeout-Ms. 0: as --max-wait."},
       &S::timeout},
      {{"overload-status", choice({"429", "503"}), "429", kSection,
        "The status of refusals when the waiting room is full."},
       &S::overload_status},
  };
}

std::vector<Row> requests() {
  constexpr std::string_view kSection = "Requests";
  using S = ServeSettings;
  return {
      {{"max-body", size(kKib, kGib), "8MiB", kSection, "The largest body. Larger ones are answered 413."},
       &S::max_body},
      {{"max-inputs", integer(1, 1'000'000), "2048", kSection, "Texts in a request."}, &S::max_inputs},
      {{"max-tokens", integer(0, 1'000'000), "0", kSection,
        "Tokens per text, special ones included. May only lower the model's own limit. 0: the model's."},
       &S::max_tokens},
      {{"max-answer-tokens", integer(1, 100'000'000), "1000000", kSection,
        "Tokens in an answer of /tokenize, which takes some 60 bytes for each. More are answered 413."},
       &S::max_answer_tokens},
      {{"long-text", choice({"truncate", "reject", "chunk"}), "truncate", kSection,
        "What happens to texts with more tokens, unless the request says it. chunk: an embedding is computed of "
        "windows "
        "that overlap, and their vectors become one; other tasks truncate."},
       &S::long_text},
      {{"chunk-overlap", integer(0, 1'000'000), "64", kSection,
        "Tokens that a window of a long text shares with the one before it; at most half a window."},
       &S::chunk_overlap},
      {{"chunk-pooling", choice({"mean", "max"}), "mean", kSection,
        "How the vectors of windows become one: mean, in which a window counts as often as it has tokens, or max."},
       &S::chunk_pooling},
      {{"long-text-status", choice({"422", "413", "400"}), "422", kSection, "The status when such a text is rejected."},
       &S::long_text_status},
  };
}

std::vector<Row> batching() {
  constexpr std::string_view kSection = "Batching";
  using S = ServeSettings;
  return {
      {{"batch-window", duration(0, kMinute), "5ms", kSection,
        "How long a text may wait for others to share its batch, when no instance is idle. A full batch does not "
        "wait."},
       &S::batch_window},
      {{"max-batch-requests", integer(1, 4096), "32", kSection, "Texts in a batch."}, &S::max_batch_requests},
      {{"max-batch-tokens", integer(0, 10'000'000), "0", kSection,
        "Tokens in a batch, padding included. 0: chosen by weir."},
       &S::max_batch_tokens},
  };
}

std::vector<Row> computing() {
  constexpr std::string_view kSection = "Computing";
  using S = ServeSettings;
  return {
      {{"instances", integer(0, 1024), "0", kSection,
        "Copies of a model that compute at the same time. 0: physical cores / 2, at most 6, less when memory is short; "
        "`weir "
        "doctor` tells."},
       &S::instances},
      {{"threads", integer(0, 1024), "0", kSection, "Threads of each instance. 0: cores / instances, between 1 and 4."},
       &S::threads},
      {{"tokenize-threads", integer(0, 256), "0", kSection, "Threads that tokenize. 0: cores / 4, between 1 and 4."},
       &S::tokenize_threads},
      {{"pin", choice({"auto", "on", "off"}), "auto", kSection,
        "Keep each computing thread on a CPU of its own. auto: on large machines without a CPU quota."},
       &S::pin},
      {{"spinning", boolean(), "false", kSection,
        "Idle computing threads spin: a little less latency, and a machine that is never idle."},
       &S::spinning},
      {{"huge-pages", boolean(), "true", kSection,
        "Weights of packed models are copied into huge pages at start, where the system has them: 1 to 5 % faster. "
        "Off: "
        "they stay in the mapped file, whose memory several processes share."},
       &S::huge_pages},
      {{"memory-pattern", boolean(), "false", kSection,
        "ONNX Runtime plans the memory of each batch shape and keeps the plan: for models of few shapes."},
       &S::memory_pattern},
      {{"arena-limit", size(0, 1024 * kGib), "0", kSection,
        "The most memory of an instance's arena. 0: half of the memory, divided by the instances."},
       &S::arena_limit},
  };
}

std::vector<Row> memory_and_logs() {
  constexpr std::string_view kSection = "Memory and logs";
  using S = ServeSettings;
  return {
      {{"memory-release-rate", integer(0, 10), "5", kSection,
        "How eagerly the allocator gives free memory back to the system: 0 never, 10 at once."},
       &S::memory_release_rate},
      {{"log-level", choice({"debug", "info", "warn", "error", "off"}), "info", kSection,
        "The least important lines to log."},
       &S::log_level},
      {{"log-format", choice({"text", "json"}), "text", kSection, "Log lines for people or for programs."},
       &S::log_format},
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> out;
    for (const auto& section :
         {listening(), models(), admission(), requests(), batching(), computing(), memory_and_logs()}) {
      out.insert(out.end(), section.begin(), section.end());
    }
    return out;
  }();
  return all;
}

}  // namespace

Table serve_table() {
  static const std::vector<Setting> settings = [] {
    std::vector<Setting> out;
    for (const Row& row : rows()) out.push_back(row.setting);
    return out;
  }();
  return settings;
}

Result<Resolved> resolve_serve(std::span<const std::string> arguments, const Environment& environment) {
  static constexpr std::array<std::string_view, 4> kSwitches = {kHelpSwitch, "-h", kMarkdownSwitch, kPrintConfigSwitch};
  // Read by base/cpu_features, in every command.
  static constexpr std::array<std::string_view, 1> kOtherVariables = {"WEIR_ISA"};
  return resolve(serve_table(), {"model", "config", kSwitches, kOtherVariables}, arguments, environment);
}

ServeSettings serve_settings(const Resolved& resolved) {
  ServeSettings out;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const Value& value = resolved.entries[i].value;
    std::visit([&out, &value](auto field) { out.*field = std::get<std::decay_t<decltype(out.*field)>>(value); },
               rows()[i].field);
  }
  return out;
}

std::string serve_settings_page() {
  return "# Settings of `weir serve`\n\n"
         "Made by `weir serve --help-markdown > docs/settings.md` from the table in "
         "`src/settings/serve_settings.cc`.\n\n"
         "Each setting may be given as a flag, as an environment variable, or as a key of the TOML file that "
         "`--config` "
         "names;\nthe first of these that does wins. `weir serve --print-config` shows the values in force and where "
         "each "
         "came from.\nA name that is no setting, or a value that is not allowed, is an error, wherever it stands.\n\n"
         "- A flag takes its value as `--max-wait 60s` or `--max-wait=60s`. Booleans: `--spinning`, `--no-spinning`.\n"
         "- In the file, a key is the flag without its dashes: `max-wait = \"60s\"`, `port = 8080`.\n"
         "- Lists: the flag several times; commas in the variable; an array in the file.\n"
         "- Sizes: `8MiB` (B, KiB, MiB, GiB, TiB). Durations: `500ms`, `60s`, `5m`, `2h`.\n"
         "- `WEIR_ISA` is no setting of the server: it restricts the instruction sets that weir may use, for tests.\n"
         "- Kubernetes' variables for services named `weir…` (`WEIR_SERVICE_HOST`, `WEIR_PORT=tcp://…`) are not "
         "settings.\n" +
         help_markdown(serve_table());
}

}  // namespace weir::settings
