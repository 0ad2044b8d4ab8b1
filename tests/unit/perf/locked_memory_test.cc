#include "perf/locked_memory.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

TEST(LockedMemory, SaysWhatTheLimitIsAndWhatToType) {
  EXPECT_EQ(locked_memory_advice(ENOMEM, 1 << 20, 65536),
            "; the locked-memory limit is 65536 bytes: ulimit -l unlimited (for services, "
            "LimitMEMLOCK=infinity)");
  EXPECT_NE(locked_memory_advice(ENOMEM, 4096, 65536).find("other registrations"),
            std::string::npos);
}

TEST(LockedMemory, SaysNothingWhereAnotherThingWasInTheWay) {
  EXPECT_EQ(locked_memory_advice(EFAULT, 1 << 20, 65536), "");
  EXPECT_EQ(locked_memory_advice(ENOMEM, 1 << 20, RLIM_INFINITY), "");
}

}  // namespace
}  // namespace gdr::perf
