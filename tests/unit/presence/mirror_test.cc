#include "presence/mirror.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch_folder.h"

namespace gdr::presence {
namespace {

namespace fs = std::filesystem;

struct Around {
  test::ScratchFolder machine, tree;
  Around() {
    machine.write("sys/devices/pci0000:16/0000:16:01.0/class", "0x060400\n");
    machine.write("sys/devices/pci0000:16/0000:16:02.0/class", "0x030000\n");
    machine.write("sys/class/infiniband/mlx5_0/fw_ver", "28.1\n");
    machine.link("sys/bus/pci/devices/0000:16:01.0", "../../../devices/pci0000:16/0000:16:01.0");
    tree.write("sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/class", "0x020000\n");
    tree.write("sys/class/infiniband/soft0/fw_ver", "gdrkit\n");
    machine.write("sys/devices/pci0000:16/0000:16:05.0/infiniband/outer/fw_ver", "gdrkit\n");
    tree.write("sys/devices/pci0000:16/0000:16:05.0/label", "gdrkit software NIC\n");
    tree.write("sys/devices/pci0000:16/0000:16:05.0/infiniband/soft1/fw_ver", "gdrkit\n");
    tree.link("sys/bus/pci/devices/0000:17:00.0",
              "../../../devices/pci0000:16/0000:16:01.0/0000:17:00.0");
    const Result<void> done = mirror_machine(tree.root(), machine.root());
    EXPECT_TRUE(done) << done.error().message;
  }
  std::string read(const std::string& path) const { return test::text_of_file(tree.at(path)); }
};

TEST(Mirror, LeadsUpAndAsideFromAPlaceToTheMachine) {
  const Around around;
  const std::string place = "sys/bus/pci/devices/0000:17:00.0/";
  EXPECT_EQ(around.read(place + "class"), "0x020000\n");
  EXPECT_EQ(around.read(place + "../class"), "0x060400\n");
  EXPECT_EQ(around.read(place + "../../0000:16:02.0/class"), "0x030000\n");
}

TEST(Mirror, ListsTheMachinesFunctionsBesideTheTrees) {
  const Around around;
  EXPECT_EQ(around.read("sys/bus/pci/devices/0000:16:01.0/class"), "0x060400\n");
  EXPECT_TRUE(fs::is_symlink(around.tree.at("sys/bus/pci/devices/0000:16:01.0")));
}

TEST(Mirror, ShowsNoneOfTheRealNicsThatTheTreeReplaces) {
  const Around around;
  EXPECT_FALSE(fs::exists(around.tree.at("sys/class/infiniband/mlx5_0")));
}

TEST(Mirror, ShowsNoDeviceOfARunAroundThisOneInThePlaceOfAnother) {
  const Around around;
  EXPECT_FALSE(fs::exists(around.tree.at("sys/devices/pci0000:16/0000:16:05.0/infiniband/outer")));
  EXPECT_TRUE(fs::exists(around.tree.at("sys/devices/pci0000:16/0000:16:05.0/infiniband/soft1")));
}

}  // namespace
}  // namespace gdr::presence
