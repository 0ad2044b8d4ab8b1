#include "fabric/worker/rails.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "machines.h"

namespace gdr::fabric::worker {
namespace {

using participants::InventoryReport;

// A host with what the described machine shows, as if both libraries had found all of it.
struct Host {
  host::Inventory machine;
  InventoryReport inventory;
  Begin begin;

  explicit Host(const std::string& name)
      : machine(host::take_inventory(test::machine_file(name + ".root"))) {
    participants::Survey survey;
    for (const host::Nic& nic : machine.nics) {
      participants::NicSurvey seen;
      seen.name = nic.name;
      for (const host::Port& port : nic.ports) {
        participants::NicPort& known = seen.ports.emplace_back();
        known.number = static_cast<std::uint8_t>(port.number);
        known.active = true;
        known.ethernet = true;
        known.speed = 400'000;
        known.gid = "::ffff:10.0.0.1";
      }
      survey.nics.push_back(std::move(seen));
    }
    // CUDA counts them by their PCI addresses.
    std::vector<std::string> addresses;
    for (const host::Gpu& gpu : machine.gpus) addresses.push_back(gpu.pci_address);
    std::ranges::sort(addresses);
    for (const std::string& address : addresses) {
      participants::GpuSurvey& seen = survey.gpus.emplace_back();
      seen.ordinal = static_cast<int>(survey.gpus.size()) - 1;
      seen.pci_address = address;
    }
    inventory = participants::make_inventory({}, survey, machine);
    inventory.host_memory_only = false;
  }
  participants::NicPort& port(const std::string& nic) {
    return std::ranges::find(inventory.nics, nic,
                             [](const participants::NicEntry& entry) { return entry.survey.name; })
        ->survey.ports.front();
  }
  Result<RailPlan> choose() const { return choose_rails(inventory, machine, begin); }
};

// Two ports and two GPUs, as the stand-ins have them.
Host stand_ins() {
  Host host("hgx-h100-dell");
  host.inventory.soft_nic = host.inventory.soft_gpu = true;
  host.inventory.nics.resize(2);
  host.inventory.gpus.resize(2);
  for (int i = 0; i < 2; ++i) {
    participants::NicEntry& nic = host.inventory.nics[static_cast<std::size_t>(i)];
    nic.hardware.reset();
    nic.survey.name = "soft" + std::to_string(i);
    nic.survey.ports.front().gid = "::ffff:127.10.0." + std::to_string(i + 1);
  }
  return host;
}

// "0 mlx5_0 GPU 0, 1 mlx5_3 GPU 1"
std::string text(const RailPlan& plan) {
  std::string all;
  for (const PlannedRail& rail : plan.rails) {
    all += (all.empty() ? "" : ", ") + std::to_string(rail.number) + " " + rail.port.text();
    if (rail.gpu) all += " GPU " + std::to_string(*rail.gpu);
  }
  return all;
}

std::string chosen(const Host& host) {
  const Result<RailPlan> plan = host.choose();
  return plan ? text(*plan) : "error: " + plan.error().message;
}

TEST(FabricRails, AreTheNicsNearestToGpusInNaturalOrder) {
  EXPECT_EQ(chosen(Host("hgx-h100-dell")),
            "0 mlx5_0 GPU 0, 1 mlx5_3 GPU 1, 2 mlx5_4 GPU 2, 3 mlx5_5 GPU 3, 4 mlx5_6 GPU 4, "
            "5 mlx5_9 GPU 5, 6 mlx5_10 GPU 6, 7 mlx5_11 GPU 7");
}

TEST(FabricRails, TellWhatTheirLinkCarries) {
  const Result<RailPlan> plan = Host("hgx-h100-dell").choose();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rails.front().link_bits_per_second, 4e11);
  EXPECT_FALSE(plan->rails.front().software_nic);
  EXPECT_FALSE(plan->rails.front().software_gpu);
  const Result<RailPlan> software = [] {
    Host host = stand_ins();
    host.begin.is_whole_host = false;
    return host.choose();
  }();
  ASSERT_TRUE(software);
  EXPECT_EQ(software->rails.front().link_bits_per_second, 0);
  EXPECT_TRUE(software->rails.front().software_nic);
  EXPECT_TRUE(software->rails.front().software_gpu);
}

TEST(FabricRails, APortThatIsDownIsLeftOutWithANote) {
  Host host("hgx-h100-dell");
  host.port("mlx5_4").active = false;
  const Result<RailPlan> plan = host.choose();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rails.size(), 7u);
  EXPECT_EQ(plan->rails[2].port.text(), "mlx5_5");
  ASSERT_EQ(plan->notes.size(), 1u);
  EXPECT_EQ(plan->notes.front(), "mlx5_4 is left out: its link is down");
}

TEST(FabricRails, WithoutGpusAreAllPortsForData) {
  Host host("hgx-h100-dell");
  host.inventory.gpus.clear();
  host.inventory.nics.resize(3);
  host.inventory.nics[1].hardware->management = "its product data says SW_MNG";
  EXPECT_EQ(chosen(host), "0 " + host.inventory.nics[0].survey.name + ", 1 " +
                              host.inventory.nics[2].survey.name);
}

TEST(FabricRails, ThoseThatWereNamedAreTakenInTheirOrderWithTheNearestGpu) {
  Host host("hgx-h100-dell");
  host.begin.settings.nics = {"mlx5_10", "mlx5_1:1"};
  EXPECT_EQ(chosen(host), "0 mlx5_10 GPU 6, 1 mlx5_1 GPU 0");
}

TEST(FabricRails, ANameThatIsUnknownOrDownOrGivenTwiceIsAnError) {
  Host host("hgx-h100-dell");
  host.port("mlx5_2").active = false;
  host.begin.settings.nics = {"mlx5_99"};
  EXPECT_TRUE(chosen(host).starts_with("error: unknown NIC 'mlx5_99'; allowed: mlx5_0"))
      << chosen(host);
  host.begin.settings.nics = {"mlx5_2"};
  EXPECT_EQ(chosen(host), "error: mlx5_2: its link is down");
  host.begin.settings.nics = {"mlx5_1", "mlx5_1:1"};
  EXPECT_EQ(chosen(host), "error: mlx5_1 is named twice; name each NIC once");
}

TEST(FabricRails, AMemberHasItsShareUnderTheNumbersOfTheHost) {
  Host host("hgx-h100-dell");
  host.begin.shares = 4;
  host.begin.share = 1;
  EXPECT_EQ(chosen(host), "1 mlx5_3 GPU 1, 5 mlx5_9 GPU 5");
  host.begin.shares = 20;
  host.begin.share = 9;
  EXPECT_EQ(chosen(host), "");
}

TEST(FabricRails, OneThatStandsForAHostCountsItsOwnFromZero) {
  Host host("hgx-h100-dell");
  host.begin.is_whole_host = false;
  host.begin.shares = 4;
  host.begin.share = 1;
  EXPECT_EQ(chosen(host), "0 mlx5_3 GPU 1, 1 mlx5_9 GPU 5");
}

TEST(FabricRails, MoreStandInHostsThanPortsShareThem) {
  Host host = stand_ins();
  host.begin.is_whole_host = false;
  host.begin.shares = 5;
  for (const auto& [share, expected] :
       {std::pair{0u, "0 soft0 GPU 0"}, std::pair{3u, "0 soft1 GPU 1"},
        std::pair{4u, "0 soft0 GPU 0"}}) {
    host.begin.share = share;
    EXPECT_EQ(chosen(host), expected);
  }
  host.inventory.gpus.resize(1);
  host.begin.share = 3;
  EXPECT_EQ(chosen(host), "0 soft1 GPU 0");
}

TEST(FabricRails, AWholeHostIsNotReachedAtALoopbackAddress) {
  EXPECT_EQ(chosen(stand_ins()),
            "error: soft0 has the loopback address 127.10.0.1, which no other host reaches; give "
            "it one of its host's, on every host, before you start gdr: export "
            "GDR_SOFT_DEVICES=soft0/ip=ADDRESS");
}

TEST(FabricRails, WithoutANicTheErrorSaysWhatToType) {
  Host host("hgx-h100-dell");
  host.inventory.nics.clear();
  EXPECT_TRUE(chosen(host).starts_with("error: no RDMA NIC; look for it with: lspci"))
      << chosen(host);
  Host down("hgx-h100-dell");
  for (const host::Nic& nic : down.machine.nics) down.port(nic.name).active = false;
  EXPECT_EQ(chosen(down),
            "error: no usable RDMA NIC (mlx5_0 is left out: its link is down); look at its ports "
            "with: ibv_devinfo");
}

}  // namespace
}  // namespace gdr::fabric::worker
