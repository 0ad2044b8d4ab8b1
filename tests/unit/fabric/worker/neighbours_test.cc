#include "fabric/worker/neighbours.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/clock.h"
#include "scratch_folder.h"
#include "soon.h"

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

// What ask_neighbours() finds where lldpctl is this script.
std::map<std::string, Neighbour> ask(const std::string& script) {
  const test::ScratchFolder folder;
  folder.write("lldpctl", "#!/bin/sh\n" + script);
  std::filesystem::permissions(folder.at("lldpctl"), std::filesystem::perms::owner_all);
  const std::string path = getenv("PATH");
  setenv("PATH", (folder.root() + ":" + path).c_str(), 1);
  std::map<std::string, Neighbour> found = ask_neighbours();
  setenv("PATH", path.c_str(), 1);
  return found;
}

TEST(FabricNeighbours, AreWhatLldpctlSays) {
  const auto known =
      ask("[ \"$*\" = '-f keyvalue' ] && echo lldp.eth0.chassis.name=leaf03\n"
          "echo lldp.eth0.port.ifname=swp1\n");
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known.at("eth0").leaf, "leaf03");
}

TEST(FabricNeighbours, AreNoneWhereLldpctlFailsOrHangs) {
  EXPECT_TRUE(ask("echo lldp.eth0.chassis.name=leaf03; exit 1\n").empty());
  const Nanoseconds start = now();
  EXPECT_TRUE(ask("echo lldp.eth0.chassis.name=leaf03; sleep 600\n").empty());
  EXPECT_LT(now() - start, test::kLastResort);
}

}  // namespace
}  // namespace gdr::fabric::worker
