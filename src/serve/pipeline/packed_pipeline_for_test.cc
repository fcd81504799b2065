#include "serve/pipeline/packed_pipeline_for_test.h"

#include "importer/importer.h"

namespace weir::serve {

void PackedPipeline::import(const Source& source) {
  importer::Options options;
  options.source = source.folder;
  options.target = folder_ + "/bundle";
  options.precision = source.precision;
  options.weir_version = "0";
  if (source.is_sparse) options.overrides.task = bundle::Task::kSparse;
  if (!source.says_all) {
    options.overrides.max_tokens = 38;
    options.overrides.pooling = bundle::Pooling::kCls;
    options.overrides.normalize = true;
  }
  const auto summary = importer::import_model(options);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  ASSERT_EQ(summary->manifest.layout, bundle::Layout::kPacked);
}

}  // namespace weir::serve
