// Every setting of `weir serve`, once: what the table in serve_settings.cc says about each becomes a flag, an
// environment variable, a key of weir.toml, a line of `--help` and a row of docs/settings.md.
#pragma once

#include <cstdint>
#include <string>

#include "settings/resolve.h"

namespace weir::settings {

/// The values in force. Made by serve_settings() only, which fills every field.
struct ServeSettings {
  // Listening
  std::string config;
  std::string host;
  std::int64_t port = 0;
  std::int64_t network_threads = 0;
  std::int64_t max_connections = 0;
  Duration header_timeout{};
  Duration body_timeout{};
  Duration write_timeout{};
  Duration idle_timeout{};
  Duration drain_timeout{};
  List api_keys;
  std::string api_key_file;

  // Models
  List models;
  std::string bundle_cache;
  bool self_test = false;

  // Admission
  std::int64_t permits = 0;
  std::int64_t waiting_room = 0;
  Duration max_wait{};
  Duration timeout{};  ///< Of a whole request; 0: as max_wait.
  std::string overload_status;

  // Requests
  Size max_body;
  std::int64_t max_inputs = 0;
  std::int64_t max_tokens = 0;
  std::int64_t max_answer_tokens = 0;
  std::string long_text;
  std::int64_t chunk_overlap = 0;
  std::string chunk_pooling;
  std::string long_text_status;

  // Batching
  Duration batch_window{};
  std::int64_t max_batch_requests = 0;
  std::int64_t max_batch_tokens = 0;

  // Computing
  std::int64_t instances = 0;
  std::int64_t threads = 0;
  std::int64_t tokenize_threads = 0;
  std::string pin;
  bool spinning = false;
  bool huge_pages = true;
  bool memory_pattern = false;
  Size arena_limit;

  // Memory and logs
  std::int64_t memory_release_rate = 0;
  std::string log_level;
  std::string log_format;
};

Table serve_table();

/// The switches of `weir serve` that are not settings.
inline constexpr std::string_view kHelpSwitch = "--help";
inline constexpr std::string_view kMarkdownSwitch = "--help-markdown";
inline constexpr std::string_view kPrintConfigSwitch = "--print-config";

/// resolve() with the table and usage of `weir serve`. `arguments` are those after "serve".
Result<Resolved> resolve_serve(std::span<const std::string> arguments, const Environment& environment);

/// The fields from what resolve_serve() gave.
ServeSettings serve_settings(const Resolved& resolved);

/// docs/settings.md, whole.
std::string serve_settings_page();

}  // namespace weir::settings
