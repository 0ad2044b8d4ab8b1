#include "rnic/device_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace gdr::rnic {
namespace {

using Mac = std::array<std::uint8_t, 6>;
using Address = std::array<std::uint8_t, 16>;

Address mapped(const std::array<std::uint8_t, 4>& ipv4) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ipv4[0], ipv4[1], ipv4[2], ipv4[3]};
}

// The message of a text that must be refused; fails the test when it is not.
std::string refusal(std::string_view text) {
  const auto devices = parse_devices(text);
  EXPECT_FALSE(devices) << text;
  if (devices) return "";
  EXPECT_EQ(devices.error().code, EINVAL) << text;
  EXPECT_EQ(devices.error().message.find('\n'), std::string::npos) << text;
  return devices.error().message;
}

testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' lacks '" << part << "'";
}

TEST(DeviceTable, GivesWhatIsNotSaidByPosition) {
  const auto devices = parse_devices("mlx5_0,mlx5_3");
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].name, "mlx5_0");
  EXPECT_EQ((*devices)[0].mac, (Mac{0x02, 0x67, 0x64, 0x72, 0x00, 0x00}));
  EXPECT_EQ((*devices)[0].address, mapped({127, 10, 0, 1}));
  EXPECT_EQ((*devices)[0].gigabits, 100u);
  EXPECT_EQ((*devices)[1].name, "mlx5_3");
  EXPECT_EQ((*devices)[1].mac, (Mac{0x02, 0x67, 0x64, 0x72, 0x00, 0x01}));
  EXPECT_EQ((*devices)[1].address, mapped({127, 10, 0, 2}));
}

TEST(DeviceTable, TakesEverySettingInAnyOrder) {
  const auto devices =
      parse_devices("soft0/speed=400/ip=10.1.2.3/mac=02:aB:00:00:00:fF,soft1/ip=10.1.2.4");
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ((*devices)[0].mac, (Mac{0x02, 0xab, 0x00, 0x00, 0x00, 0xff}));
  EXPECT_EQ((*devices)[0].address, mapped({10, 1, 2, 3}));
  EXPECT_EQ((*devices)[0].gigabits, 400u);
  EXPECT_EQ((*devices)[1].address, mapped({10, 1, 2, 4}));
}

TEST(DeviceTable, TakesAnIpv6Address) {
  const auto devices = parse_devices("a/ip=fd00::7");
  ASSERT_TRUE(devices);
  EXPECT_EQ((*devices)[0].address, (Address{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}));
}

TEST(DeviceTable, RefusesIpv6AddressesThatAreNoHosts) {
  for (const char* ip : {"ff02::1", "::", "::ffff:10.0.0.1", "fd00:::1", "fd00::1%eth0", "g::"}) {
    EXPECT_TRUE(contains(refusal(std::string("a/ip=") + ip), "allowed is a unicast address")) << ip;
  }
}

TEST(DeviceTable, MapsAnIpv4Address) {
  const auto devices = parse_devices("a/ip=192.0.2.7");
  ASSERT_TRUE(devices);
  const std::array<std::uint8_t, 16> expected = {0, 0, 0,    0,    0,   0, 0, 0,
                                                 0, 0, 0xff, 0xff, 192, 0, 2, 7};
  EXPECT_EQ(devices->front().address, expected);
}

TEST(DeviceTable, GuidIsTheMacsEui64InNetworkOrder) {
  const auto devices = parse_devices("a/mac=02:11:22:33:44:55");
  ASSERT_TRUE(devices);
  const std::uint64_t guid = devices->front().guid();
  const std::array<std::uint8_t, 8> expected = {0x00, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55};
  EXPECT_EQ(std::memcmp(&guid, expected.data(), 8), 0);
}

TEST(DeviceTable, RefusesNamesThatAreNoDeviceNames) {
  const std::string longest(63, 'x');
  EXPECT_TRUE(parse_devices(longest));
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("-a"), std::string("a b"),
        std::string("a\n"), std::string("m\xc3\xa9"), longest + "x", std::string("a\0b", 3)}) {
    EXPECT_TRUE(contains(refusal(name), "allowed are 1 to 63 letters")) << name;
  }
  EXPECT_TRUE(contains(refusal("a,,b"), "device name ''"));
  EXPECT_TRUE(contains(refusal("a,"), "device name ''"));
}

TEST(DeviceTable, RefusesMacsThatNoPortCanHave) {
  for (const char* mac : {"", "02:00:00:00:00", "02:00:00:00:00:01:02", "2:00:00:00:00:01",
                          "02-00-00-00-00-01", "02:00:00:00:00:0g", "03:00:00:00:00:01",
                          "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", " 2:00:00:00:00:01"}) {
    EXPECT_TRUE(contains(refusal(std::string("a/mac=") + mac), "allowed is a unicast MAC")) << mac;
  }
}

TEST(DeviceTable, RefusesAddressesThatNoPortCanHave) {
  for (const char* ip : {"", "10.0.0", "10.0.0.0.1", "10.0.0.256", "10.0.0.01", "10.0.0.-1",
                         "10.0.0.0x1", "0.0.0.1", "224.0.0.1", "255.255.255.255", "10.0.0.+1"}) {
    EXPECT_TRUE(contains(refusal(std::string("a/ip=") + ip), "allowed is a unicast address")) << ip;
  }
}

TEST(DeviceTable, RefusesSpeedsThatEthernetDoesNotHave) {
  for (const char* speed : {"", "1", "99", "100G", "0x64", "4000", "-10", "100 "}) {
    EXPECT_TRUE(contains(refusal(std::string("a/speed=") + speed), "10, 25, 40, 50, 100")) << speed;
  }
  for (const char* speed : {"10", "25", "40", "50", "100", "200", "400"}) {
    EXPECT_TRUE(parse_devices(std::string("a/speed=") + speed)) << speed;
  }
}

TEST(DeviceTable, TakesPciAddressesAsTheKernelLspciAndNvidiaSmiWriteThem) {
  EXPECT_EQ(parse_devices("a")->front().pci, "");
  for (const auto& [written, meant] : {std::pair{"0000:17:00.0", "0000:17:00.0"},
                                       {"17:00.0", "0000:17:00.0"},
                                       {"00000000:A7:1F.7", "0000:a7:1f.7"},
                                       {"10000:e1:00.0", "10000:e1:00.0"}}) {
    const auto devices = parse_devices(std::string("a/pci=") + written);
    ASSERT_TRUE(devices) << written;
    EXPECT_EQ(devices->front().pci, meant);
  }
}

TEST(DeviceTable, RefusesPciAddressesThatNoFunctionCanHave) {
  for (const char* pci :
       {"", "17", "17:00", "17:00.8", "17:20.0", "17:0.0", "1:00.0", "000:17:00.0",
        "000000000:17:00.0", "0000:17:00.0.0", "0000:17:00:0", "x000:17:00.0", "0000:17:00.", "..",
        "0000:17:00.00", "0:0000:17:00.0", ":17:00.0"}) {
    EXPECT_TRUE(contains(refusal(std::string("a/pci=") + pci), "allowed is a PCI address")) << pci;
  }
  EXPECT_TRUE(contains(refusal("a/pci=17:00.0,b/pci=0000:17:00.0"),
                       "'a' and 'b' have the same PCI address"));
  EXPECT_TRUE(parse_devices("a/pci=17:00.0,b/pci=17:00.1,c,d"));
}

TEST(DeviceTable, RefusesUnknownAndRepeatedSettingsByName) {
  EXPECT_TRUE(contains(refusal("a/\x1b[2J\n=10"), "setting ' [2J =10'"));
  EXPECT_TRUE(contains(refusal("a/spede=10"), "device 'a': setting 'spede=10'"));
  EXPECT_TRUE(contains(refusal("a/speed"), "allowed are mac=, ip=, speed= and pci="));
  EXPECT_TRUE(contains(refusal("a/"), "setting ''"));
  EXPECT_TRUE(contains(refusal("a/speed=10/speed=10"), "speed= is allowed once"));
}

TEST(DeviceTable, RefusesTwoPortsWithOneIdentity) {
  EXPECT_TRUE(contains(refusal("a,b,a"), "device name 'a' stands twice"));
  EXPECT_TRUE(contains(refusal("a/mac=02:00:00:00:00:01,b/mac=02:00:00:00:00:01"),
                       "'a' and 'b' have the same MAC"));
  EXPECT_TRUE(
      contains(refusal("a/ip=10.0.0.1,b/ip=10.0.0.1"), "'a' and 'b' have the same IP address"));
  // An address given to the first that the second has by default.
  EXPECT_TRUE(contains(refusal("a/ip=127.10.0.2,b"), "'a' and 'b' have the same IP address"));
}

TEST(DeviceTable, TakesSixteenDevicesAndNoMore) {
  std::string text = "d0";
  for (int i = 1; i < 16; ++i) text += ",d" + std::to_string(i);
  const auto devices = parse_devices(text);
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->size(), 16u);
  EXPECT_EQ(devices->back().mac[5], 15);
  EXPECT_TRUE(contains(refusal(text + ",d16"), "17 devices: allowed are 1 to 16"));
}

class DeviceEnvironment : public testing::Test {
 protected:
  ~DeviceEnvironment() override { unsetenv("GDR_SOFT_DEVICES"); }
};

TEST_F(DeviceEnvironment, UnsetOrEmptyIsTwoDevices) {
  unsetenv("GDR_SOFT_DEVICES");
  for (int i = 0; i < 2; ++i) {
    const auto devices = devices_from_environment();
    ASSERT_TRUE(devices);
    ASSERT_EQ(devices->size(), 2u);
    EXPECT_EQ((*devices)[0].name, "soft0");
    EXPECT_EQ((*devices)[1].name, "soft1");
    setenv("GDR_SOFT_DEVICES", "", 1);
  }
}

TEST_F(DeviceEnvironment, ErrorsNameTheVariable) {
  setenv("GDR_SOFT_DEVICES", "a/speed=7", 1);
  const auto devices = devices_from_environment();
  ASSERT_FALSE(devices);
  EXPECT_TRUE(contains(devices.error().message, "GDR_SOFT_DEVICES: device 'a': speed=7: allowed"));
}

}  // namespace
}  // namespace gdr::rnic
