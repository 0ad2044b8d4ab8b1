#include "rdma/device.h"

#include <gtest/gtest.h>

#include "rdma/queue_pair.h"

namespace gdr::rdma {
namespace {

TEST(Ipv4Of, ReadsTheMappedAddress) {
  const ibv_gid gid{.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 7, 9}};
  EXPECT_EQ(ipv4_of(gid), 0xc0a80709u);
}

TEST(Ipv4Of, IsNothingForALinkLocalGid) {
  const ibv_gid gid{.raw = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 7, 9}};
  EXPECT_FALSE(ipv4_of(gid).has_value());
}

TEST(PathTo, AddressesByGidOnlyWhenTheOtherSideIsGlobal) {
  Endpoint mine;
  mine.port = 2;
  mine.gid_index = 3;
  Endpoint theirs;
  theirs.lid = 17;
  EXPECT_EQ(path_to(mine, theirs).is_global, 0);
  EXPECT_EQ(path_to(mine, theirs).dlid, 17);
  theirs.global = true;
  theirs.gid.raw[15] = 5;
  const ibv_ah_attr path = path_to(mine, theirs);
  EXPECT_EQ(path.is_global, 1);
  EXPECT_EQ(path.grh.sgid_index, 3);
  EXPECT_EQ(path.grh.dgid.raw[15], 5);
  EXPECT_EQ(path.port_num, 2);
}

TEST(Device, UnknownNameIsNoSuchDevice) {
  Result<const Library*> library = Library::load("libibverbs.so.1");
  if (!library) GTEST_SKIP() << library.error().message;
  Result<Device> device = Device::open(**library, "no_such_nic");
  ASSERT_FALSE(device);
  EXPECT_TRUE(device.error().code == ENODEV || device.error().code == ENOSYS)
      << device.error().message;
}

}  // namespace
}  // namespace gdr::rdma
