#include "serve/engine/instance.h"

#include <algorithm>
#include <utility>

namespace weir::serve::engine {
namespace {

constexpr std::size_t kShortText = 16;  ///< Tokens of the first warm-up run.

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const auto extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

Status check_input(const session::TensorInfo& input, const bundle::Bundle& bundle) {
  const std::string& path = bundle.model_path();
  const bool packed = bundle.manifest.layout == bundle::Layout::kPacked;
  const bool known = input.name == "input_ids" || input.name == (packed ? "offsets" : "attention_mask") ||
                     (input.name == "token_type_ids" && bundle.manifest.has_token_type_ids) ||
                     (input.name == "keys" && packed && bundle.manifest.unattended_tokens() > 0);
  if (!known) {
    return Error(ErrorKind::kCorrupt,
                 path + ": the graph wants the input '" + input.name + "', which weir.json does not", path);
  }
  if (input.type != "int64" || input.shape.size() != (packed ? 1 : 2)) {
    return Error(ErrorKind::kUnsupported,
                 path + ": input '" + input.name + "' is " + input.type + " " + shape_text(input.shape) +
                     "; weir feeds int64 " + (packed ? "[tokens]" : "[batch, sequence]"),
                 path);
  }
  if (std::any_of(input.shape.begin(), input.shape.end(), [](std::int64_t extent) { return extent >= 0; })) {
    return Error(ErrorKind::kUnsupported,
                 path + ": input '" + input.name + "' has the fixed shape " + shape_text(input.shape) +
                     "; export the model with a free batch and sequence",
                 path);
  }
  return {};
}

Status check_output(const session::Session& session, const bundle::Bundle& bundle, const std::string& name,
                    std::size_t rank, std::uint32_t width) {
  const std::string& path = bundle.model_path();
  const auto& outputs = session.outputs();
  const auto output = std::find_if(outputs.begin(), outputs.end(), [&](const auto& info) { return info.name == name; });
  if (output == outputs.end()) {
    return Error(ErrorKind::kCorrupt, path + ": the graph has no output '" + name + "', which weir.json names", path);
  }
  const bool fits = output->type == "float" && output->shape.size() == rank &&
                    (output->shape.back() < 0 || output->shape.back() == std::int64_t{width});
  if (!fits) {
    return Error(ErrorKind::kCorrupt,
                 path + ": output '" + output->name + "' is " + output->type + " " + shape_text(output->shape) +
                     "; weir.json says float with " + std::to_string(rank) + " axes, the last one " +
                     std::to_string(width),
                 path);
  }
  return {};
}

Status check_graph(const session::Session& session, const bundle::Bundle& bundle) {
  for (const auto& input : session.inputs()) WEIR_RETURN_IF_ERROR(check_input(input, bundle));
  const bundle::Manifest& manifest = bundle.manifest;
  const bool has_sequences =
      manifest.output == bundle::Output::kTokenVectors && manifest.layout == bundle::Layout::kPadded;
  WEIR_RETURN_IF_ERROR(check_output(session, bundle, manifest.output_name, has_sequences ? 3 : 2, manifest.width()));
  if (manifest.token_output_name.empty()) return {};
  return check_output(session, bundle, manifest.token_output_name, 2, manifest.token_width());
}

}  // namespace

BatchShape bounded_shape(BatchShape largest, std::size_t most_tokens) {
  const std::size_t tokens = std::max<std::size_t>(most_tokens, 1);
  BatchShape shape;
  shape.columns = std::clamp<std::size_t>(largest.columns, 1, tokens);
  shape.rows = std::clamp<std::size_t>(tokens / shape.columns, 1, std::max<std::size_t>(largest.rows, 1));
  return shape;
}

Instance::Instance(const bundle::Bundle& bundle, PackedSessions sessions, std::size_t regular_tokens)
    : place_(bundle.model_path()),
      manifest_(bundle.manifest),
      session_(std::move(sessions.narrow)),
      wide_session_(std::move(sessions.wide)),
      regular_tokens_(regular_tokens) {}

Result<Instance::PackedSessions> Instance::load_packed(const bundle::Bundle& bundle,
                                                       const session::Options& narrow_options,
                                                       const session::Options& wide_options,
                                                       session::SharedWeights& weights) {
  PackedSessions sessions;
  WEIR_ASSIGN_OR_RETURN(sessions.narrow, session::Session::load(bundle.model_path(), narrow_options, &weights));
  WEIR_RETURN_IF_ERROR(check_graph(*sessions.narrow, bundle));
  if (wide_options.intra_op_threads > 1) {
    WEIR_ASSIGN_OR_RETURN(sessions.wide, session::Session::load(bundle.model_path(), wide_options, &weights));
  }
  return sessions;
}

Result<std::unique_ptr<Instance>> Instance::load(const bundle::Bundle& bundle, const session::Options& options,
                                                 session::SharedWeights& weights, std::size_t regular_tokens) {
  WEIR_ASSIGN_OR_RETURN(auto session, session::Session::load(bundle.model_path(), options, &weights));
  WEIR_RETURN_IF_ERROR(check_graph(*session, bundle));
  return std::make_unique<Instance>(bundle, PackedSessions{std::move(session), nullptr}, regular_tokens);
}

void Instance::pad(std::span<const tokenizers::Encoding* const> texts, std::size_t columns) {
  const std::size_t cells = texts.size() * columns;
  input_ids_.assign(cells, manifest_.pad_token_id);
  attention_mask_.assign(cells, 0);
  token_type_ids_.assign(manifest_.has_token_type_ids ? cells : 0, 0);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto& text = *texts[row];
    const auto at = static_cast<std::ptrdiff_t>(row * columns);
    std::copy(text.ids.begin(), text.ids.end(), input_ids_.begin() + at);
    std::fill_n(attention_mask_.begin() + at, text.ids.size() - text.unattended_tokens, 1);
    if (manifest_.has_token_type_ids && text.type_ids.size() == text.ids.size()) {
      std::copy(text.type_ids.begin(), text.type_ids.end(), token_type_ids_.begin() + at);
    }
  }
}

void Instance::pack(std::span<const tokenizers::Encoding* const> texts) {
  const bool takes_keys = manifest_.unattended_tokens() > 0;
  input_ids_.clear();
  token_type_ids_.clear();
  keys_.clear();
  offsets_.assign(1, 0);
  for (const auto* text : texts) {
    input_ids_.insert(input_ids_.end(), text->ids.begin(), text->ids.end());
    offsets_.push_back(static_cast<std::int64_t>(input_ids_.size()));
    if (takes_keys) keys_.push_back(static_cast<std::int64_t>(text->ids.size() - text->unattended_tokens));
    if (!manifest_.has_token_type_ids) continue;
    if (text->type_ids.size() == text->ids.size()) {
      token_type_ids_.insert(token_type_ids_.end(), text->type_ids.begin(), text->type_ids.end());
    } else {
      token_type_ids_.resize(input_ids_.size(), 0);
    }
  }
}

Result<HiddenRows> Instance::compute(std::span<const tokenizers::Encoding* const> texts, Wanted wanted) {
  std::size_t columns = 1;
  for (const auto* text : texts) columns = std::max(columns, text->ids.size());
  if (manifest_.layout == bundle::Layout::kPacked) {
    pack(texts);
  } else {
    pad(texts, columns);
  }
  return run(wanted, texts.size(), columns);
}

std::vector<std::string> Instance::output_names(Wanted wanted) const {
  if (manifest_.token_output_name.empty() || !wanted.tokens) return {manifest_.output_name};
  if (!wanted.texts) return {manifest_.token_output_name};
  return {manifest_.output_name, manifest_.token_output_name};
}

Status Instance::check_shape(const session::Tensor& output, const std::string& name,
                             const std::vector<std::int64_t>& wanted) const {
  if (std::equal(wanted.begin(), wanted.end(), output.shape().begin(), output.shape().end())) return {};
  return Error(
      ErrorKind::kBackend,
      place_ + ": output '" + name + "' has shape " + shape_text(output.shape()) + " instead of " + shape_text(wanted),
      place_);
}

Result<HiddenRows> Instance::run(Wanted wanted, std::size_t rows, std::size_t columns) {
  release();
  session::Session& session = wanted.wide && wide_session_ != nullptr ? *wide_session_ : *session_;
  const session::Batch batch{rows, columns, input_ids_, attention_mask_, token_type_ids_, offsets_, keys_};
  const bool shrink = input_ids_.size() > regular_tokens_;
  const std::vector<std::string> names = output_names(wanted);
  WEIR_ASSIGN_OR_RETURN(outputs_, session.run(batch, names, shrink));
  const auto texts = static_cast<std::int64_t>(rows);
  const auto tokens = static_cast<std::int64_t>(input_ids_.size());
  HiddenRows result;
  result.rows = rows;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_first = names[i] == manifest_.output_name;
    const std::uint32_t width = is_first ? manifest_.width() : manifest_.token_width();
    if (is_first && manifest_.output == bundle::Output::kTextVectors) {
      WEIR_RETURN_IF_ERROR(check_shape(outputs_[i], names[i], {texts, width}));
      result.values = outputs_[i].values();
      result.hidden = width;
    } else if (manifest_.layout == bundle::Layout::kPadded) {
      WEIR_RETURN_IF_ERROR(check_shape(outputs_[i], names[i], {texts, static_cast<std::int64_t>(columns), width}));
      result.values = outputs_[i].values();
      result.columns = columns;
      result.hidden = width;
    } else {
      WEIR_RETURN_IF_ERROR(check_shape(outputs_[i], names[i], {tokens, width}));
      result.token_values = outputs_[i].values();
      result.token_hidden = width;
      result.offsets = offsets_;
    }
  }
  return result;
}

Result<Clock::duration> Instance::timed_run(BatchShape shape, bool wide) {
  tokenizers::Encoding text;
  text.ids.assign(shape.columns, static_cast<std::int32_t>(manifest_.pad_token_id));
  const std::vector<const tokenizers::Encoding*> texts(shape.rows, &text);
  const auto begin = Clock::now();
  const auto rows = compute(texts, {.wide = wide});
  release();
  if (!rows.ok()) return rows.error();
  return Clock::now() - begin;
}

Status Instance::warm_up(BatchShape largest, Clock::duration limit, bool wide) {
  const BatchShape small = bounded_shape({1, std::min(kShortText, largest.columns)}, kShortText);
  WEIR_RETURN_IF_ERROR(timed_run(small, wide));  // reads the weights, starts the threads
  WEIR_ASSIGN_OR_RETURN(const Clock::duration took, timed_run(small, wide));
  const auto per_token = std::max<Clock::duration>(took / static_cast<int>(small.tokens()), Clock::duration(1));
  const BatchShape shape = bounded_shape(largest, static_cast<std::size_t>(limit / per_token));
  const auto run = timed_run(shape, wide);
  if (!run.ok()) {
    Error error = run.error();
    error.message = "warm-up of a batch of " + std::to_string(shape.rows) + " texts of " +
                    std::to_string(shape.columns) + " tokens failed: " + error.message;
    return error;
  }
  return {};
}

}  // namespace weir::serve::engine
