// Which addresses a port has, in which order, and who is asked for one.
#include "rnic/gids.h"

#include <gtest/gtest.h>

#include "rnic/segment.h"

namespace gdr::rnic {
namespace {

using Address = std::array<std::uint8_t, 16>;

constexpr Address ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}
constexpr Address link_local(std::uint8_t last) {
  return {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
}
constexpr Address kGlobal = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

std::vector<Address> addresses_of(const DeviceConfiguration& device) {
  std::vector<Address> addresses;
  for (const PortAddress& address : device.addresses) addresses.push_back(address.gid);
  return addresses;
}

std::vector<DeviceConfiguration> devices_among(const char* text,
                                               const std::vector<InterfaceAddress>& present) {
  auto devices = *parse_devices(text);
  add_interface_addresses(devices, present);
  return devices;
}

const std::vector<InterfaceAddress> kPresent = {
    {"lo", ipv4(127, 0, 0, 1), true, true},   {"eth0", ipv4(10, 0, 0, 1), true, false},
    {"eth0", ipv4(10, 0, 0, 2), true, false}, {"eth0", kGlobal, true, false},
    {"eth0", link_local(1), true, false},     {"eth1", ipv4(10, 1, 0, 1), true, false},
    {"eth1", link_local(2), true, false},
};

TEST(Gids, AnInterfacesLinkLocalAddressIsFirstThenTheOwnThenFurtherOnes) {
  const auto devices = devices_among("a/ip=10.0.0.2,b/ip=10.1.0.1", kPresent);
  EXPECT_EQ(addresses_of(devices[0]),
            (std::vector{link_local(1), ipv4(10, 0, 0, 2), ipv4(10, 0, 0, 1), kGlobal}));
  EXPECT_EQ(addresses_of(devices[1]), (std::vector{link_local(2), ipv4(10, 1, 0, 1)}));
  for (const PortAddress& address : devices[0].addresses) EXPECT_TRUE(address.is_carried);
  EXPECT_EQ(gid_count(devices[0]), 8u);
}

TEST(Gids, TheMacMakesTheLinkLocalAddressWhereNoInterfaceHasOne) {
  const Address expected = {0xfe, 0x80, 0,    0,    0,    0,    0,    0,
                            0,    0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55};
  for (const char* ip : {"127.0.0.1", "127.10.0.1", "192.0.2.7"}) {
    const auto devices =
        devices_among((std::string("a/mac=02:11:22:33:44:55/ip=") + ip).c_str(), kPresent);
    ASSERT_EQ(devices[0].addresses.size(), 2u) << ip;
    EXPECT_EQ(devices[0].addresses[0].gid, expected);
    EXPECT_FALSE(devices[0].addresses[0].is_carried);
    EXPECT_EQ(devices[0].addresses[1].gid, devices[0].address);
    EXPECT_TRUE(devices[0].addresses[1].is_carried);
  }
}

TEST(Gids, TwoDevicesOfOneInterfaceHaveNoAddressInCommon) {
  const auto devices = devices_among("a/ip=10.0.0.1,b/ip=10.0.0.2", kPresent);
  EXPECT_EQ(addresses_of(devices[0]), (std::vector{link_local(1), ipv4(10, 0, 0, 1), kGlobal}));
  EXPECT_EQ(addresses_of(devices[1]), (std::vector{link_local_of(devices[1]), ipv4(10, 0, 0, 2)}));
}

TEST(Gids, ALinkLocalAddressMayBeTheOwnOne) {
  const auto devices = devices_among("a/ip=fe80::2", kPresent);
  EXPECT_EQ(addresses_of(devices[0]),
            (std::vector{link_local_of(devices[0]), link_local(2), ipv4(10, 1, 0, 1)}));
}

TEST(Gids, AreBoundedHoweverManyAddressesAnInterfaceHas) {
  std::vector<InterfaceAddress> many = kPresent;
  for (std::uint8_t i = 0; i < 100; ++i) {
    many.push_back({"eth1", ipv4(10, 2, 0, i), true, false});
  }
  EXPECT_EQ(gid_count(devices_among("a/ip=10.1.0.1", many)[0]), 16u);
}

TEST(Gids, EachAddressIsRoceV1AndThenV2) {
  const auto devices = devices_among("a/ip=10.1.0.1", kPresent);
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_NE(gid_at(devices[0], i), nullptr);
    EXPECT_EQ(*gid_at(devices[0], i), i < 2 ? link_local(2) : ipv4(10, 1, 0, 1));
    EXPECT_EQ(type_of_gid(i), i % 2 == 0 ? GidType::kRoceV1 : GidType::kRoceV2);
    EXPECT_EQ(gid_index_of(devices[0], *gid_at(devices[0], i), type_of_gid(i)), i);
  }
  EXPECT_EQ(gid_at(devices[0], 4), nullptr);
  EXPECT_EQ(gid_index_of(devices[0], ipv4(10, 0, 0, 1), GidType::kRoceV2), std::nullopt);
}

class SharedGidsTest : public testing::Test {
 protected:
  std::unique_ptr<Segment> segment_ =
      *Segment::create(make_token(1, 1), devices_among("a/ip=192.0.2.7,b/ip=10.0.0.2", kPresent));
  SegmentHeader& header_ = segment_->header();
};

TEST_F(SharedGidsTest, AnyAddressOfAnyDeviceIsThere) {
  for (const Address& address : {ipv4(192, 0, 2, 7), ipv4(10, 0, 0, 2), kGlobal, link_local(1)}) {
    EXPECT_TRUE(has_address(header_, address));
    EXPECT_EQ(carried_as(header_, address), address);
  }
  EXPECT_FALSE(has_address(header_, link_local(2)));
  EXPECT_EQ(carried_as(header_, link_local(2)), std::nullopt);
}

TEST_F(SharedGidsTest, WhatNoInterfaceHasIsCarriedAsTheOwnAddress) {
  const Address made = link_local_of(parse_devices("a")->front());
  EXPECT_EQ(carried_as(header_, made), ipv4(192, 0, 2, 7));
}

TEST_F(SharedGidsTest, CountsThatAnotherProcessMadeUpReachNoFurtherThanTheTable) {
  header_.device_count = header_.devices[1].address_count = ~0u;
  EXPECT_FALSE(has_address(header_, link_local(9)));
  EXPECT_EQ(find_address(header_.devices[1], link_local(9)), std::nullopt);
}

}  // namespace
}  // namespace gdr::rnic
