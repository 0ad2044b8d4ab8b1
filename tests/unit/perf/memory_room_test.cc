#include "perf/memory_room.h"

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

TEST(HostMemory, IsRefusedBeforeTheKernelEndsTheProcess) {
  EXPECT_TRUE(check_host_memory(1 << 20, 1 << 20));
  EXPECT_TRUE(check_host_memory(1 << 20, 0)) << "nobody knows";
  const Result<void> room = check_host_memory(std::uint64_t{64} << 30, std::uint64_t{3} << 29);
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code, ENOMEM);
  EXPECT_EQ(room.error().message,
            "64.0 GiB of host memory are needed, and 1.5 GiB are free: smaller --sizes or fewer "
            "--queue-pairs");
  EXPECT_GT(available_memory(), std::uint64_t{1} << 20);
}

TEST(LockedMemory, SaysNothingWhereAnotherThingWasInTheWay) {
  EXPECT_EQ(locked_memory_advice(EFAULT, 1 << 20, 65536), "");
  EXPECT_EQ(locked_memory_advice(ENOMEM, 1 << 20, RLIM_INFINITY), "");
}

}  // namespace
}  // namespace gdr::perf
