#include "presence/place.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "scratch_folder.h"

namespace gdr::presence {
namespace {

// A root port at 0000:16:01.0 that leads to bus 17, on which nothing is yet; a GPU on bus 19 behind
// another; an empty root bus 40.
class Machine : public test::ScratchFolder {
 public:
  Machine() {
    add("0000:16:01.0", "pci0000:16/0000:16:01.0", "1");
    add("0000:16:03.0", "pci0000:16/0000:16:03.0", "0");
    add("0000:19:00.0", "pci0000:16/0000:16:03.0/0000:19:00.0", "0");
    leads_to("0000:16:01.0", 0x17);
    write("sys/devices/pci0000:40/uevent", "");
    write("sys/devices/pci0000:40/pci_bus/0000:40/cpuaffinity", "f0\n");
    write("sys/devices/pci0000:40/pci_bus/0000:40/cpulistaffinity", "4-7\n");
    write("sys/devices/system/cpu/online", "0-7,33\n");
  }

  void add(const std::string& address, const std::string& path, const std::string& node) {
    const std::string folder = "sys/devices/" + path;
    write(folder + "/numa_node", node + "\n");
    write(folder + "/local_cpus", "0f\n");
    write(folder + "/local_cpulist", "0-3\n");
    link("sys/bus/pci/devices/" + address, "../../../devices/" + path);
  }

  void leads_to(const std::string& bridge, char bus) {
    std::string configuration(64, '\0');
    configuration[0x0e] = 1;
    configuration[0x19] = bus;
    write("sys/bus/pci/devices/" + bridge + "/config", configuration);
  }

  Place place(const std::string& address) const {
    const Result<Place> found = find_place(root(), address);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Place();
  }
};

TEST(PlaceTest, IsBelowTheBridgeThatLeadsToItsBus) {
  const Place place = Machine().place("0000:17:00.0");
  EXPECT_EQ(place.folder(), "/sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0");
  EXPECT_FALSE(place.parent_is_made_up);
  EXPECT_EQ(place.numa_node, "1");
  EXPECT_EQ(place.local_cpus, "0f");
  EXPECT_EQ(place.local_cpulist, "0-3");
}

TEST(PlaceTest, IsBesideTheOtherFunctionsOfItsBus) {
  const Machine machine;
  EXPECT_EQ(machine.place("0000:19:01.0").folder(),
            "/sys/devices/pci0000:16/0000:16:03.0/0000:19:01.0");
  const Place on_root = machine.place("0000:16:1f.0");
  EXPECT_EQ(on_root.folder(), "/sys/devices/pci0000:16/0000:16:1f.0");
  EXPECT_EQ(on_root.numa_node, "1");
}

TEST(PlaceTest, IsOnAnEmptyRootBusWithTheProcessorsOfThatBus) {
  const Place place = Machine().place("0000:40:00.0");
  EXPECT_EQ(place.folder(), "/sys/devices/pci0000:40/0000:40:00.0");
  EXPECT_FALSE(place.parent_is_made_up);
  EXPECT_EQ(place.numa_node, "-1");
  EXPECT_EQ(place.local_cpus, "f0");
  EXPECT_EQ(place.local_cpulist, "4-7");
}

TEST(PlaceTest, IsBelowAHostBridgeOfItsOwnWhereTheMachineHasNoSuchBus) {
  const Place place = Machine().place("0001:17:00.0");
  EXPECT_EQ(place.folder(), "/sys/devices/pci0001:17/0001:17:00.0");
  EXPECT_TRUE(place.parent_is_made_up);
  EXPECT_EQ(place.numa_node, "-1");
  EXPECT_EQ(place.local_cpulist, "0-7,33");
  EXPECT_EQ(place.local_cpus, "2,000000ff");
}

TEST(PlaceTest, IsRefusedWhereTheMachineHasADevice) {
  const Result<Place> taken = find_place(Machine().root(), "0000:19:00.0");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, EADDRNOTAVAIL);
  EXPECT_EQ(taken.error().message,
            "pci=0000:19:00.0 is a device of this host; 0000:19:01.0 is free on its bus");
}

TEST(PlaceTest, IsFoundWhereThereIsNoSysfs) {
  const test::ScratchFolder nothing;
  const Result<Place> place = find_place(nothing.root(), "0000:17:00.0");
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->parent_is_made_up);
  EXPECT_EQ(place->local_cpus, "0");
}

// What another gdr run around this one shows is no device of the host.
TEST(PlaceTest, IsTheSameWithinAnotherRun) {
  Machine machine;
  for (const std::string path :
       {"pci0000:16/0000:16:01.0/0000:17:00.0", "pci0001:17/0001:17:00.0"}) {
    const std::string address = path.substr(path.rfind('/') + 1);
    machine.add(address, path, "7");
    machine.write("sys/devices/" + path + "/label", "gdrkit software NIC\n");
  }
  machine.make("sys/devices/pci0001:17/pci_bus/0001:17");
  EXPECT_EQ(machine.place("0000:17:00.0").folder(),
            "/sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0");
  EXPECT_EQ(machine.place("0000:17:00.0").numa_node, "1");
  const Place made_up = machine.place("0001:17:00.0");
  EXPECT_EQ(made_up.folder(), "/sys/devices/pci0001:17/0001:17:00.0");
  EXPECT_TRUE(made_up.parent_is_made_up);
  EXPECT_EQ(made_up.numa_node, "-1");
}

// A captured or broken tree: what is no link into the tree is no neighbour.
TEST(PlaceTest, PassesOverEntriesThatAreNoLinks) {
  const test::ScratchFolder broken;
  broken.write("sys/bus/pci/devices/0000:17:00.0/config", "short");
  broken.link("sys/bus/pci/devices/0000:17:01.0", "/elsewhere");
  const Result<Place> place = find_place(broken.root(), "0000:17:02.0");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->parent, "/sys/devices/pci0000:17");
}

}  // namespace
}  // namespace gdr::presence
