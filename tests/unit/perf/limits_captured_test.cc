// Facts gathered from machines that exist, and what follows from them.
#include "captured_host.h"
#include "perf/limits/limits.h"

namespace gdr::perf {
namespace {

using test::CapturedHost;

// As the libraries on that machine would name its devices.
tool::InventoryReport inventory_of(const CapturedHost& host) {
  const host::Inventory machine = host::take_inventory(host.root());
  tool::Survey survey;
  for (const host::Nic& nic : machine.nics) {
    tool::NicPort port;
    port.number = 1;
    port.active = port.ethernet = true;
    port.speed = 400'000;
    survey.nics.push_back({nic.name, "", {port}});
  }
  for (const host::Gpu& gpu : machine.gpus) {
    tool::GpuSurvey found;
    found.ordinal = static_cast<std::int32_t>(survey.gpus.size());
    found.pci_address = gpu.pci_address;
    survey.gpus.push_back(found);
  }
  return make_inventory({"libibverbs.so.1", "libcuda.so.1", false, false}, survey, machine);
}

void add(CapturedHost& host, const std::map<std::string, test::PciSample>& functions,
         const std::string& gpu, const std::string& nic) {
  for (const auto& [address, sample] : functions) host.function(sample);
  host.write("sys/bus/pci/devices/" + gpu + "/vendor", "0x10de\n");
  host.write("sys/bus/pci/devices/" + gpu + "/class", "0x030200\n");
  host.nic("mlx5_0", nic);
  host.write("proc/cpuinfo", "vendor_id : AuthenticAMD\nmodel name\t: AMD EPYC 9334\n");
  host.write("proc/sys/kernel/random/boot_id", "0\n");
}

Load to_gpu() {
  Load load;
  load.size = 1 << 20;
  load.far = {Place::Kind::kGpu, 0};
  return load;
}

Chosen chosen() {
  Chosen chosen;
  chosen.ports.emplace_back();
  chosen.ports[0].port.nic = "mlx5_0";
  chosen.ports[0].path_mtu = 4096;
  chosen.gpus = {0};
  return chosen;
}

TEST(CapturedHgx, IsLimitedByItsLinkAndThenByPcie) {
  const std::string folder = test::captures_folder();
  if (folder.empty()) GTEST_SKIP() << "no captured machines here";
  CapturedHost host;
  add(host, test::read_lspci(test::text_of_file(folder + "/hgx-h100-dell.lspci-vvv.txt")),
      "0000:19:00.0", "0000:1a:00.0");
  const tool::InventoryReport inventory = inventory_of(host);
  Facts facts = gather_facts(inventory, chosen(), host.root());
  EXPECT_FALSE(facts.nics[0].software);
  EXPECT_EQ(facts.nics[0].link_bits_per_second, 400e9);
  EXPECT_EQ(facts.nics[0].pcie.max_payload, 256u);
  EXPECT_EQ(facts.nics[0].pcie.relaxed_ordering, Switch::kOn);
  ASSERT_EQ(facts.gpus.size(), 1u);
  Facts other = facts;
  other.host = other.machine = "b";
  const auto limits = limits_of(to_gpu(), facts, other, 45e9);
  ASSERT_GE(limits.size(), 5u);
  EXPECT_EQ(limits[0].what, "link of mlx5_0 port 1 on ");
  EXPECT_NEAR(limits[0].share, 0.9, 0.001);
  EXPECT_NEAR(limits[2].value, 57.6e9, 0.1e9) << limits[2].what;
  for (const Limit& limit : limits) EXPECT_EQ(limit.advice, "") << limit.what;
  for (const Limit& limit : limits_of(to_gpu(), facts, other, 10e9)) {
    EXPECT_EQ(limit.advice, "") << "nothing is wrong with this machine";
  }
}

TEST(CapturedAsus, HasItsNicsFarFromItsGpus) {
  const std::string folder = test::captures_folder();
  if (folder.empty()) GTEST_SKIP() << "no captured machines here";
  const std::string name = folder + "/asus-esc8000a-e12.lspci-";
  CapturedHost host;
  const auto parents = test::read_lspci_tree(test::text_of_file(name + "tv.txt"), host);
  add(host, test::read_lspci(test::text_of_file(name + "vvv.txt"), parents), "0000:01:00.0",
      "0000:21:00.0");
  const tool::InventoryReport inventory = inventory_of(host);
  const Facts facts = gather_facts(inventory, chosen(), host.root());
  EXPECT_TRUE(facts.amd);
  Facts other = facts;
  other.machine = "b";
  other.host = "b";
  std::string advice;
  for (const Limit& limit : limits_of(to_gpu(), facts, other, 8e9)) {
    if (limit.what.find("GPU 0") != std::string::npos) {
      EXPECT_NE(limit.what.find("gen 4 x16"), std::string::npos) << "idle at gen 1 when captured";
    }
    advice += limit.check + "; ";
  }
  EXPECT_NE(advice.find("X7 pair grade"), std::string::npos) << advice;
  EXPECT_NE(advice.find("X4 MPS/MRRS"), std::string::npos) << advice;
  EXPECT_EQ(advice.find("X3"), std::string::npos) << "no link is at fault";
}

}  // namespace
}  // namespace gdr::perf
