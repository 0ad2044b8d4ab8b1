#include "net/interface.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "packets.h"

namespace gdr::net {
namespace {

TEST(PathMtu, IsTheGreatestWhosePacketsFitTheInterface) {
  // 100 bytes of headers and ICRC: IPv6's 40, UDP's 8, extended headers, the ICRC's 4.
  struct Case {
    std::uint32_t interface, path;
  };
  for (const Case& one :
       {Case{65536, 4096}, Case{9000, 4096}, Case{4200, 4096}, Case{4196, 4096}, Case{4195, 2048},
        Case{2148, 2048}, Case{2147, 1024}, Case{1500, 1024}, Case{1124, 1024}, Case{1123, 512},
        Case{612, 512}, Case{611, 256}, Case{0, 256}}) {
    EXPECT_EQ(path_mtu_of(one.interface), one.path) << one.interface;
  }
}

TEST(Interface, OfAnyLoopbackAddressIsTheLoopback) {
  const auto listed = find_interface(ipv4(127, 0, 0, 1));
  if (!listed) GTEST_SKIP() << "this host's loopback interface has no address";
  const auto other = find_interface(ipv4(127, 200, 3, 4));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->name, listed->name);
  EXPECT_NE(other->index, 0u);
  EXPECT_GE(other->mtu, 1500u);
}

TEST(Interface, IsNotFoundForAnAddressOfAnotherHost) {
  EXPECT_FALSE(find_interface(ipv4(192, 0, 2, 77)));  // for documentation (RFC 5737)
}

TEST(Interface, AddressesAreListedAsPeopleWriteThem) {
  const auto addresses = addresses_of_host();
  if (!find_interface(ipv4(127, 0, 0, 1))) GTEST_SKIP() << "the loopback has no address";
  EXPECT_NE(std::find(addresses.begin(), addresses.end(), "127.0.0.1"), addresses.end());
}

}  // namespace
}  // namespace gdr::net
