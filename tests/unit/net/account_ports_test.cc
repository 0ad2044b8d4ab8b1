#include "net/account_ports.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gdr::net {
namespace {

constexpr Nanoseconds kNow = 100 * kSecond;

wire::Address address(std::uint8_t last) {
  wire::Address made{};
  made[10] = made[11] = 0xff;
  made[12] = 127;
  made[15] = last;
  return made;
}

TEST(AccountPorts, KnowAPortForAWhileAfterItWasLastSeen) {
  AccountPorts ports;
  EXPECT_FALSE(ports.had(address(1), 5000, kNow));
  ports.see(address(1), std::vector<std::uint16_t>{5000, 5001}, kNow);
  EXPECT_TRUE(ports.had(address(1), 5000, kNow + AccountPorts::kRemembered - 1));
  EXPECT_FALSE(ports.had(address(1), 5000, kNow + AccountPorts::kRemembered));
  ports.see(address(1), std::vector<std::uint16_t>{5000}, kNow + kSecond);
  EXPECT_TRUE(ports.had(address(1), 5000, kNow + AccountPorts::kRemembered));
  EXPECT_FALSE(ports.had(address(1), 5001, kNow + AccountPorts::kRemembered));
}

TEST(AccountPorts, BelongToTheirAddressOnly) {
  AccountPorts ports;
  ports.see(address(1), std::vector<std::uint16_t>{5000}, kNow);
  EXPECT_FALSE(ports.had(address(2), 5000, kNow));
  EXPECT_FALSE(ports.had(address(1), 5001, kNow));
}

TEST(AccountPorts, ForgetWhatWasSeenLongestAgoWhenThereIsNoRoom) {
  AccountPorts ports;
  for (std::uint16_t i = 0; i < 300; ++i) {
    ports.see(address(1), std::vector<std::uint16_t>{static_cast<std::uint16_t>(1000 + i)},
              kNow + i);
  }
  EXPECT_FALSE(ports.had(address(1), 1000, kNow + 300));
  EXPECT_TRUE(ports.had(address(1), 1299, kNow + 300));
}

TEST(AccountPorts, RememberAddressesForGood) {
  AccountPorts ports;
  ports.see(address(1), std::vector<std::uint16_t>{5000}, kNow);
  ports.see(address(2), std::span<const std::uint16_t>{}, kNow);  // nobody of this account has it
  for (int i = 0; i < 1000; ++i) {
    ports.see(address(3), std::vector<std::uint16_t>{static_cast<std::uint16_t>(2000 + i)},
              kNow + kSecond + i);
  }
  EXPECT_EQ(ports.addresses(), (std::vector{address(1), address(3)}));
}

}  // namespace
}  // namespace gdr::net
