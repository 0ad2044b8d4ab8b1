// Checks of the PCIe ways on machines in the forms in which programs show them.
#include "captured_host.h"
#include "found.h"
#include "host/source/source.h"
#include "machines.h"

namespace gdr::doctor {
namespace {

using gdr::test::machine_file;
using test::outcomes;
using test::says;

Findings find_in(const Check& check, const host::Source& source) {
  const Result<host::Inventory> inventory = host::read_inventory(source);
  if (!inventory) {
    ADD_FAILURE() << inventory.error().message;
    return {};
  }
  const gdr::test::CapturedHost nothing;
  const host::Files files(nothing.root());
  return check.find(Host{.files = files,
                         .inventory = *inventory,
                         .environment = {},
                         .kernel_log = {},
                         .kernel_symbols = {}});
}

// The Dell HGX with what a test changes of its text.
class Hgx : public ::testing::Test {
 protected:
  void SetUp() override {
    text_ = gdr::test::text_of_file(machine_file("hgx-h100-dell.lspci-vvv.txt"));
    ASSERT_FALSE(text_.empty());
  }
  // In the section of a function, which ends with an empty line.
  void replace(const std::string& address, const std::string& old, const std::string& changed) {
    const auto begin = text_.find("\n" + address + " ");
    const auto at = text_.find(old, begin);
    ASSERT_NE(begin, std::string::npos);
    ASSERT_LT(at, text_.find("\n\n", begin)) << address << " has no " << old;
    text_.replace(at, old.size(), changed);
  }
  Findings find(const Check& check) {
    folder_.write("lspci.txt", text_);
    host::Source source;
    source.lspci = {folder_.root() + "/lspci.txt"};
    return find_in(check, source);
  }

  gdr::test::CapturedHost folder_;
  std::string text_;
};

TEST_F(Hgx, RedirectsNothingBetweenItsGpusAndNics) {
  const Findings found = find(kAccessControl);
  EXPECT_EQ(outcomes(found), "ok");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].subject, "8 GPU-NIC pairs");
}

TEST_F(Hgx, WithRedirectBitsOnNamesExactlyThatPort) {
  replace("39:02.0", "ACSCtl:\tSrcValid- TransBlk- ReqRedir- CmpltRedir-",
          "ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+");
  const Findings found = find(kAccessControl);
  EXPECT_EQ(outcomes(found), "ok fail");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].subject, "7 GPU-NIC pairs");
  EXPECT_EQ(found[1].summary, "request redirect, completion redirect set at 0000:39:02.0");
  EXPECT_NE(found[1].subject.find("GPU 0000:3b:00.0"), std::string::npos);
}

TEST_F(Hgx, GivesNoFalseAlarmOfItsLinks) {
  EXPECT_EQ(outcomes(find(kLink)), "ok");
  replace("3c:00.0", "LnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)",
          "LnkSta:\tSpeed 32GT/s (ok), Width x8 (downgraded)");
  const Findings found = find(kLink);
  EXPECT_EQ(outcomes(found), "ok warn");
  EXPECT_TRUE(says(found, "link 0000:39:02.0 to 0000:3c:00.0 runs at 32 GT/s x8"));
}

TEST_F(Hgx, HasOneNicBesideEachGpuAndOnePayloadSize) {
  const Findings found = find(kPairGrade);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "below the same PCIe switch (PIX)"));
  EXPECT_EQ(outcomes(find(kMaxPayload)), "ok");
  EXPECT_EQ(outcomes(find(kMaxReadRequest)), "ok");
  EXPECT_EQ(outcomes(find(kRelaxedOrdering)), "ok");
}

TEST(CapturedAsus, HasIdleGpusAndFarNics) {
  host::Source source;
  source.lspci = {machine_file("asus-esc8000a-e12.lspci-tv.txt"),
                  machine_file("asus-esc8000a-e12.lspci-vvv.txt")};
  EXPECT_TRUE(says(find_in(kPairGrade, source), "(NODE)"));
  const Findings links = find_in(kLink, source);
  EXPECT_TRUE(says(links, "2.5 GT/s of 16, at full width: idle?"));
  EXPECT_EQ(outcomes(links).find("warn"), std::string::npos) << outcomes(links);
}

TEST(CapturedAws, IsNotJudgedByItsFlatTree) {
  host::Source source;
  source.hwloc_xml = machine_file("aws-p4d.24xl.hwloc.xml");
  EXPECT_EQ(outcomes(find_in(kPairGrade, source)), "unknown");
  EXPECT_EQ(outcomes(find_in(kAccessControl, source)), "unknown");
}

}  // namespace
}  // namespace gdr::doctor
