#include "net/socket_address.h"

#include <gtest/gtest.h>

#include "packets.h"

namespace gdr::net {
namespace {

constexpr wire::Address kIpv6 = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
constexpr wire::Address kLinkLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

TEST(SocketAddress, OfAnIpv4AddressIsOfItsFamily) {
  const SocketAddress made = socket_address(ipv4(10, 0, 0, 1), 4791);
  EXPECT_EQ(made.get()->sa_family, AF_INET);
  EXPECT_EQ(made.length, sizeof(sockaddr_in));
  const auto& address = reinterpret_cast<const sockaddr_in&>(*made.get());
  EXPECT_EQ(ntohl(address.sin_addr.s_addr), 0x0a000001u);
  EXPECT_EQ(ntohs(address.sin_port), 4791);
}

TEST(SocketAddress, ComesBackAsItWas) {
  for (const wire::Address& address : {ipv4(10, 0, 0, 1), ipv4(127, 10, 0, 2), kIpv6, kLinkLocal}) {
    const SocketAddress made = socket_address(address, 1234, 5);
    EXPECT_EQ(address_of(*made.get()), address);
    EXPECT_EQ(port_of(*made.get()), 1234);
  }
}

TEST(SocketAddress, NamesTheInterfaceOfALinkLocalAddressAlone) {
  EXPECT_EQ(socket_address(kLinkLocal, 4791, 5).storage.sin6_scope_id, 5u);
  EXPECT_EQ(socket_address(kIpv6, 4791, 5).storage.sin6_scope_id, 0u);
}

TEST(SocketAddress, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(to_string(ipv4(10, 0, 0, 1)), "10.0.0.1");
  EXPECT_EQ(to_string(kIpv6), "fd00::7");
}

}  // namespace
}  // namespace gdr::net
