// Several RoCE interfaces in one subnet, and ib_umad.
#include "patient.h"

namespace gdr::doctor::test {
namespace {

constexpr const char* kSubnetOfFirst =
    "ens1np0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";

// Two NICs with IPv4 addresses, in one subnet.
struct TwoNics : Patient {
  TwoNics() {
    machine.add_switch(2);
    machine.nic("mlx5_2").gid = "0000:0000:0000:0000:0000:ffff:c0a8:0102";
    routes(std::string(kSubnetOfFirst) +
           "ens2np0\t0001A8C0\t00000000\t0001\t0\t0\t101\t00FFFFFF\t0\t0\t0\n");
    set("0", "0", "0");
  }
  void routes(const std::string& lines) {
    machine.write("proc/self/net/route",
                  "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\t"
                  "IRTT\n"
                  "eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n" +
                      lines);
  }
  void set(const std::string& ignore, const std::string& announce, const std::string& filter,
           const std::string& folder = "all") {
    for (const std::string& name : {folder, std::string("ens1np0"), std::string("ens2np0")}) {
      const std::string place = "proc/sys/net/ipv4/conf/" + name;
      const bool given = name == folder;
      machine.write(place + "/arp_ignore", (given ? ignore : "0") + "\n");
      machine.write(place + "/arp_announce", (given ? announce : "0") + "\n");
      machine.write(place + "/rp_filter", (given ? filter : "0") + "\n");
    }
  }
};

TEST(RoceSubnets, SharedWithoutArpSettingsIsAWarningWithTheCommand) {
  TwoNics host;
  const Findings found = host.find(kRoceSubnets);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "ens1np0, ens2np0"));
  // Only these two: conf/all would change every other interface.
  const std::string words =
      " net/ipv4/conf/ens1np0/arp_ignore=1 net/ipv4/conf/ens2np0/arp_ignore=1"
      " net/ipv4/conf/ens1np0/arp_announce=2 net/ipv4/conf/ens2np0/arp_announce=2";
  EXPECT_TRUE(says(found, "|sudo sysctl -w" + words + "|"));
  EXPECT_TRUE(says(found, words + " | sudo tee /etc/sysctl.d/95-roce.conf"));
}

TEST(RoceSubnets, SharedWithArpSettingsIsWell) {
  TwoNics host;
  for (const char* ignore : {"1", "2"}) {
    host.set(ignore, "2", "2");
    EXPECT_EQ(outcomes(host.find(kRoceSubnets)), "ok") << ignore;
  }
}

TEST(RoceSubnets, StrictReversePathFilterIsAWarning) {
  TwoNics host;
  host.set("1", "2", "1");
  const Findings found = host.find(kRoceSubnets);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "net/ipv4/conf/ens1np0/rp_filter=2 net/ipv4/conf/ens2np0/rp_filter=2|"));
}

TEST(RoceSubnets, SettingsOfEachInterfaceCountAsWell) {
  TwoNics host;
  for (const char* name : {"ens1np0", "ens2np0"}) {
    const std::string place = std::string("proc/sys/net/ipv4/conf/") + name;
    host.machine.write(place + "/arp_ignore", "2\n");
    host.machine.write(place + "/arp_announce", "2\n");
  }
  EXPECT_EQ(outcomes(host.find(kRoceSubnets)), "ok");
}

TEST(RoceSubnets, OfTheirOwnAreWell) {
  TwoNics host;
  host.routes(std::string(kSubnetOfFirst) +
              "ens2np0\t0002A8C0\t00000000\t0001\t0\t0\t101\t00FFFFFF\t0\t0\t0\n");
  const Findings found = host.find(kRoceSubnets);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "has a subnet of its own"));
}

TEST(RoceSubnets, AreNotSharedWithAnInterfaceWithoutRdma) {
  TwoNics host;
  host.routes(std::string(kSubnetOfFirst) +
              "eth0\t0001A8C0\t00000000\t0001\t0\t0\t101\t00FFFFFF\t0\t0\t0\n");
  EXPECT_EQ(outcomes(host.find(kRoceSubnets)), "ok");
}

TEST(RoceSubnets, AreUnknownWithoutRoutesOrSettings) {
  TwoNics without_settings;
  std::filesystem::remove_all(without_settings.machine.root() + "/proc/sys/net");
  EXPECT_EQ(outcomes(without_settings.find(kRoceSubnets)), "unknown");
  TwoNics without_routes;
  std::filesystem::remove(without_routes.machine.root() + "/proc/self/net/route");
  EXPECT_EQ(outcomes(without_routes.find(kRoceSubnets)), "unknown");
}

TEST(RoceSubnets, DoNotApplyToOneInterfaceToABondAndToInfiniband) {
  Patient one;
  EXPECT_TRUE(one.find(kRoceSubnets).empty());
  TwoNics bond;
  bond.machine.nic("mlx5_2").netdev = "ens1np0";
  EXPECT_TRUE(bond.find(kRoceSubnets).empty());
  TwoNics infiniband;
  for (const char* name : {"mlx5_1", "mlx5_2"}) {
    infiniband.machine.nic(name).link_layer = "InfiniBand";
  }
  EXPECT_TRUE(infiniband.find(kRoceSubnets).empty());
}

TEST(IbUmad, WarnsIfNotLoadedOnAKubernetesNode) {
  Patient by_folder;
  by_folder.machine.write("var/lib/kubelet/config.yaml", "");
  const Findings found = by_folder.find(kIbUmad);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "sudo modprobe ib_umad"));
  Patient by_process;
  by_process.machine.write("proc/900/comm", "kubelet\n");
  EXPECT_EQ(outcomes(by_process.find(kIbUmad)), "warn");
}

TEST(IbUmad, IsWellAsAModuleOrBuiltIn) {
  for (const char* place : {"sys/module/ib_umad/refcnt", "sys/class/infiniband_mad/abi_version"}) {
    Patient patient;
    patient.machine.write("var/lib/kubelet/config.yaml", "");
    patient.machine.write(place, "5\n");
    EXPECT_EQ(outcomes(patient.find(kIbUmad)), "ok") << place;
  }
}

TEST(IbUmad, IsUnknownWithoutModules) {
  Patient patient;
  patient.find(kIbUmad);
  patient.machine.write("var/lib/kubelet/config.yaml", "");
  std::filesystem::remove_all(patient.machine.root() + "/sys/module");
  EXPECT_EQ(outcomes(patient.find(kIbUmad)), "unknown");
}

TEST(IbUmad, DoesNotApplyWithoutKubernetesOrWithoutNic) {
  Patient patient;
  EXPECT_TRUE(patient.find(kIbUmad).empty());
  EXPECT_TRUE(find_on_bare_host(kIbUmad).empty());
}

}  // namespace
}  // namespace gdr::doctor::test
