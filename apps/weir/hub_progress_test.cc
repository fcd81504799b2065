#include "apps/weir/hub_progress.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(HubProgressLine, SaysHowFarItIs) {
  const hub::Progress progress = {"model.safetensors", 9, 9, 50'000'000, 10'000'000, 100'000'000};
  EXPECT_EQ(hub_progress_line(progress, 4), "model.safetensors (9 of 9)  50 %  50.0 of 100.0 MB  10.0 MB/s  ETA 0:05");
}

TEST(HubProgressLine, HasNoRateBeforeTheFirstByte) {
  EXPECT_EQ(hub_progress_line({"a", 1, 2, 5, 5, 10}, 1), "a (1 of 2)  50 %  0.0 of 0.0 MB");
  EXPECT_EQ(hub_progress_line({"a", 1, 2, 0, 0, 0}, 0), "a (1 of 2)  0 %  0.0 of 0.0 MB");
}

}  // namespace
}  // namespace weir::cli
