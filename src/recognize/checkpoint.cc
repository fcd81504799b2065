#include "recognize/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "bundle/json_writer.h"

namespace weir::recognize {
namespace {

struct NamedTensor {
  std::string name;
  Dims dims;
  std::function<std::vector<float>()> values;
};

std::vector<float> as_floats(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

/// All of an encoder's tensors under the names that BERT's checkpoints, and ELECTRA's, give them.
class Tensors {
 public:
  explicit Tensors(const Encoder& encoder) : encoder_(encoder) {
    add("embeddings.word_embeddings.weight", encoder.words->dims(), [&] { return encoder_.words->floats(); });
    add("embeddings.position_embeddings.weight", {encoder.max_positions(), encoder.embedding_size()},
        [&] { return position_rows(); });
    if (encoder.types) {
      add("embeddings.token_type_embeddings.weight", encoder.types->dims(), [&] { return encoder_.types->floats(); });
    }
    norm("embeddings.LayerNorm", encoder.embedding_norm);
    if (encoder.embedding_projection) linear("embeddings_project", *encoder.embedding_projection);
    for (std::size_t i = 0; i < encoder.layers.size(); ++i) {
      const EncoderLayer& layer = encoder.layers[i];
      const std::string name = "encoder.layer." + std::to_string(i) + ".";
      linear(name + "attention.self.query", layer.query);
      linear(name + "attention.self.key", layer.key);
      linear(name + "attention.self.value", layer.value);
      linear(name + "attention.output.dense", layer.attention_output);
      norm(name + "attention.output.LayerNorm", layer.attention_norm);
      linear(name + "intermediate.dense", layer.intermediate);
      linear(name + "output.dense", layer.output);
      norm(name + "output.LayerNorm", layer.output_norm);
    }
  }

  const std::vector<NamedTensor>& all() const { return all_; }

 private:
  void add(std::string name, Dims dims, std::function<std::vector<float>()> values) {
    all_.push_back({std::move(name), std::move(dims), std::move(values)});
  }
  void norm(const std::string& name, const NormWeights& weights) {
    const Dims dims{static_cast<std::int64_t>(weights.gamma.size())};
    add(name + ".weight", dims, [&weights] { return as_floats(weights.gamma); });
    add(name + ".bias", dims, [&weights] { return as_floats(weights.beta); });
  }
  void linear(const std::string& name, const LinearWeights& weights) {
    const auto columns = static_cast<std::int64_t>(weights.columns.size());
    add(name + ".weight", {columns, weights.inputs()}, [&weights] { return weights.checkpoint_weights(); });
    add(name + ".bias", {columns}, [&weights] { return weights.checkpoint_bias(); });
  }

  /// From the row of the first position on.
  std::vector<float> position_rows() const {
    std::vector<float> rows = encoder_.positions->floats();
    const auto columns = static_cast<std::size_t>(encoder_.embedding_size());
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(columns) * encoder_.first_position);
    if (encoder_.position_row.empty()) return rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = static_cast<float>(static_cast<double>(rows[i]) + encoder_.position_row[i % columns]);
    }
    return rows;
  }

  const Encoder& encoder_;
  std::vector<NamedTensor> all_;
};

std::string number_text(double number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(number)).ptr;
  return {text, end};
}

std::string config_json(const Encoder& encoder, std::uint32_t pad_token_id) {
  const auto size = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  bundle::JsonWriter json;
  json.open('{');
  json.field("model_type", encoder.embedding_projection ? "electra" : "bert");
  json.field("embedding_size", size(encoder.embedding_size()));
  json.field("hidden_size", size(encoder.hidden_size));
  json.field("num_hidden_layers", static_cast<std::uint64_t>(encoder.layers.size()));
  json.field("num_attention_heads", size(encoder.heads));
  json.field("intermediate_size", size(encoder.intermediate_size));
  json.field("hidden_act", encoder.activation);
  json.key("layer_norm_eps");
  json.raw(number_text(encoder.epsilon));
  json.field("vocab_size", size(encoder.vocabulary_size()));
  json.field("max_position_embeddings", size(encoder.max_positions()));
  json.field("type_vocab_size", size(encoder.types ? encoder.types->dims()[0] : 0));
  json.field("pad_token_id", std::uint64_t{pad_token_id});
  json.close('}');
  return std::move(json).take();
}

std::string safetensors_header(const std::vector<NamedTensor>& tensors) {
  std::string header = "{";
  std::uint64_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    const std::uint64_t end = offset + static_cast<std::uint64_t>(element_count(tensor.dims)) * sizeof(float);
    header += (header.size() > 1 ? ",\"" : "\"") + tensor.name + R"(":{"dtype":"F32","shape":)" +
              dims_text(tensor.dims) + R"(,"data_offsets":[)" + std::to_string(offset) + "," + std::to_string(end) +
              "]}";
    offset = end;
  }
  header += "}";
  // Padded with spaces, as readers that map the file like the data aligned.
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

class OutputFile {
 public:
  explicit OutputFile(std::string path)
      : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb"), &std::fclose) {}

  bool write(const void* bytes, std::size_t size) {
    good_ = good_ && file_ != nullptr && std::fwrite(bytes, 1, size, file_.get()) == size;
    return good_;
  }
  Status finish() {
    if (good_ && file_ != nullptr && std::fflush(file_.get()) == 0) return {};
    return Error(ErrorKind::kIo, path_ + ": cannot be written", path_);
  }

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool good_ = true;
};

}  // namespace

Status write_checkpoint(const Encoder& encoder, std::uint32_t pad_token_id, const std::string& folder,
                        const std::function<bool()>& cancelled) {
  WEIR_RETURN_IF_ERROR(write_file(folder + "/config.json", config_json(encoder, pad_token_id)));
  const Tensors tensors(encoder);
  OutputFile file(folder + "/model.safetensors");
  const std::string header = safetensors_header(tensors.all());
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const NamedTensor& tensor : tensors.all()) {
    if (cancelled && cancelled()) return Error(ErrorKind::kCancelled, "interrupted");
    const std::vector<float> values = tensor.values();
    if (!file.write(values.data(), values.size() * sizeof(float))) break;
  }
  return file.finish();
}

}  // namespace weir::recognize
