#include "host/inventory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/hardware.h"
#include "scratch_folder.h"

namespace gdr::host {
namespace {

namespace fs = std::filesystem;

// A machine with one two-port NIC and one GPU, written below a temporary root.
class Machine : public ::testing::Test, protected test::ScratchFolder {
 protected:
  void add_nic() {
    const std::string pci = "sys/devices/pci0000:00/0000:00:01.0/0000:0a:00.0";
    write(pci + "/numa_node", "1\n");
    write(pci + "/net/ens1f0/dev_port", "0\n");
    link("sys/class/infiniband/mlx5_0/device",
         "../../../devices/pci0000:00/0000:00:01.0/0000:0a:00.0");
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    write("sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
    write(port + "/state", "4: ACTIVE\n");
    write(port + "/link_layer", "Ethernet\n");
    write(port + "/rate", "400 Gb/sec (4X NDR)\n");
    write(port + "/gids/0", "fe80:0000:0000:0000:0a00:27ff:fe00:0001\n");
    write(port + "/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    write(port + "/gids/2", "0000:0000:0000:0000:0000:ffff:c0a8:0001\n");
    write(port + "/gid_attrs/types/2", "RoCE v2\n");
    write(port + "/gid_attrs/ndevs/2", "ens1f0\n");
    write(port + "/counters/port_rcv_packets", "17\n");
    write(port + "/hw_counters/out_of_buffer", "3\n");
    write(port + "/hw_counters/lifespan", "10\n");
    write("sys/class/net/ens1f0/address", "0c:42:a1:00:00:01\n");
  }
  void add_gpu() {
    const std::string pci = "sys/bus/pci/devices/0000:41:00.0";
    write(pci + "/vendor", "0x10de\n");
    write(pci + "/class", "0x030200\n");
    write(pci + "/device", "0x2335\n");
    write(pci + "/numa_node", "0\n");
    write("proc/driver/nvidia/gpus/0000:41:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 17\n");
  }
};

TEST_F(Machine, WithoutDevicesHasNoHardware) {
  EXPECT_FALSE(has_rdma_nic(root()));
  EXPECT_FALSE(has_gpu(root()));
  EXPECT_TRUE(take_inventory(root()).nics.empty());
  EXPECT_FALSE(has_gpu("/no/such/folder"));
}

TEST_F(Machine, WithANicNamesItEveryWay) {
  add_nic();
  EXPECT_TRUE(has_rdma_nic(root()));
  const Inventory inventory = take_inventory(root());
  ASSERT_EQ(inventory.nics.size(), 1u);
  const Nic& nic = inventory.nics[0];
  EXPECT_EQ(nic.name, "mlx5_0");
  EXPECT_EQ(nic.pci_address, "0000:0a:00.0");
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_EQ(nic.firmware, "28.39.1002");
  ASSERT_EQ(nic.ports.size(), 1u);
  EXPECT_EQ(nic.ports[0].netdev, "ens1f0");
  EXPECT_EQ(nic.ports[0].mac, "0c:42:a1:00:00:01");
  ASSERT_EQ(nic.ports[0].gids.size(), 2u) << "the empty GID is left out";
  EXPECT_EQ(nic.ports[0].gids[1].index, 2u);
  EXPECT_EQ(nic.ports[0].gids[1].type, "RoCE v2");
}

TEST_F(Machine, WithAGpuReadsItsModelFromTheDriver) {
  add_gpu();
  EXPECT_TRUE(has_gpu(root()));
  const Inventory inventory = take_inventory(root());
  ASSERT_EQ(inventory.gpus.size(), 1u);
  EXPECT_EQ(inventory.gpus[0].model, "NVIDIA H200");
  EXPECT_EQ(inventory.gpus[0].numa_node, 0);
  EXPECT_EQ(inventory.gpus[0].driver, "");
}

TEST_F(Machine, OtherVendorsAndOtherClassesAreNoGpu) {
  write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
  write("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
  write("sys/bus/pci/devices/0000:41:00.1/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:41:00.1/class", "0x040300\n");  // the audio function of a GPU
  EXPECT_FALSE(has_gpu(root()));
}

TEST_F(Machine, CountersComeFromBothFoldersWithoutTheirSettings) {
  add_nic();
  const auto counters = read_counters(root(), "mlx5_0", 1);
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].name, "port_rcv_packets");
  EXPECT_EQ(counters[0].value, 17);
  EXPECT_EQ(counters[1].name, "out_of_buffer");
}

TEST_F(Machine, PeerMemoryClientsAndTheLockedMemoryLimitAreFound) {
  write("sys/module/nvidia_peermem/version", "580.159.04\n");
  write("proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max locked memory         8388608              unlimited            bytes\n");
  const Inventory inventory = take_inventory(root());
  EXPECT_EQ(inventory.peer_memory, std::vector<std::string>{"/sys/module/nvidia_peermem/version"});
  EXPECT_EQ(inventory.locked_memory_limit, 8388608u);
}

TEST_F(Machine, AnUnlimitedLockedMemoryLimitIsNoNumber) {
  write("proc/self/limits",
        "Max locked memory         unlimited            unlimited            bytes\n");
  EXPECT_FALSE(take_inventory(root()).locked_memory_limit.has_value());
}

}  // namespace
}  // namespace gdr::host
