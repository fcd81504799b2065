// weir tokenize: texts to token ids with offsets and special-token masks, or ids to text, one JSON object a line.
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <simdjson.h>

#include "apps/weir/command.h"
#include "bundle/json_writer.h"
#include "tokenizers/tokenizer.h"

namespace weir::cli {
namespace {

using tokenizers::EncodeOptions;
using tokenizers::Encoding;
using tokenizers::PairTruncation;
using tokenizers::Tokenizer;

struct Options {
  std::string tokenizer;
  std::vector<std::string> files;
  std::string format = "auto";
  bool decode = false;
  bool keep_special_tokens = false;
  EncodeOptions encode;
};

/// One line of the input.
struct Record {
  std::string text;
  std::string pair;
  bool is_pair = false;
  std::vector<std::int32_t> ids;
};

void append_number(std::string& out, std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

template <class Values, class Append>
void append_array(std::string& out, const char* key, const Values& values, Append append) {
  out += out.empty() ? "{\"" : ",\"";
  out.append(key).append("\":[");
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ',';
    first = false;
    append(value);
  }
  out += ']';
}

std::string encoding_line(const Tokenizer& tokenizer, const Encoding& encoding) {
  std::string out;
  const auto number = [&](std::int64_t value) { append_number(out, value); };
  append_array(out, "ids", encoding.ids, number);
  append_array(out, "tokens", encoding.ids,
               [&](std::int32_t id) { append_json_string(out, tokenizer.id_to_token(id)); });
  append_array(out, "type_ids", encoding.type_ids, number);
  append_array(out, "offsets", encoding.offsets, [&](const tokenizers::Offset& offset) {
    out += '[';
    append_number(out, offset.begin);
    out += ',';
    append_number(out, offset.end);
    out += ']';
  });
  append_array(out, "special", encoding.special, number);
  return out += '}';
}

Error bad_record(const std::string& what) {
  return {ErrorKind::kInvalidArgument,
          what +
              ": a line is a string, or an object with \"text\" (and \"pair\") or \"base64\" (and \"pair_base64\"); "
              "with --decode an array of ids, or an object with \"ids\""};
}

Result<std::string> from_base64(std::string_view encoded) {
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  while (!encoded.empty() && encoded.back() == '=') encoded.remove_suffix(1);
  for (const char c : encoded) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<std::uint32_t>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      value = static_cast<std::uint32_t>(c - '0' + 52);
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else
      return bad_record("not base64");
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 0xFF);
    }
  }
  return bytes;
}

/// A text under `key`, or its bytes under `base64_key`.
Result<bool> read_text(const simdjson::dom::object& object, const char* key, const char* base64_key, std::string& out) {
  std::string_view value;
  if (object.at_key(key).get_string().get(value) == simdjson::SUCCESS) {
    out = value;
    return true;
  }
  if (object.at_key(base64_key).get_string().get(value) != simdjson::SUCCESS) return false;
  WEIR_ASSIGN_OR_RETURN(out, from_base64(value));
  return true;
}

Result<std::vector<std::int32_t>> read_ids(const simdjson::dom::element& element) {
  simdjson::dom::array array;
  if (element.get_array().get(array) != simdjson::SUCCESS) return bad_record("no array of ids");
  std::vector<std::int32_t> ids;
  for (const simdjson::dom::element item : array) {
    std::uint64_t id = 0;
    if (item.get_uint64().get(id) != simdjson::SUCCESS || id > INT32_MAX) return bad_record("an id is no whole number");
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

Result<Record> read_record(simdjson::dom::parser& parser, const std::string& line, bool decode) {
  simdjson::dom::element element;
  if (const auto code = parser.parse(line).get(element); code != simdjson::SUCCESS) {
    return bad_record(std::string("not JSON (") + simdjson::error_message(code) + ")");
  }
  Record record;
  simdjson::dom::object object;
  const bool is_object = element.get_object().get(object) == simdjson::SUCCESS;
  if (decode) {
    simdjson::dom::element ids = element;
    if (is_object && object.at_key("ids").get(ids) != simdjson::SUCCESS) return bad_record("no \"ids\"");
    WEIR_ASSIGN_OR_RETURN(record.ids, read_ids(ids));
    return record;
  }
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) {
    record.text = text;
    return record;
  }
  if (!is_object) return bad_record("neither a string nor an object");
  WEIR_ASSIGN_OR_RETURN(const bool has_text, read_text(object, "text", "base64", record.text));
  if (!has_text) return bad_record("no \"text\"");
  WEIR_ASSIGN_OR_RETURN(record.is_pair, read_text(object, "pair", "pair_base64", record.pair));
  return record;
}

Result<std::string> answer(const Tokenizer& tokenizer, const Options& options, const Record& record) {
  if (options.decode) {
    WEIR_ASSIGN_OR_RETURN(const std::string text, tokenizer.decode(record.ids, !options.keep_special_tokens));
    std::string out = "{\"text\":";
    append_json_string(out, text);
    return out += '}';
  }
  WEIR_ASSIGN_OR_RETURN(const Encoding encoding, record.is_pair
                                                     ? tokenizer.encode_pair(record.text, record.pair, options.encode)
                                                     : tokenizer.encode(record.text, options.encode));
  return encoding_line(tokenizer, encoding);
}

/// Answers every line of `in`; how many could not be answered.
std::size_t run_stream(const Tokenizer& tokenizer, const Options& options, std::istream& in, bool is_jsonl) {
  simdjson::dom::parser parser;
  std::size_t failures = 0;
  std::string line;
  while (std::getline(in, line)) {
    Result<Record> record = is_jsonl ? read_record(parser, line, options.decode) : Record{line, {}, false, {}};
    Result<std::string> out = record.ok() ? answer(tokenizer, options, *record) : Result<std::string>(record.error());
    if (!out.ok()) {
      ++failures;
      std::string message = "{\"error\":";
      append_json_string(message, out.error().message);
      out = message + "}";
    }
    *out += '\n';
    std::fwrite(out->data(), 1, out->size(), stdout);
  }
  return failures;
}

int run_files(const Tokenizer& tokenizer, const Options& options) {
  std::size_t failures = 0;
  const auto is_jsonl = [&](const std::string& name) {
    return options.format == "jsonl" || (options.format == "auto" && (options.decode || name.ends_with(".jsonl")));
  };
  if (options.files.empty()) failures += run_stream(tokenizer, options, std::cin, is_jsonl("-"));
  for (const std::string& name : options.files) {
    if (name == "-") {
      failures += run_stream(tokenizer, options, std::cin, is_jsonl(name));
      continue;
    }
    std::ifstream in(name, std::ios::binary);
    if (!in) return fail("tokenize", Error(ErrorKind::kNotFound, name + ": cannot be opened", name));
    failures += run_stream(tokenizer, options, in, is_jsonl(name));
  }
  if (std::fflush(stdout) != 0) return fail("tokenize", Error(ErrorKind::kIo, "standard output cannot be written"));
  if (failures == 0) return kExitOk;
  return fail("tokenize", Error(ErrorKind::kTokenizer, std::to_string(failures) + " lines could not be answered: see "
                                                                                  "\"error\" in the output"));
}

const std::map<std::string, PairTruncation> kPairTruncations = {{"longest_first", PairTruncation::kLongestFirst},
                                                                {"only_first", PairTruncation::kOnlyFirst},
                                                                {"only_second", PairTruncation::kOnlySecond}};

void define_flags(CLI::App& app, Options& options, std::string& side) {
  app.add_option("files", options.files, "Files to read; none, or -: standard input");
  app.add_option("--tokenizer", options.tokenizer, "A tokenizer.json, or a bundle")->required();
  app.add_option("--input-format", options.format, "auto: jsonl for files named *.jsonl and with --decode, else text")
      ->check(CLI::IsMember({"auto", "text", "jsonl"}))
      ->capture_default_str();
  app.add_option("--max-tokens", options.encode.max_tokens, "Truncate to this many tokens, special ones included");
  app.add_option("--truncation-side", side, "Which end of a long text is cut off")
      ->check(CLI::IsMember({"left", "right"}))
      ->capture_default_str();
  app.add_option("--pair-truncation", options.encode.pair_truncation, "Which text of a pair is cut off")
      ->transform(CLI::Transformer(kPairTruncations))
      ->option_text("longest_first (the default)|only_first|only_second");
  app.add_flag("--no-special-tokens{false}", options.encode.add_special_tokens, "Add no special tokens");
  app.add_flag("--decode", options.decode, "Turn ids into text");
  app.add_flag("--keep-special-tokens", options.keep_special_tokens, "With --decode: do not leave special tokens out");
}

}  // namespace

int run_tokenize(int argc, char** argv) {
  Options options;
  options.encode.with_offsets = true;
  std::string side = "right";
  CLI::App app("Token ids, offsets (in code points) and special tokens of texts, one JSON object a line.",
               "weir tokenize");
  define_flags(app, options, side);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (side == "left") options.encode.truncation_side = tokenizers::Side::kLeft;
  std::error_code ignored;
  std::string path = options.tokenizer;
  if (std::filesystem::is_directory(path, ignored)) path += "/tokenizer.json";
  const auto tokenizer = Tokenizer::from_file(path);
  if (!tokenizer.ok()) return fail("tokenize", tokenizer.error());
  std::ios::sync_with_stdio(false);
  return run_files(**tokenizer, options);
}

}  // namespace weir::cli
