#include "importer/packing.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/cpu_features.h"

namespace weir::importer {
namespace {

namespace fs = std::filesystem;

Status move_graph(const std::string& from, const std::string& to) {
  for (const char* file : {"/model.onnx", "/model.weights"}) {
    std::error_code code;
    fs::rename(from + file, to + file, code);
    if (code) return Error(ErrorKind::kIo, to + file + ": cannot be written: " + code.message(), to + file);
  }
  return {};
}

/// The precisions to try, best first.
std::vector<std::string> candidates(const std::string& precision) {
  if (precision == "auto") return {"int8", "bf16", "fp32"};
  return {precision};
}

class Packer {
 public:
  Packer(const PackingRequest& request, bundle::Manifest& manifest) : request_(request), manifest_(manifest) {}

  Result<Packing> run() {
    const bool is_ordered = request_.precision == "int8" || request_.precision == "bf16";
    for (const std::string& precision : candidates(request_.precision)) {
      if (!is_ordered) {
        WEIR_ASSIGN_OR_RETURN(const std::string against, reason_against(precision));
        if (!against.empty()) {
          add_reason(against);
          continue;
        }
      }
      auto taken = try_precision(precision, is_ordered);
      std::error_code code;
      fs::remove_all(folder(), code);
      if (!taken.ok() && !is_ordered && taken.error().kind == ErrorKind::kUnsupported) {
        add_reason(taken.error().message);
        break;  // another precision is no way round it
      }
      if (!taken.ok()) return taken.error();
      if (*taken) return packing_;
    }
    add_reason("so fp32, padded");
    return packing_;
  }

 private:
  std::string folder() const { return request_.conversion.folder + "/packed"; }

  void add_reason(const std::string& reason) { packing_.reason += (packing_.reason.empty() ? "" : "; ") + reason; }

  Result<bool> try_precision(const std::string& precision, bool is_ordered) {
    WEIR_RETURN_IF_ERROR(request_.step("writing the packed " + precision + " graph"));
    ConversionRequest conversion = request_.conversion;
    conversion.folder = folder();
    conversion.precision = precision;
    if (precision == "fp32") conversion.attention = "fp32";  // what auto falls back to
    conversion.packed = true;
    std::error_code code;
    fs::create_directory(conversion.folder, code);
    WEIR_ASSIGN_OR_RETURN(Conversion packed, convert_checkpoint(conversion));
    packed.manifest.vocabulary_size = manifest_.vocabulary_size;
    WEIR_RETURN_IF_ERROR(request_.step("comparing it with padded fp32"));
    const Candidate reference{request_.conversion.folder, manifest_};
    WEIR_ASSIGN_OR_RETURN(packing_.agreement, compare_precisions({conversion.folder, packed.manifest}, reference,
                                                                 *request_.tokenizer, request_.conversion.cancelled));
    const bool agrees = packing_.agreement->good(precision);
    add_reason(precision +
               (agrees ? " agrees with fp32" : " is further from fp32 than " + packing_.agreement->asked(precision)));
    if (!agrees && !is_ordered) return false;
    WEIR_RETURN_IF_ERROR(move_graph(conversion.folder, reference.folder));
    packed.manifest.lineage.steps.front() += "; " + packing_.agreement->text();
    manifest_ = packed.manifest;
    return true;
  }

  const PackingRequest& request_;
  bundle::Manifest& manifest_;
  Packing packing_;
};

}  // namespace

Status check_precision(const std::string& precision) {
  for (const char* known : {"fp32", "bf16", "int8", "auto"}) {
    if (precision == known) return {};
  }
  return Error(ErrorKind::kInvalidArgument, "--precision: '" + precision + "' is none of fp32, bf16, int8 and auto",
               "--precision");
}

Result<std::string> reason_against(const std::string& precision) {
  WEIR_ASSIGN_OR_RETURN(const cpu::Features features, cpu::enabled());
  using cpu::Feature;
  const bool multiplies_bytes =
      features.has(Feature::kAvx512Vnni) || features.has(Feature::kAvxVnni) || features.has(Feature::kAmxInt8);
  const bool multiplies_halves = features.has(Feature::kAmxBf16) || features.has(Feature::kAvx512Bf16);
  if (precision == "int8" && !multiplies_bytes) return std::string("this CPU has no VNNI and no AMX for int8");
  if (precision == "bf16" && !multiplies_halves) return std::string("this CPU has no instructions for bf16");
  if (precision == "fp32" && !features.has(Feature::kAvx2)) return std::string("this CPU has no AVX2");
  return std::string();
}

Result<Packing> pack(const PackingRequest& request, bundle::Manifest& manifest) {
  return Packer(request, manifest).run();
}

}  // namespace weir::importer
