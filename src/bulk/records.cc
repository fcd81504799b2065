#include "bulk/records.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "bulk/csv.h"
#include "bulk/lines.h"

namespace weir::bulk {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

InputFormat format_of(const std::string& file) {
  const std::string_view name = file;
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) return InputFormat::kJsonl;
  return name.ends_with(".csv") ? InputFormat::kCsv : InputFormat::kText;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::optional<InputFormat> input_format_from_name(std::string_view name) {
  if (name == "txt") return InputFormat::kText;
  if (name == "jsonl") return InputFormat::kJsonl;
  if (name == "csv") return InputFormat::kCsv;
  return std::nullopt;
}

struct RecordReader::Impl {
  std::vector<std::string> files;
  RecordOptions options;
  std::optional<std::uint64_t> total = 0;
  std::uint64_t finished_bytes = 0;

  std::size_t current = 0;  ///< In `files`.
  std::optional<Lines> lines;
  InputFormat format = InputFormat::kText;
  std::size_t column = 0;   ///< Of the text in a CSV row.
  std::size_t columns = 0;  ///< Of the header.
  simdjson::dom::parser parser;

  std::string name() const { return files[current] == "-" ? "stdin" : files[current]; }
  Status open_current();
  void close_current();
  Status read_header();
  Result<bool> next_line(Record& record);
  Result<bool> next_row(Record& record);
  std::string lines_of(const Record& record) const;
  void take_json(Record& record);
  void take_row(Record& record);
};

Status RecordReader::Impl::open_current() {
  WEIR_ASSIGN_OR_RETURN(lines, Lines::open(files[current], options.max_record_bytes, options.stop));
  format = options.format.value_or(format_of(files[current]));
  if (format == InputFormat::kCsv) return read_header();
  return {};
}

void RecordReader::Impl::close_current() {
  finished_bytes += lines->bytes_read();
  lines.reset();
  ++current;
}

/// The next line into `record.text`, or why it cannot be read.
Result<bool> RecordReader::Impl::next_line(Record& record) {
  WEIR_ASSIGN_OR_RETURN(const bool more, lines->next(record.text));
  if (!more) return false;
  record.problem.clear();
  record.file = name();
  record.line = lines->number();
  if (lines->too_long()) {
    record.problem = "longer than the limit of " + std::to_string(options.max_record_bytes) + " bytes";
  } else if (record.line == 1 && record.text.starts_with(kByteOrderMark)) {
    record.text.erase(0, kByteOrderMark.size());
  }
  return true;
}

/// As next_line, with the lines that a quoted field goes on in.
Result<bool> RecordReader::Impl::next_row(Record& record) {
  WEIR_ASSIGN_OR_RETURN(const bool more, next_line(record));
  if (!more) return false;
  Record rest;
  CsvRowScanner row;
  row.add_line(record.text);
  while (record.problem.empty() && row.is_open()) {
    WEIR_ASSIGN_OR_RETURN(const bool open_ended, next_line(rest));
    record.text += '\n';
    record.text += rest.text;
    row.add_line(rest.text);
    if (!open_ended || !rest.problem.empty() || record.text.size() > options.max_record_bytes) {
      record.problem = "a quoted field is not closed" + lines_of(record);
    }
  }
  return true;
}

/// Where a broken row ends, if it went over lines: all of these are lost with it.
std::string RecordReader::Impl::lines_of(const Record& record) const {
  const std::uint64_t last = lines->number();
  if (last <= record.line) return "";
  return "; the row went on from line " + std::to_string(record.line) + " to line " + std::to_string(last);
}

Status RecordReader::Impl::read_header() {
  Record header;
  WEIR_ASSIGN_OR_RETURN(const bool more, next_row(header));
  if (!more) return {};  // an empty file has no rows
  const auto fields = header.problem.empty() ? csv_fields(header.text) : std::nullopt;
  if (!fields) return Error(ErrorKind::kInvalidArgument, header.place() + ": the header is not a CSV row", name());
  const auto found = std::find(fields->begin(), fields->end(), options.field);
  if (found == fields->end()) {
    return Error(ErrorKind::kInvalidArgument,
                 name() + ": no column '" + options.field + "'; it has: " + joined(*fields) + "; name one with --field",
                 "--field");
  }
  column = static_cast<std::size_t>(found - fields->begin());
  columns = fields->size();
  return {};
}

void RecordReader::Impl::take_row(Record& record) {
  auto fields = csv_fields(record.text);
  if (!fields) {
    record.problem = "not a CSV row: a quote stands inside of a field" + lines_of(record);
  } else if (fields->size() != columns) {
    record.problem = "has " + std::to_string(fields->size()) + " fields; the header has " + std::to_string(columns) +
                     lines_of(record);
  } else {
    record.text = std::move((*fields)[column]);
  }
}

void RecordReader::Impl::take_json(Record& record) {
  simdjson::dom::element element;
  if (const auto code = parser.parse(record.text).get(element)) {
    record.problem = std::string("not valid JSON: ") + simdjson::error_message(code);
    return;
  }
  std::string_view text;
  if (element.get(text)) {
    simdjson::dom::object object;
    if (element.get(object)) {
      record.problem = "neither a JSON object nor a string";
      return;
    }
    simdjson::dom::element field;
    if (object.at_key(options.field).get(field)) {
      record.problem = "has no field '" + options.field + "'";
      return;
    }
    if (field.get(text)) {
      record.problem = "field '" + options.field + "' is not a string";
      return;
    }
  }
  record.text = text;
}

RecordReader::RecordReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordReader::~RecordReader() = default;

Result<std::unique_ptr<RecordReader>> RecordReader::open(std::vector<std::string> files, RecordOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->files = files.empty() ? std::vector<std::string>{"-"} : std::move(files);
  impl->options = std::move(options);
  for (const auto& file : impl->files) {
    WEIR_ASSIGN_OR_RETURN(const Lines lines, Lines::open(file, impl->options.max_record_bytes));
    if (impl->total && lines.size()) {
      *impl->total += *lines.size();
    } else {
      impl->total.reset();
    }
  }
  if (std::count(impl->files.begin(), impl->files.end(), "-") > 1) {
    return Error(ErrorKind::kInvalidArgument, "standard input (-) is named twice", "FILE");
  }
  return std::unique_ptr<RecordReader>(new RecordReader(std::move(impl)));
}

Result<bool> RecordReader::next(Record& record) {
  Impl& impl = *impl_;
  while (impl.current < impl.files.size()) {
    if (!impl.lines) WEIR_RETURN_IF_ERROR(impl.open_current());
    WEIR_ASSIGN_OR_RETURN(const bool more,
                          impl.format == InputFormat::kCsv ? impl.next_row(record) : impl.next_line(record));
    if (!more) {
      impl.close_current();
      continue;
    }
    if (record.problem.empty() && impl.format == InputFormat::kCsv) impl.take_row(record);
    if (record.problem.empty() && impl.format == InputFormat::kJsonl) impl.take_json(record);
    if (record.problem.empty() && record.text.empty()) record.problem = "the text is empty";
    return true;
  }
  return false;
}

std::uint64_t RecordReader::bytes_read() const {
  return impl_->finished_bytes + (impl_->lines ? impl_->lines->bytes_read() : 0);
}

std::optional<std::uint64_t> RecordReader::total_bytes() const { return impl_->total; }

}  // namespace weir::bulk
