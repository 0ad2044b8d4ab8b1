#include "host/pci/product_data.h"

#include <gtest/gtest.h>

#include "host/inventory.h"
#include "host/source/lspci_verbose.h"
#include "machine.h"

namespace gdr::host {
namespace {

std::string tag(unsigned char kind, const std::string& content) {
  std::string bytes(1, static_cast<char>(kind));
  bytes += static_cast<char>(content.size() & 0xff);
  bytes += static_cast<char>(content.size() >> 8);
  return bytes + content;
}
std::string field(const std::string& keyword, const std::string& value) {
  return keyword + static_cast<char>(value.size()) + value;
}

const std::string kName = "NVIDIA ConnectX-7 VPI adapter card, 400Gb/s NDR IB, single-port OSFP";

std::string card(const std::string& more = "") {
  return tag(0x82, kName + std::string(2, '\0')) +
         tag(0x90, field("PN", "MCX75310AAS-NEAT  ") + field("EC", "A7") +
                       field("SN", "MT2245X07H9K") + more + field("RV", "\x5a")) +
         tag(0x91, field("YA", "asset 17")) + '\x78';
}

ProductData parse(const std::string& bytes, std::size_t* most = nullptr) {
  return parse_product_data([&](std::size_t offset, std::size_t count) {
    if (most != nullptr) *most = std::max(*most, offset + count);
    return offset < bytes.size() ? bytes.substr(offset, count) : std::string();
  });
}

TEST(ProductData, IsTheCardsNameAndPartNumber) {
  const ProductData data = parse(card());
  EXPECT_EQ(data.name, kName);
  EXPECT_EQ(data.part_number, "MCX75310AAS-NEAT");
  EXPECT_FALSE(data.is_management);
}

TEST(ProductData, TellsAManagementFunctionByItsMark) {
  EXPECT_TRUE(parse(card(field("V3", "SMDL=SW_MNG"))).is_management);
  EXPECT_TRUE(parse(tag(0x90, field("VA", "SW_MNG"))).is_management);
  EXPECT_FALSE(parse(tag(0x82, "SW_MNGR") + tag(0x91, field("YA", "SW_MNG"))).is_management);
}

// Each four bytes take the card a millisecond.
TEST(ProductData, IsReadNoFurtherThanItsFieldsGo) {
  std::size_t most = 0;
  static_cast<void>(parse(card() + std::string(4096, '\0'), &most));
  ASSERT_NE(card().find("asset"), std::string::npos);
  EXPECT_LE(most, card().find("asset"));
}

TEST(ProductData, IsNothingWhereItIsCutOffOrIsNone) {
  const std::string whole = card();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ProductData data = parse(whole.substr(0, size));
    EXPECT_EQ(kName.find(data.name), 0u) << size;
  }
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse(std::string(64, '\0')).empty());
  EXPECT_TRUE(parse(std::string(70000, '\xff')).empty());  // what a dead card answers
  EXPECT_TRUE(parse(tag(0x84, "x") + tag(0x85, "")).empty());
}

TEST(ProductData, AsBytesHoldsNothingElse) {
  ProductData data = parse(card(field("V3", "SW_MNG")));
  const std::string bytes = product_data_bytes(data);
  EXPECT_EQ(bytes.find("MT2245X07H9K"), std::string::npos);
  const ProductData again = parse(bytes);
  EXPECT_EQ(again.name, data.name);
  EXPECT_EQ(again.part_number, data.part_number);
  EXPECT_TRUE(again.is_management);
  EXPECT_EQ(product_data_bytes({}), "");
}

TEST(ProductData, IsReadOfNicsAlone) {
  test::Machine machine;
  machine.add_switch(1);
  machine.write_all();
  Inventory inventory = take_inventory(machine.root());
  ASSERT_FALSE(inventory.nics.empty());
  ASSERT_FALSE(inventory.gpus.empty());
  const std::string nic = inventory.nics[0].pci_address;
  machine.write("sys/bus/pci/devices/" + nic + "/vpd", card());
  machine.write("sys/bus/pci/devices/" + inventory.gpus[0].pci_address + "/vpd", card());
  EXPECT_TRUE(inventory.nics[0].pci->product.empty()) << "taking an inventory costs little";
  read_product_data(Files(machine.root()), inventory);
  EXPECT_EQ(inventory.nics[0].pci->product.name, kName);
  EXPECT_EQ(inventory.pci.find(nic)->product.part_number, "MCX75310AAS-NEAT");
  EXPECT_TRUE(inventory.gpus[0].pci->product.empty());
}

TEST(ProductData, IsTheSameForEachFunctionOfACard) {
  Inventory inventory;
  for (const char* address : {"0000:1a:00.0", "0000:1a:00.1", "0000:1b:00.0"}) {
    Nic nic;
    nic.pci.emplace();
    nic.pci->address = address;
    inventory.nics.push_back(nic);
  }
  inventory.nics[1].pci->product = {kName, "MCX75310AAS-NEAT", true};
  name_functions(inventory);
  EXPECT_EQ(inventory.nics[0].pci->product.name, kName);
  EXPECT_EQ(inventory.nics[0].pci->product.part_number, "MCX75310AAS-NEAT");
  EXPECT_FALSE(inventory.nics[0].pci->product.is_management) << "that is one function's";
  EXPECT_TRUE(inventory.nics[2].pci->product.empty()) << "another card";
}

TEST(ProductData, IsWhatLspciPrintsOfIt) {
  const auto read = read_lspci_verbose(
      "0000:1a:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
      "\tControl: I/O- Mem+ BusMaster+\n"
      "\tCapabilities: [48] Vital Product Data\n"
      "\t\tProduct Name: Nvidia ConnectX-7 mezz board, 2 ports, management\n"
      "\t\tRead-only fields:\n"
      "\t\t\t[PN] Part number: 0ABCDE\n"
      "\t\t\t[SN] Serial number: MT2245X07H9K\n"
      "\t\t\t[V3] Vendor specific: SMDL=SW_MNG\n"
      "\t\tEnd\n");
  ASSERT_TRUE(read) << read.error().message;
  const PciFunction& function = read->functions.at("0000:1a:00.0");
  EXPECT_EQ(function.product.name, "Nvidia ConnectX-7 mezz board, 2 ports, management");
  EXPECT_EQ(function.product.part_number, "0ABCDE");
  EXPECT_TRUE(function.product.is_management);
}

}  // namespace
}  // namespace gdr::host
