#include "host/pci/names.h"

#include <gtest/gtest.h>

#include "captured_host.h"

namespace gdr::host {
namespace {

TEST(PciNames, AreThoseOfTheGivenFile) {
  test::CapturedHost scratch;
  scratch.write("pci.ids", "10de  NVIDIA Corporation\n\t2330  GH100 [H100 SXM5 80GB]\n");
  PciNames names(scratch.root() + "/pci.ids");
  EXPECT_EQ(names.vendor(0x10de), "NVIDIA Corporation");
  EXPECT_EQ(names.device(0x10de, 0x2330), "GH100 [H100 SXM5 80GB]");
  EXPECT_EQ(names.device(0x10de, 0x2331), "");
  EXPECT_EQ(names.vendor(0x1234), "");
}

TEST(PciNames, AreEmptyWithoutAFile) {
  PciNames names("/no/such/file");
  EXPECT_EQ(names.vendor(0x10de), "");
  EXPECT_EQ(names.device(0x10de, 0x2330), "");
}

// libpci takes a malformed file for a reason to end the process.
TEST(PciNames, SurviveAMalformedFile) {
  test::CapturedHost scratch;
  scratch.write("pci.ids", "10de  NVIDIA Corporation\n\t2330  GH100\nnonsense here\n");
  PciNames names(scratch.root() + "/pci.ids");
  EXPECT_EQ(names.vendor(0x15b3), "");
  EXPECT_EQ(names.device(0x10de, 0x2330), "") << "what failed once is not asked again";
}

}  // namespace
}  // namespace gdr::host
