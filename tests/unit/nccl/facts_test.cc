#include "nccl/facts.h"

#include <gtest/gtest.h>

namespace gdr::nccl {
namespace {

using Pair = std::pair<std::string, std::string>;

TEST(NcclSetting, IsReadInEveryFormThatNcclGaveIt) {
  EXPECT_EQ(read_setting("NCCL_IB_DISABLE set by environment to 1."), Pair("NCCL_IB_DISABLE", "1"));
  EXPECT_EQ(read_setting("NCCL_NET_GDR_LEVEL set from environment to PIX"),  // 2.6
            Pair("NCCL_NET_GDR_LEVEL", "PIX"));
  EXPECT_EQ(read_setting("NCCL_IB_HCA set to mlx5_0,mlx5_1"), Pair("NCCL_IB_HCA", "mlx5_0,mlx5_1"));
  EXPECT_EQ(read_setting("NCCL_X set by environment to "), Pair("NCCL_X", ""));
}

TEST(NcclSetting, IsNotWhatOnlyLooksLikeOne) {
  for (const char* text :
       {"NCCL_DEBUG", "NCCL_ set", "NCCL_a set to 1", "NCCL_X set", "My NCCL_X set to 1", ""}) {
    EXPECT_FALSE(read_setting(text)) << text;
  }
}

TEST(NcclDevice, IsReadInEveryFormThatNcclGaveIt) {
  for (const char* text :
       {"NET/IB : GPU Direct RDMA Disabled for GPU 0[0] / HCA 0 'mlx5_0' (no module or not "
        "supported by GPU)",
        "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)",
        "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"}) {
    const auto device = read_device(text);
    ASSERT_TRUE(device) << text;
    EXPECT_EQ(device->plugin, "IB");
    EXPECT_EQ(device->name, "mlx5_0");
    EXPECT_FALSE(device->enabled);
  }
  const auto device = read_device("NET/IBext_v8 : GPU Direct RDMA Enabled for HCA 1 'mlx5_1'");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->plugin, "IBext_v8");
  EXPECT_TRUE(device->enabled);
  EXPECT_FALSE(
      read_device("NET/IB : GPU Direct RDMA Enabled for GPU 0[0] / HCA 0 (distance 1 < 2)"));
  EXPECT_FALSE(read_device("NET/IB : Using [0]mlx5_0:1/IB"));
}

TEST(NcclDistance, IsReadInEveryFormThatNcclGaveIt) {
  struct Form {
    const char* text;
    Distance distance;
  };
  const Form forms[] = {
      {"NET/IB : GPU Direct RDMA Disabled for GPU 0[0] / HCA 0 (distance 3 >= 2)",
       {"", "0[0]", false, 3, 2}},
      {"GPU Direct RDMA Disabled for GPU ca000 / HCA 0 (distance 7 > 4)",
       {"", "ca000", false, 7, 4}},
      {"GPU Direct RDMA Enabled for GPU 3 / HCA 2 (distance 4 <= 6), read 1 mode Default",
       {"", "3", true, 4, 6}},
      {"GPU Direct RDMA Disabled for GPU/0-6000 (rank 0) - NET/0-0 (distance 8 > 6)",
       {"", "0-6000", false, 8, 6}},
      {"GPU Direct RDMA Enabled for GPU/0-6000 (rank 0) - NET/0-0 ( using PXN via GPU/0-7000, "
       "distance 4 <= 6, read 0, mode Default)",
       {"", "0-6000", true, 4, 6}},
  };
  for (const Form& form : forms) {
    const auto found = read_distance(form.text);
    ASSERT_TRUE(found) << form.text;
    EXPECT_EQ(*found, form.distance) << form.text;
  }
  EXPECT_FALSE(read_distance("GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance x > 4)"));
  EXPECT_FALSE(read_distance("GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 4"));
  EXPECT_FALSE(read_distance("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"));
}

TEST(NcclFact, NeedsAllItsWordsInTheirOrder) {
  EXPECT_EQ(find_fact("Call to ibv_reg_mr_iova2 failed with error Bad address errno 14"),
            Fact::kRegistration);
  EXPECT_FALSE(find_fact("Call to ibv_reg_mr_iova2 skipped, internal_name doesn't exist"));
  EXPECT_EQ(find_fact("Error: network IBX not found."), Fact::kNetworkMissing);
  EXPECT_FALSE(find_fact("not found. Error: network "));
}

// 2.30 says of each name that it could not be opened: the first is no failure yet.
TEST(NcclFact, TakesTheLastNameOfLibibverbsForTheFailure) {
  EXPECT_FALSE(find_fact("Count not open libibverbs.so"));
  EXPECT_EQ(find_fact("Count not open libibverbs.so.1"), Fact::kNoLibrary);
}

}  // namespace
}  // namespace gdr::nccl
