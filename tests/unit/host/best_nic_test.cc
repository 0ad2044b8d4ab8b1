// What decides between NICs that are equal in all earlier criteria. topo's best_test.cc tests each
// reason in words.
#include "host/best_nic.h"

#include <gtest/gtest.h>

#include "processor_time.h"

namespace gdr::host {
namespace {

PciFunction below(const std::string& port, const std::string& address, int node) {
  PciFunction made;
  made.address = address;
  made.path = {"pci0000:00", port, address};
  made.numa_node = node;
  made.links = {{port, address, 32, 32, 16, 16}};
  return made;
}

// Each device below a root port of its own: all are PHB to each other.
struct Made {
  Inventory inventory;

  void gpu(const std::string& bus) {
    const PciFunction function = below("0000:00:" + bus + ".0", "0000:" + bus + ":00.0", 0);
    inventory.gpus.push_back({function.address, "H100", "nvidia", 0, function});
    inventory.pci.add(function);
  }
  Nic& nic(const std::string& bus) {
    const PciFunction function = below("0000:00:" + bus + ".0", "0000:" + bus + ":00.0", 0);
    Nic nic;
    nic.name = "mlx5_" + std::to_string(inventory.nics.size());
    nic.pci_address = function.address;
    nic.numa_node = 0;
    nic.ports.resize(1);
    nic.ports[0].state = "4: ACTIVE";
    nic.ports[0].rate = "400 Gb/sec (4X NDR)";
    nic.pci = function;
    inventory.pci.add(function);
    inventory.nics.push_back(nic);
    return inventory.nics.back();
  }
  std::string why(std::size_t gpu = 0) const {
    const NicChoice choice = choose_nics(inventory).at(gpu);
    const auto name = [&](const RankedNic& nic) { return inventory.nics[nic.index].name; };
    return (choice.nics.empty() ? "none" : name(choice.nics.front())) + ": " +
           host::why(choice, name);
  }
};

TEST(ChosenNic, HasTheFasterPortWhereNothingElseDiffers) {
  Made made;
  made.gpu("01");
  made.nic("02").ports[0].rate = "200 Gb/sec (4X HDR)";
  made.nic("03");
  EXPECT_EQ(made.why(), "mlx5_1: as near as mlx5_0, with the faster port: 400 Gb/s");
}

TEST(ChosenNic, HasAnActivePortBeforeAFasterOne) {
  Made made;
  made.gpu("01");
  made.nic("02").ports[0].rate = "100 Gb/sec (4X EDR)";
  made.nic("03").ports[0].state = "1: DOWN";
  EXPECT_EQ(made.why(), "mlx5_0: as near as mlx5_1, with an active port");
  made.inventory.nics[1].ports[0].state = "5: ACTIVE_DEFER";
  EXPECT_EQ(made.why(), "mlx5_0: as near as mlx5_1, with an active port") << "its link is lost";
}

TEST(ChosenNic, PrefersUnknownPortsToPortsThatAreDown) {
  Made made;
  made.gpu("01");
  made.nic("02").ports[0].state = "1: DOWN";
  made.nic("03").ports.clear();
  EXPECT_EQ(made.why(), "mlx5_1: as near as mlx5_0, whose ports are down");
}

TEST(ChosenNic, HasTheFasterLinkBeforeAnActivePort) {
  Made made;
  made.gpu("01");
  made.nic("02").pci->links[0].width = 8;
  made.nic("03").ports[0].state = "1: DOWN";
  EXPECT_EQ(made.why(),
            "mlx5_1: as near as mlx5_0, with the faster link: 32 GT/s x16; its ports are down");
}

TEST(ChosenNic, HasItsCardsLinkWhereItsOwnIsNotTold) {
  Made made;
  made.gpu("01");
  made.nic("02").pci->links[0].width = 8;
  made.nic("03").pci->links.clear();
  PciFunction sibling = below("0000:00:03.0", "0000:03:00.1", 0);
  made.inventory.pci.add(sibling);
  EXPECT_EQ(made.why(), "mlx5_1: as near as mlx5_0, with the faster link: 32 GT/s x16");
}

TEST(ChosenNic, IsFollowedByAllOthersFromTheBestOn) {
  Made made;
  made.gpu("01");
  made.nic("02").numa_node = 1;
  made.nic("03");
  made.nic("04").pci.reset();  // rxe
  const NicChoice choice = choose_nics(made.inventory).at(0);
  ASSERT_EQ(choice.nics.size(), 2u) << "software devices are nowhere";
  EXPECT_EQ(choice.nics[0].index, 1u);
  EXPECT_EQ(choice.nics[1].index, 0u);
  EXPECT_EQ(choice.nics[0].path, PciPath::kPhb);
  EXPECT_EQ(choice.alike, 0u);
}

TEST(ChosenNic, IsListedInTheInventorysOrderWhicheverGpuChoosesFirst) {
  Made made;
  made.gpu("05");
  made.gpu("01");
  made.nic("02");
  made.nic("03");
  const auto choices = choose_nics(made.inventory);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].gpu, 0u);
  EXPECT_EQ(choices[1].nics.front().index, 0u) << "the lower address chooses first";
  EXPECT_EQ(choices[0].nics.front().index, 1u);
}

TEST(ChosenNic, TakesBoundedTimeOnAMachineLargerThanAny) {
  const auto time_of = [](unsigned functions) {
    Made made;
    for (unsigned i = 0; i < functions; ++i) {
      char bus[16];
      snprintf(bus, sizeof bus, "%x", i);
      i % 2 ? made.gpu(bus) : static_cast<void>(made.nic(bus));
    }
    return test::processor_time_of([&] { EXPECT_EQ(choose_nics(made.inventory).size(), 1024u); });
  };
  EXPECT_LT(time_of(20'000), 8 * time_of(5'000)) << "it looks at every GPU with every NIC";
}

}  // namespace
}  // namespace gdr::host
