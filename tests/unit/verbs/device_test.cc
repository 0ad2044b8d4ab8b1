// Devices, ports, GIDs: what programs ask before they do anything.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

#include "verbs_fixture.h"

extern "C" int ibv_query_gid_type(ibv_context*, std::uint8_t, unsigned, int*);

#undef ibv_query_port

namespace gdr::test {
namespace {

TEST(DeviceList, HasTwoDevicesWithNamesAndGuidsOfTheirOwn) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(list[2], nullptr);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "soft0");
  EXPECT_STREQ(ibv_get_device_name(list[1]), "soft1");
  EXPECT_NE(ibv_get_device_guid(list[0]), 0u);
  EXPECT_NE(ibv_get_device_guid(list[0]), ibv_get_device_guid(list[1]));
  EXPECT_EQ(ibv_get_device_index(list[1]), 1);
  // EUI-64: the MAC with ff:fe in its middle, in network order.
  const __be64 guid = ibv_get_device_guid(list[0]);
  EXPECT_EQ(std::memcmp(reinterpret_cast<const char*>(&guid) + 3, "\xff\xfe", 2), 0);
  ibv_free_device_list(list);
}

TEST(DeviceList, MayBeFreedBeforeAnOpenedDeviceIsUsed) {
  ibv_context* context = open_device(1);
  ASSERT_NE(context, nullptr);
  EXPECT_STREQ(ibv_get_device_name(context->device), "soft1");
  EXPECT_EQ(ibv_close_device(context), 0);
}

// As a user who may have one thread, or two: root may have any number.
TEST(Device, OpensOnlyOnceItsThreadsCanBeStarted) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be a user without other processes";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(600);
    constexpr uid_t kNobodyElse = 54'321;
    rlimit threads{};
    getrlimit(RLIMIT_NPROC, &threads);
    if (setresuid(kNobodyElse, kNobodyElse, kNobodyElse) != 0) _exit(1);
    for (const rlim_t most : {1, 2, 1, 2}) {  // a device has two
      const rlimit few{most, threads.rlim_max};
      setrlimit(RLIMIT_NPROC, &few);
      if (open_device(0) != nullptr) _exit(2);
      if (errno != EAGAIN) _exit(3);
    }
    setrlimit(RLIMIT_NPROC, &threads);
    _exit(open_device(0) != nullptr ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
}

class DeviceTest : public VerbsTest {};

TEST_F(DeviceTest, WritesNoMoreOfThePortThanAnOldProgramKnows) {
  struct {
    ibv_port_attr port;
    unsigned char guard[16];
  } memory;
  std::memset(&memory, 0x5a, sizeof memory);
  ASSERT_EQ(ibv_query_port(context_, 1, reinterpret_cast<_compat_ibv_port_attr*>(&memory.port)), 0);
  EXPECT_EQ(memory.port.state, IBV_PORT_ACTIVE);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&memory);
  EXPECT_TRUE(std::all_of(bytes + offsetof(ibv_port_attr, port_cap_flags2), bytes + sizeof memory,
                          [](unsigned char byte) { return byte == 0x5a; }));
}

TEST_F(DeviceTest, ZeroesWhatANewerProgramKnowsOfThePort) {
  unsigned char memory[sizeof(ibv_port_attr) + 16];
  std::memset(memory, 0x5a, sizeof memory);
  verbs_context* table = verbs_get_ctx(context_);
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->query_port(context_, 1, reinterpret_cast<ibv_port_attr*>(memory), sizeof memory),
            0);
  EXPECT_TRUE(std::all_of(memory + sizeof(ibv_port_attr), memory + sizeof memory,
                          [](unsigned char byte) { return byte == 0; }));
}

TEST_F(DeviceTest, DescribesAnActiveEthernetPort) {
  ibv_port_attr port{};
  ASSERT_EQ(___ibv_query_port(context_, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(port.gid_tbl_len, 256);
  EXPECT_EQ(port.active_mtu, IBV_MTU_4096);
  EXPECT_EQ(port.active_width, 2);   // 4x ...
  EXPECT_EQ(port.active_speed, 32);  // ... EDR: 100 Gb/s
}

TEST_F(DeviceTest, HasNoSecondPort) {
  ibv_port_attr port{};
  EXPECT_EQ(___ibv_query_port(context_, 2, &port), EINVAL);
  EXPECT_EQ(___ibv_query_port(context_, 0, &port), EINVAL);
  ibv_gid gid{};
  EXPECT_EQ(ibv_query_gid(context_, 2, 0, &gid), -1);
  EXPECT_EQ(errno, EINVAL);
}

// The order of a ConnectX: the link-local address and the device's own, each as RoCE v1 and v2.
TEST_F(DeviceTest, HasFourGidsInTheOrderOfAConnectX) {
  const unsigned char link_local[16] = {0xfe, 0x80, 0,    0,    0,    0,    0,
                                        0,    0,    0x67, 0x64, 0xff, 0xfe, 0x72};
  const unsigned char mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 10, 0, 1};
  ibv_gid_entry table[5] = {};
  ASSERT_EQ(ibv_query_gid_table(context_, table, 5, 0), 4);
  for (unsigned i = 0; i < 4; ++i) {
    ibv_gid gid{};
    ASSERT_EQ(ibv_query_gid(context_, 1, static_cast<int>(i), &gid), 0);
    EXPECT_EQ(std::memcmp(gid.raw, i < 2 ? link_local : mapped, sizeof gid), 0) << i;
    ibv_gid_entry entry{};
    ASSERT_EQ(ibv_query_gid_ex(context_, 1, i, &entry, 0), 0);
    EXPECT_EQ(entry.gid_type, unsigned{i % 2 == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2});
    EXPECT_EQ(entry.gid_index, i);
    EXPECT_EQ(entry.port_num, 1u);
    EXPECT_EQ(std::memcmp(&entry.gid, &gid, sizeof gid), 0) << i;
    EXPECT_EQ(std::memcmp(&table[i], &entry, sizeof entry), 0) << i;
    int type = -1;
    EXPECT_EQ(ibv_query_gid_type(context_, 1, i, &type), 0);
    EXPECT_EQ(type, static_cast<int>(i % 2));
  }
}

// As a ConnectX: 256 entries, of which those without an address are empty.
TEST_F(DeviceTest, HasEmptyPlacesInItsTableOfGids) {
  for (const int index : {4, 255}) {
    ibv_gid gid{};
    std::memset(gid.raw, 7, sizeof gid.raw);
    EXPECT_EQ(ibv_query_gid(context_, 1, index, &gid), 0) << index;
    EXPECT_EQ(std::count(std::begin(gid.raw), std::end(gid.raw), 0), 16) << index;
    ibv_gid_entry entry{};
    EXPECT_EQ(ibv_query_gid_ex(context_, 1, static_cast<unsigned>(index), &entry, 0), ENODATA);
    int type = -1;
    EXPECT_EQ(ibv_query_gid_type(context_, 1, static_cast<unsigned>(index), &type), 0);
    EXPECT_EQ(type, 0);
  }
}

TEST_F(DeviceTest, RefusesGidsThatItsTableDoesNotHave) {
  ibv_gid gid{};
  for (const int index : {-1, 256, 65536}) {
    errno = 0;
    EXPECT_EQ(ibv_query_gid(context_, 1, index, &gid), -1) << index;
    EXPECT_EQ(errno, EINVAL);
  }
  ibv_gid_entry entry{};
  EXPECT_EQ(ibv_query_gid_ex(context_, 1, 256, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context_, 2, 0, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context_, 1, 0, &entry, 1), EINVAL);
  int type = -1;
  EXPECT_EQ(ibv_query_gid_type(context_, 1, 256, &type), -1);
  ibv_gid_entry table[4] = {};
  EXPECT_EQ(ibv_query_gid_table(context_, table, 3, 0), -EINVAL);
  EXPECT_EQ(ibv_query_gid_table(context_, table, 4, 1), -EINVAL);
}

TEST_F(DeviceTest, HasOnePartitionKey) {
  __be16 key = 0;
  EXPECT_EQ(ibv_query_pkey(context_, 1, 0, &key), 0);
  EXPECT_EQ(key, 0xffff);
  EXPECT_EQ(ibv_query_pkey(context_, 1, 1, &key), -1);
  EXPECT_EQ(ibv_get_pkey_index(context_, 1, 0xffff), 0);
  EXPECT_EQ(ibv_get_pkey_index(context_, 1, 0x1234), -1);
}

TEST_F(DeviceTest, ReportsLimitsThatItKeeps) {
  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context_, &attr), 0);
  EXPECT_EQ(attr.phys_port_cnt, 1);
  EXPECT_EQ(attr.node_guid, ibv_get_device_guid(context_->device));
  EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_HCA);
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  init.cap.max_send_wr = static_cast<std::uint32_t>(attr.max_qp_wr);
  init.cap.max_send_sge = static_cast<std::uint32_t>(attr.max_sge);
  ibv_qp* qp = ibv_create_qp(pd_, &init);
  EXPECT_NE(qp, nullptr);
  init.cap.max_send_wr = static_cast<std::uint32_t>(attr.max_qp_wr) + 1;
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(DeviceTest, FillsTheExtendedAttributesToTheCallersSize) {
  ibv_device_attr_ex attr;
  std::memset(static_cast<void*>(&attr), 0x5a, sizeof attr);
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_EQ(attr.orig_attr.phys_port_cnt, 1);
  EXPECT_EQ(attr.tso_caps.max_tso, 0u);
  EXPECT_NE(attr.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM, 0u);
  verbs_context* table = verbs_get_ctx(context_);
  std::memset(static_cast<void*>(&attr), 0x5a, sizeof attr);
  ASSERT_EQ(table->query_device_ex(context_, nullptr, &attr, sizeof attr.orig_attr), 0);
  EXPECT_EQ(attr.comp_mask, 0x5a5a5a5au);
  EXPECT_EQ(table->query_device_ex(context_, nullptr, &attr, 8), EINVAL);
  const ibv_query_device_ex_input unknown{.comp_mask = 1};
  EXPECT_EQ(table->query_device_ex(context_, &unknown, &attr, sizeof attr), EINVAL);
}

TEST_F(DeviceTest, OffersAnAsynchronousEventDescriptorThatCanBeMadeNonBlocking) {
  const int flags = fcntl(context_->async_fd, F_GETFL);
  ASSERT_GE(flags, 0);
  ASSERT_EQ(fcntl(context_->async_fd, F_SETFL, flags | O_NONBLOCK), 0);
  ibv_async_event event{};
  EXPECT_EQ(ibv_get_async_event(context_, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GE(context_->num_comp_vectors, 1);
}

TEST_F(DeviceTest, KnowsTheMacOfEveryGidOfItsCable) {
  ibv_context* other = open_device(1);
  ASSERT_NE(other, nullptr);
  ibv_ah_attr attr{};
  attr.port_num = 1;
  ASSERT_EQ(ibv_query_gid(other, 1, kGidIndex, &attr.grh.dgid), 0);
  std::uint8_t mac[6] = {};
  std::uint16_t vlan = 0;
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac, &vlan), 0);
  EXPECT_EQ(vlan, 0xffff);
  EXPECT_NE(std::set<int>(mac, mac + 6), std::set<int>{0});
  for (const int index : {0, 1, 2, 3}) {
    std::uint8_t same[6] = {};
    attr.grh.sgid_index = static_cast<std::uint8_t>(index);
    ASSERT_EQ(ibv_query_gid(other, 1, index, &attr.grh.dgid), 0);
    EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, same, &vlan), 0) << index;
    EXPECT_EQ(std::memcmp(same, mac, sizeof mac), 0) << index;
  }
  attr.grh.dgid.raw[12] ^= 0x40;
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac, &vlan), -EHOSTUNREACH);
  EXPECT_EQ(ibv_close_device(other), 0);
}

}  // namespace
}  // namespace gdr::test
