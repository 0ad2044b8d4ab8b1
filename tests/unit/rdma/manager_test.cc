#include "rdma/manager.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace gdr::rdma {
namespace {

TEST(Manager, SaysWhatIsMissingWhereTheKernelHasNone) {
  if (access("/dev/infiniband/rdma_cm", F_OK) == 0) GTEST_SKIP() << "this kernel has one";
  const Result<Manager> manager = Manager::open();
  ASSERT_FALSE(manager);
  const std::string text = manager.error().message;
  if (manager.error().code == ENOENT) {
    EXPECT_NE(text.find("apt-get install librdmacm1"), std::string::npos) << text;
    return;
  }
  EXPECT_EQ(manager.error().code, ENODEV);
  EXPECT_EQ(text.find("no connection manager: rdma_create_event_channel: "), 0u) << text;
  EXPECT_NE(text.find("sudo modprobe rdma_ucm"), std::string::npos) << text;
}

}  // namespace
}  // namespace gdr::rdma
