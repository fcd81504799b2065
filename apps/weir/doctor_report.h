// What `weir doctor` says, as a function of the facts: a table for people or JSON for programs.
#pragma once

#include <string>

#include "base/cpu_features.h"
#include "base/machine.h"
#include "base/sizing.h"

namespace weir::cli {

struct DoctorFacts {
  Machine machine;
  Sizing sizing;
  cpu::Features enabled;  ///< Of machine.features, what WEIR_ISA leaves.
  std::string weir_version;
  std::string runtime_version;  ///< ONNX Runtime's.
  std::string allocator;
};

std::string doctor_text(const DoctorFacts& facts);

/// One JSON object and a line end. Its fields are described in docs/doctor.md.
std::string doctor_json(const DoctorFacts& facts);

}  // namespace weir::cli
