#include "perf/limits/side.h"

#include "captured_host.h"

namespace gdr::perf {
namespace {

Chosen port_2_of(const std::string& nic) {
  Chosen chosen;
  chosen.ports.emplace_back();
  chosen.ports[0].port.nic = nic;
  chosen.ports[0].port.port = 2;
  return chosen;
}

// A host with a real NIC of two ports, a software one of the kernel's, and a GPU.
class SideTest : public ::testing::Test {
 protected:
  void SetUp() override {
    host_.write("proc/sys/kernel/hostname", "node7\n");
    host_.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    host_.write("proc/cpuinfo", "processor : 0\nmodel name\t: AMD EPYC 9334\nflags : fpu\n");
    inventory_.verbs_path = "/lib/libibverbs.so.1";
    participants::NicEntry nic;
    nic.survey.name = "mlx5_0";
    nic.survey.ports.resize(2);
    nic.survey.ports[0].number = 1;
    nic.survey.ports[1].number = 2;
    nic.survey.ports[1].speed = 100'000;
    nic.hardware.emplace();
    nic.hardware->pci.emplace();
    nic.hardware->ports.resize(1);
    nic.hardware->ports[0].number = 2;
    nic.hardware->ports[0].netdev = "ens1f1";
    inventory_.nics.push_back(nic);
    nic.survey.name = "rxe0";
    nic.hardware->pci.reset();
    inventory_.nics.push_back(nic);
    for (int ordinal = 0; ordinal < 2; ++ordinal) {
      participants::GpuEntry gpu;
      gpu.survey.ordinal = ordinal;
      gpu.survey.name = "NVIDIA H200";
      gpu.survey.pci_address = "0000:4" + std::to_string(ordinal) + ":00.0";
      inventory_.gpus.push_back(gpu);
    }
  }
  test::CapturedHost host_;
  participants::InventoryReport inventory_;
};

TEST_F(SideTest, SaysWhatTookPart) {
  Chosen chosen = port_2_of("mlx5_0");
  chosen.ports[0].gid = "::ffff:192.0.2.1";
  chosen.ports[0].gid_index = 3;
  chosen.ports[0].path_mtu = 4096;
  chosen.gpus = {1};
  const Side side = describe_side(inventory_, chosen, "0.1.0", host_.root());
  EXPECT_EQ(side.host, "node7");
  EXPECT_EQ(side.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(side.processor, "AMD EPYC 9334");
  EXPECT_EQ(side.version, "0.1.0");
  ASSERT_EQ(side.ports.size(), 1u);
  EXPECT_EQ(side.ports[0].nic, "mlx5_0");
  EXPECT_EQ(side.ports[0].netdev, "ens1f1");
  EXPECT_EQ(side.ports[0].number, 2u);
  EXPECT_EQ(side.ports[0].gid, "::ffff:192.0.2.1");
  EXPECT_EQ(side.ports[0].gid_index, 3u);
  EXPECT_EQ(side.ports[0].path_mtu, 4096u);
  EXPECT_EQ(side.ports[0].link_bits_per_second, 100e9);
  EXPECT_EQ(side.library, "/lib/libibverbs.so.1");
  EXPECT_EQ(side.gpus, std::vector<std::string>{"GPU 1: NVIDIA H200 0000:41:00.0"});
  EXPECT_FALSE(side.soft_nic || side.soft_gpu);
}

TEST_F(SideTest, InventsNoLinkRateOfSoftwareNics) {
  const Chosen rxe = port_2_of("rxe0");
  EXPECT_EQ(describe_side(inventory_, rxe, "", host_.root()).ports[0].link_bits_per_second, 0);
  EXPECT_EQ(gather_facts(inventory_, rxe, host_.root()).nics[0].link_bits_per_second, 0);
  EXPECT_TRUE(gather_facts(inventory_, rxe, host_.root()).nics[0].software);
  inventory_.soft_nic = true;
  const Chosen soft = port_2_of("mlx5_0");
  EXPECT_EQ(describe_side(inventory_, soft, "", host_.root()).ports[0].link_bits_per_second, 0);
  EXPECT_TRUE(describe_side(inventory_, soft, "", host_.root()).soft_nic);
}

TEST_F(SideTest, HasThePortsInTheirOrder) {
  Chosen chosen = port_2_of("rxe0");
  chosen.ports.push_back(port_2_of("mlx5_0").ports[0]);
  const Side side = describe_side(inventory_, chosen, "", host_.root());
  ASSERT_EQ(side.ports.size(), 2u);
  EXPECT_EQ(side.ports[0].text(), "rxe0:2");
  EXPECT_EQ(side.ports[1].text(), "mlx5_0:2");
  const Facts facts = gather_facts(inventory_, chosen, host_.root());
  ASSERT_EQ(facts.nics.size(), 2u);
  EXPECT_TRUE(facts.nics[0].software);
  EXPECT_EQ(facts.nics[1].link_bits_per_second, 100e9);
}

TEST_F(SideTest, IsEmptyWhereAMachineSaysNothing) {
  const test::CapturedHost nothing;
  const Side side = describe_side({}, {}, "", nothing.root());
  EXPECT_EQ(side.host, "");
  EXPECT_TRUE(side.gpus.empty());
  const Facts facts = gather_facts({}, {}, nothing.root());
  EXPECT_TRUE(facts.nics.empty());
  EXPECT_EQ(facts.numa_node, -1);
  EXPECT_GE(facts.cores, 1u);
}

}  // namespace
}  // namespace gdr::perf
