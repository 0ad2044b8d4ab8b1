#include "fabric/worker/neighbours.h"

#include <gtest/gtest.h>

namespace gdr::fabric::worker {
namespace {

TEST(FabricNeighbours, AreTheSwitchAndThePortOfEachInterface) {
  const auto known = parse_neighbours(
      "lldp.eth0.via=LLDP\n"
      "lldp.eth0.chassis.mac=aa:bb:cc:dd:ee:ff\n"
      "lldp.eth0.chassis.name=leaf01\n"
      "lldp.eth0.chassis.descr=Cumulus Linux version 5 = stable\n"
      "lldp.eth0.port.ifname=swp7\n"
      "lldp.eth1.100.chassis.name=leaf02\n"
      "lldp.eth1.100.port.local=Ethernet1/9\n");
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known.at("eth0").leaf, "leaf01");
  EXPECT_EQ(known.at("eth0").port, "swp7");
  EXPECT_EQ(known.at("eth1.100").leaf, "leaf02");
  EXPECT_EQ(known.at("eth1.100").port, "Ethernet1/9");
}

TEST(FabricNeighbours, TheFirstOneOfAnInterfaceCounts) {
  const auto known = parse_neighbours(
      "lldp.eth0.chassis.name=leaf01\nlldp.eth0.port.ifname=swp7\n"
      "lldp.eth0.chassis.name=phone\nlldp.eth0.port.ifname=lan\n");
  EXPECT_EQ(known.at("eth0").leaf, "leaf01");
  EXPECT_EQ(known.at("eth0").port, "swp7");
}

TEST(FabricNeighbours, OneWithoutANameAndOtherTextAreNone) {
  EXPECT_TRUE(parse_neighbours("").empty());
  EXPECT_TRUE(parse_neighbours("unable to connect to socket\nlldp.\nlldp=\n=\n").empty());
  EXPECT_TRUE(parse_neighbours("lldp.eth0.port.ifname=swp7").empty());
}

}  // namespace
}  // namespace gdr::fabric::worker
