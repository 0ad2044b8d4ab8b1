// Facts gathered from whole machines, and what follows from them.
#include <gtest/gtest.h>

#include <algorithm>

#include "machines.h"
#include "perf/limits/limits.h"

namespace gdr::perf {
namespace {

// As the libraries on that machine would name its devices.
participants::InventoryReport inventory_of(const std::string& root) {
  host::Inventory machine = host::take_inventory(root);
  // As CUDA numbers those of one model.
  std::ranges::sort(machine.gpus, {}, &host::Gpu::pci_address);
  participants::Survey survey;
  for (const host::Nic& nic : machine.nics) {
    participants::NicPort port;
    port.number = 1;
    port.active = port.ethernet = true;
    port.speed = 400'000;
    survey.nics.push_back({nic.name, "", {port}});
  }
  for (const host::Gpu& gpu : machine.gpus) {
    participants::GpuSurvey found;
    found.ordinal = static_cast<std::int32_t>(survey.gpus.size());
    found.pci_address = gpu.pci_address;
    survey.gpus.push_back(found);
  }
  return make_inventory({"libibverbs.so.1", "libcuda.so.1", false, false}, survey, machine);
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
  const std::string root = test::machine_file("hgx-h100-dell.root");
  const participants::InventoryReport inventory = inventory_of(root);
  Facts facts = gather_facts(inventory, chosen(), root);
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
  const std::string root = test::machine_file("asus-esc8000a-e12.root");
  const participants::InventoryReport inventory = inventory_of(root);
  const Facts facts = gather_facts(inventory, chosen(), root);
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
  EXPECT_NE(advice.find("pair-grade"), std::string::npos) << advice;
  EXPECT_NE(advice.find("max-read-request"), std::string::npos) << advice;
  EXPECT_EQ(advice.find("pcie-link"), std::string::npos) << "no link is at fault";
}

}  // namespace
}  // namespace gdr::perf
