#include "perf/limits/memory_copy.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

// Between what the slowest machine copies and what no cache can do.
void expect_plausible(double bytes_per_second) {
  EXPECT_GT(bytes_per_second, 50e6);
  EXPECT_LT(bytes_per_second, 5e12);
}

TEST(MemoryCopy, IsMeasuredThroughMemoryAndForMessages) {
  expect_plausible(measure_memory_copy(0, 50 * kMillisecond));
  expect_plausible(measure_memory_copy(64 << 10, 20 * kMillisecond));
}

TEST(MemoryCopy, OfOneByteIsSlowerThanOfManyAtOnce) {
  EXPECT_LT(measure_memory_copy(1, 20 * kMillisecond),
            measure_memory_copy(16 << 10, 20 * kMillisecond));
}

TEST(MemoryCopy, KeepsToTheTimeGiven) {
  const Nanoseconds start = now();
  (void)measure_memory_copy(0, kMemoryCopyTime);
  // Five times as long: other programs may have the processors meanwhile.
  EXPECT_LT(now() - start, 5 * kMemoryCopyTime);
}

}  // namespace
}  // namespace gdr::perf
