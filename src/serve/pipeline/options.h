// The pipeline's options: checked, and turned into those of each stage.
#pragma once

#include "base/result.h"
#include "serve/admission/gate.h"
#include "serve/models/model.h"
#include "serve/pipeline/pipeline.h"
#include "serve/tokenize/tokenize.h"

namespace weir::serve {

/// kInvalidArgument names the flag.
Status check_options(const PipelineOptions& options);

admission::Options admission_options_of(const PipelineOptions& options);
tokenize::Options tokenize_options_of(const PipelineOptions& options);
models::ModelOptions model_options_of(const PipelineOptions& options);

}  // namespace weir::serve
