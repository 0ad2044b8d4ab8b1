// NVLinks as hwloc writes them: bandwidths in MB/s between GPUs, or between GPUs and NVSwitches.
#include <gtest/gtest.h>

#include <algorithm>

#include "described_machine.h"
#include "host/source/hwloc_xml.h"
#include "host/source/nccl_xml.h"

namespace gdr::host {
namespace {

using test::DescribedMachine;

// GPUs with the gp_index 141 and 142, a switch with 143.
DescribedMachine two_gpus(std::uint16_t device = 0x2330) {
  DescribedMachine machine;
  machine.gpu("0000:41:00.0", "0000:40:01.0", 0).device = device;
  machine.gpu("0000:42:00.0", "0000:40:02.0", 0).device = device;
  machine.add({.address = "0000:43:00.0",
               .port = "0000:40:03.0",
               .vendor = 0x10de,
               .device = 0x22a3,
               .class_code = 0x068000,
               .name = "GH100 [H100 NVSwitch]",
               .node = 0});
  return machine;
}

std::string matrix(const std::string& indexes, const std::string& values) {
  return "<distances2 type=\"PCIDev\" nbobjs=\"2\" kind=\"25\" name=\"NVLinkBandwidth\">"
         "<indexes length=\"8\">" +
         indexes + "</indexes><u64values length=\"8\">" + values + "</u64values></distances2>";
}

unsigned links_of(const DescribedMachine& machine) {
  const auto found = read_hwloc_xml(machine.hwloc());
  EXPECT_TRUE(found) << found.error().message;
  if (!found || found->nvlinks.empty()) return 0;
  EXPECT_EQ(found->nvlinks[0].a, "0000:41:00.0");
  EXPECT_EQ(found->nvlinks[0].b, "0000:42:00.0");
  return found->nvlinks[0].count;
}

TEST(HwlocNvLink, IsTheBandwidthOverThatOfOneLink) {
  DescribedMachine machine = two_gpus();
  machine.more_hwloc = matrix("141 142 ", "1000000 450000 450000 1000000 ");
  EXPECT_EQ(links_of(machine), 18u);
  DescribedMachine pascal = two_gpus(0x15f9);
  pascal.more_hwloc = matrix("141 142 ", "1000000 40000 40000 1000000 ");
  EXPECT_EQ(links_of(pascal), 2u);
  DescribedMachine blackwell = two_gpus(0x2901);
  blackwell.more_hwloc = matrix("141 142 ", "1000000 900000 900000 1000000 ");
  EXPECT_EQ(links_of(blackwell), 18u);
}

TEST(HwlocNvLink, JoinsGpusOverSwitches) {
  DescribedMachine machine = two_gpus();
  std::string text = matrix("PCIDev:141 PCIDev:142 PCIDev:143 ",
                            "1000000 0 100000 0 1000000 100000 100000 100000 1000000 ");
  text.replace(text.find("distances2"), 10, "distances2hetero");
  text.replace(text.rfind("distances2"), 10, "distances2hetero");
  machine.more_hwloc = text;
  EXPECT_EQ(links_of(machine), 4u);
}

TEST(HwlocNvLink, IsSaidToBeUnseenWhereTheFileHasNone) {
  const auto says = [](const Inventory& machine) {
    return std::ranges::any_of(
        machine.unseen, [](const std::string& sentence) { return sentence.starts_with("NVLink"); });
  };
  const auto without = read_hwloc_xml(two_gpus().hwloc());
  ASSERT_TRUE(without);
  EXPECT_TRUE(says(*without));
  EXPECT_TRUE(without->nvlinks.empty());
  DescribedMachine machine = two_gpus();
  machine.more_hwloc = matrix("141 142 ", "1000000 450000 450000 1000000 ");
  EXPECT_FALSE(says(*read_hwloc_xml(machine.hwloc())));
  const auto nccl = read_nccl_xml(two_gpus().nccl());
  ASSERT_TRUE(nccl);
  EXPECT_TRUE(says(*nccl));
}

TEST(HwlocNvLink, IsUnseenInABrokenMatrix) {
  for (const char* values : {"", "1 2 3", "x", "99999999999999999999999 1 1 1"}) {
    DescribedMachine machine = two_gpus();
    machine.more_hwloc = matrix("141 142 ", values);
    EXPECT_EQ(links_of(machine), 0u) << values;
  }
  DescribedMachine machine = two_gpus();
  machine.more_hwloc = matrix("7 8 ", "1 450000 450000 1 ");
  EXPECT_EQ(links_of(machine), 0u) << "of no objects";
}

}  // namespace
}  // namespace gdr::host
