// Which device an address means, and what rdma_getaddrinfo makes of its hints: as the kernel and
// rdma-core answer, on which libfabric's search for devices rests.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace {

constexpr const char* kFirstDevice = "127.10.0.1";
constexpr std::uint16_t kPort = 4444;

struct IdDeleter {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
using UniqueId = std::unique_ptr<rdma_cm_id, IdDeleter>;

UniqueId make_id(rdma_port_space space = RDMA_PS_TCP) {
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(rdma_create_id(nullptr, &id, nullptr, space), 0);
  return UniqueId(id);
}

sockaddr_in address(const char* text, std::uint16_t port = 0) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text, &made.sin_addr), 1);
  return made;
}

sockaddr* plain(sockaddr_in& in) { return reinterpret_cast<sockaddr*>(&in); }

std::string text_of(const sockaddr* a) {
  char text[INET_ADDRSTRLEN] = "";
  const auto* in = reinterpret_cast<const sockaddr_in*>(a);
  inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(in->sin_port));
}

struct InfoDeleter {
  void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
};

std::unique_ptr<rdma_addrinfo, InfoDeleter> look_up(const char* node, const char* service,
                                                    const rdma_addrinfo& hints) {
  rdma_addrinfo* info = nullptr;
  EXPECT_EQ(rdma_getaddrinfo(node, service, &hints, &info), 0);
  return std::unique_ptr<rdma_addrinfo, InfoDeleter>(info);
}

TEST(RdmaBind, ADevicesAddressNamesTheDeviceItsPortAndItsGid) {
  const UniqueId id = make_id();
  sockaddr_in own = address(kFirstDevice);
  ASSERT_EQ(rdma_bind_addr(id.get(), plain(own)), 0);
  ASSERT_NE(id->verbs, nullptr);
  EXPECT_STREQ(ibv_get_device_name(id->verbs->device), "soft0");
  EXPECT_EQ(id->port_num, 1);
  const auto& names = id->route.addr.addr.ibaddr;
  EXPECT_EQ(names.sgid.raw[12], 127);
  EXPECT_EQ(names.sgid.raw[15], 1);
  EXPECT_EQ(names.pkey, 0xffff);
}

TEST(RdmaBind, LoopbackIsAnyAddressAndNamesNoDevice) {
  const UniqueId id = make_id();
  sockaddr_in loopback = address("127.0.0.1", 0);
  ASSERT_EQ(rdma_bind_addr(id.get(), plain(loopback)), 0);
  EXPECT_EQ(id->verbs, nullptr);
  EXPECT_EQ(text_of(rdma_get_local_addr(id.get())).substr(0, 10), "127.0.0.1:");
  EXPECT_NE(rdma_get_src_port(id.get()), 0);
}

TEST(RdmaBind, AnAddressOfNoDeviceIsRefused) {
  const UniqueId id = make_id();
  sockaddr_in other = address("192.0.2.77");
  EXPECT_EQ(rdma_bind_addr(id.get(), plain(other)), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL) << "of no interface either";
}

// An IPv4 address of this host that is not loopback, if it has one.
std::optional<sockaddr_in> interface_address() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(first, freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto& in = reinterpret_cast<const sockaddr_in&>(*one->ifa_addr);
    if (ntohl(in.sin_addr.s_addr) >> 24 != 127) return in;
  }
  return std::nullopt;
}

constexpr const char* kNoInterface = "this host has no interface besides loopback";

TEST(RdmaBind, ADeviceOnLoopbackServesThisHostsInterfaces) {
  auto own = interface_address();
  if (!own) GTEST_SKIP() << kNoInterface;
  const UniqueId id = make_id();
  ASSERT_EQ(rdma_bind_addr(id.get(), plain(*own)), 0);
  ASSERT_NE(id->verbs, nullptr);
  EXPECT_STREQ(ibv_get_device_name(id->verbs->device), "soft0");
  EXPECT_EQ(id->route.addr.addr.ibaddr.sgid.raw[12], 127);  // by which its packets go
  own->sin_port = rdma_get_src_port(id.get());
  EXPECT_EQ(text_of(rdma_get_local_addr(id.get())), text_of(plain(*own)));
}

[[noreturn]] void bind_beside_a_device_with_an_address(sockaddr_in own) {
  setenv("GDR_SOFT_DEVICES", "soft0/ip=198.51.100.7", 1);
  const UniqueId id = make_id();
  const int result = rdma_bind_addr(id.get(), plain(own));
  std::_Exit(result == -1 && errno == ENODEV ? 0 : 1);
}

// As with hardware: it serves the interface that it is behind.
TEST(RdmaBind, ADeviceWithAnAddressServesThatOneAlone) {
  const auto own = interface_address();
  if (!own) GTEST_SKIP() << kNoInterface;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(bind_beside_a_device_with_an_address(*own), testing::ExitedWithCode(0), "");
}

TEST(RdmaBind, AListenerOnLoopbackListensOnEveryDevice) {
  const UniqueId listener = make_id();
  sockaddr_in loopback = address("127.0.0.1");
  ASSERT_EQ(rdma_bind_addr(listener.get(), plain(loopback)), 0);
  ASSERT_EQ(rdma_listen(listener.get(), 1), 0);
  EXPECT_EQ(listener->verbs, nullptr);
}

TEST(RdmaResolve, NamesBothGids) {
  const UniqueId id = make_id();
  sockaddr_in to = address("127.10.0.2", kPort);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, plain(to), 1000), 0);
  const auto& names = id->route.addr.addr.ibaddr;
  EXPECT_EQ(names.sgid.raw[12], 127);
  EXPECT_EQ(names.dgid.raw[12], 127);
  EXPECT_EQ(names.dgid.raw[15], 2);
}

TEST(RdmaGetAddrInfo, TakesWholeAddressesFromItsHints) {
  sockaddr_in from = address(kFirstDevice);
  sockaddr_in to = address("127.10.0.2", kPort);
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  hints.ai_qp_type = IBV_QPT_RC;
  hints.ai_family = AF_INET;
  hints.ai_src_addr = plain(from);
  hints.ai_dst_addr = plain(to);
  hints.ai_src_len = hints.ai_dst_len = sizeof(sockaddr_in);
  const auto info = look_up(nullptr, nullptr, hints);
  ASSERT_NE(info->ai_dst_addr, nullptr);
  ASSERT_NE(info->ai_src_addr, nullptr);
  EXPECT_EQ(text_of(info->ai_dst_addr), "127.10.0.2:4444");
  EXPECT_EQ(text_of(info->ai_src_addr), "127.10.0.1:0");
  EXPECT_EQ(info->ai_port_space, RDMA_PS_TCP);
  EXPECT_EQ(info->ai_qp_type, IBV_QPT_RC);
}

TEST(RdmaGetAddrInfo, KeepsAPassiveSidesSourceThatNobodyLookedUp) {
  sockaddr_in own = address(kFirstDevice, kPort);
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_src_addr = plain(own);
  hints.ai_src_len = sizeof own;
  const auto info = look_up(nullptr, nullptr, hints);
  ASSERT_NE(info->ai_src_addr, nullptr);
  EXPECT_EQ(text_of(info->ai_src_addr), "127.10.0.1:4444");
  EXPECT_NE(info->ai_flags & RAI_PASSIVE, 0);
}

TEST(RdmaGetAddrInfo, KeepsTheSourceBesideALookedUpDestination) {
  sockaddr_in from = address(kFirstDevice);
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  hints.ai_src_addr = plain(from);
  hints.ai_src_len = sizeof from;
  const auto info = look_up("127.10.0.2", "4444", hints);
  EXPECT_EQ(text_of(info->ai_dst_addr), "127.10.0.2:4444");
  ASSERT_NE(info->ai_src_addr, nullptr);
  EXPECT_EQ(text_of(info->ai_src_addr), "127.10.0.1:0");
}

TEST(RdmaGetAddrInfo, DerivesThePortSpaceFromTheQueuePairAndTheReverse) {
  rdma_addrinfo datagram{};
  datagram.ai_qp_type = IBV_QPT_UD;
  EXPECT_EQ(look_up("127.10.0.2", "1", datagram)->ai_port_space, RDMA_PS_UDP);
  rdma_addrinfo udp{};
  udp.ai_port_space = RDMA_PS_UDP;
  EXPECT_EQ(look_up("127.10.0.2", "1", udp)->ai_qp_type, IBV_QPT_UD);
  EXPECT_EQ(look_up("127.10.0.2", "1", {})->ai_port_space, RDMA_PS_TCP);
}

}  // namespace
