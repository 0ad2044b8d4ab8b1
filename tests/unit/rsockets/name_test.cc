#include "rsockets/name.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace gdr::rsockets {
namespace {

sockaddr_in6 v6(const char* text, std::uint16_t port, std::uint32_t scope = 0) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_scope_id = scope;
  inet_pton(AF_INET6, text, &address.sin6_addr);
  return address;
}

Name name(const sockaddr_in6& address) {
  return name_of(reinterpret_cast<const sockaddr*>(&address), sizeof address).value();
}

TEST(RsocketName, OfAnIpv4AddressIsTheSameInBothFamilies) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(4791);
  in.sin_addr.s_addr = htonl(0x0a010203);
  const auto plain = name_of(reinterpret_cast<sockaddr*>(&in), sizeof in);
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, name(v6("::ffff:10.1.2.3", 4791)));
  sockaddr_storage back{};
  ASSERT_EQ(write_address(*plain, AF_INET, back), sizeof in);
  EXPECT_EQ(reinterpret_cast<sockaddr_in&>(back).sin_addr.s_addr, in.sin_addr.s_addr);
  ASSERT_EQ(write_address(*plain, AF_INET6, back), sizeof(sockaddr_in6));
  EXPECT_EQ(name(reinterpret_cast<sockaddr_in6&>(back)), *plain);
}

TEST(RsocketName, HasAScopeOnlyOnTheLink) {
  EXPECT_EQ(name(v6("fe80::1", 1, 7)).scope, 7u);
  EXPECT_EQ(name(v6("2001:db8::1", 1, 7)).scope, 0u);
}

TEST(RsocketName, IsNoneOfACutOrForeignAddress) {
  sockaddr_in6 address = v6("::1", 1);
  const auto* raw = reinterpret_cast<sockaddr*>(&address);
  EXPECT_FALSE(name_of(raw, sizeof address - 1));
  EXPECT_FALSE(name_of(raw, 1));
  EXPECT_FALSE(name_of(nullptr, sizeof address));
  address.sin6_family = AF_UNIX;
  EXPECT_FALSE(name_of(raw, sizeof address));
  sockaddr_storage to{};
  EXPECT_EQ(write_address(name(v6("::1", 1)), AF_INET, to), 0u);
}

TEST(RsocketName, KnowsLoopbackGroupsAndNobodyInParticular) {
  const auto of = [](const char* text) { return name(v6(text, 1)).address; };
  EXPECT_TRUE(is_loopback(of("::1")) && is_loopback(of("::ffff:127.10.0.1")));
  EXPECT_FALSE(is_loopback(of("::2")) || is_loopback(of("::ffff:128.0.0.1")));
  EXPECT_TRUE(is_any(of("::")) && is_any(of("::ffff:0.0.0.0")));
  EXPECT_FALSE(is_any(of("::1")) || is_any(of("::ffff:0.0.0.1")));
  EXPECT_TRUE(is_group(of("ff02::1")) && is_group(of("::ffff:224.0.0.1")) &&
              is_group(of("::ffff:255.255.255.255")));
  EXPECT_FALSE(is_group(of("fe80::1")) || is_group(of("::ffff:223.255.255.255")));
}

}  // namespace
}  // namespace gdr::rsockets
