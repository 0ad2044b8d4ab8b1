// Every cell of the table of registration ways, written out from the sources that
// src/tools/host/registration/ways.cc names.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "host/registration/ways.h"

namespace gdr::host {
namespace {

struct Driver {
  const char* name;
  Release release;
  Flavour flavour;
  Generation gpu;
};

constexpr auto kClosed = Flavour::kProprietary;
constexpr auto kOpen = Flavour::kOpen;
constexpr auto kOld = Generation::kBeforeTuring;
constexpr auto kMiddle = Generation::kTuringToHopper;
constexpr auto kNew = Generation::kOpenOnly;

struct Column {
  RdmaStack stack;
  Release kernel;
};
constexpr std::array<Column, 8> kColumns = {{{RdmaStack::kInbox, {4, 18}},
                                             {RdmaStack::kInbox, {6, 8}},
                                             {RdmaStack::kPeerMemoryKernel, {5, 4}},
                                             {RdmaStack::kPeerMemoryKernel, {6, 5}},
                                             {RdmaStack::kOfed, {5, 4}},
                                             {RdmaStack::kOfed, {6, 8}},
                                             {RdmaStack::kEfa, {5, 10}},
                                             {RdmaStack::kEfa, {6, 1}}}};

struct Row {
  Driver driver;
  // The ways that exist, the best first: D dma-buf; N nvidia-peermem, O nv_peer_mem (the old one),
  // E efa_nv_peermem. "-": none.
  std::array<const char*, 8> ways;
};
constexpr Row kTable[] = {
    //                                                inbox        Ubuntu etc.  OFED         EFA
    // driver, flavour,
    // GPU                           4.18  6.8    5.4   6.5    5.4   6.8    5.10  6.1
    {{"440 closed V100", {440, 118}, kClosed, kOld}, {"-", "-", "O", "O", "O", "O", "E", "E"}},
    {{"440 closed T4", {440, 118}, kClosed, kMiddle}, {"-", "-", "O", "O", "O", "O", "E", "E"}},
    {{"460 closed A100", {460, 91}, kClosed, kMiddle}, {"-", "-", "O", "O", "O", "O", "E", "E"}},
    {{"470 closed V100", {470, 256}, kClosed, kOld}, {"-", "-", "N", "N", "N", "N", "E", "E"}},
    {{"470 closed A100", {470, 256}, kClosed, kMiddle}, {"-", "-", "N", "N", "N", "N", "E", "E"}},
    {{"510 closed A100", {510, 47}, kClosed, kMiddle}, {"-", "-", "N", "N", "N", "N", "E", "E"}},
    {{"515 closed A100", {515, 43}, kClosed, kMiddle}, {"-", "-", "N", "N", "N", "N", "E", "E"}},
    {{"515 open A100", {515, 43}, kOpen, kMiddle}, {"-", "D", "N", "DN", "N", "DN", "E", "DE"}},
    {{"535 closed V100", {535, 261}, kClosed, kOld}, {"-", "-", "N", "N", "N", "N", "E", "E"}},
    {{"535 closed H100", {535, 261}, kClosed, kMiddle}, {"-", "-", "N", "N", "N", "N", "E", "E"}},
    {{"535 open H100", {535, 261}, kOpen, kMiddle}, {"-", "D", "N", "DN", "N", "DN", "E", "DE"}},
    {{"580 open H200", {580, 95}, kOpen, kMiddle}, {"-", "D", "N", "DN", "N", "DN", "E", "DE"}},
    {{"580 open B200", {580, 95}, kOpen, kNew}, {"-", "D", "N", "DN", "N", "DN", "E", "DE"}},
    // The driver does not take the GPU at all.
    {{"580 open V100", {580, 95}, kOpen, kOld}, {"-", "-", "-", "-", "-", "-", "-", "-"}},
    {{"580 closed B200", {580, 95}, kClosed, kNew}, {"-", "-", "-", "-", "-", "-", "-", "-"}},
};

RegistrationFacts facts_of(const Driver& driver, const Column& column) {
  RegistrationFacts facts;
  facts.driver = driver.release;
  facts.flavour = driver.flavour;
  facts.gpu = driver.gpu;
  facts.kernel = column.kernel;
  facts.stack = column.stack;
  return facts;
}

std::string cell_of(const RegistrationWays& ways) {
  std::string cell = ways.dma_buf == Tri::kYes ? "D" : "";
  if (ways.peer_memory == Tri::kYes) {
    cell += ways.module == PeerModule::kNvidiaPeermem  ? "N"
            : ways.module == PeerModule::kNvPeerMem    ? "O"
            : ways.module == PeerModule::kEfaNvPeermem ? "E"
                                                       : "?";
  }
  return cell.empty() ? "-" : cell;
}

TEST(RegistrationWays, AreThoseOfTheTableInEveryCell) {
  for (const Row& row : kTable) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const RegistrationWays ways = ways_of(facts_of(row.driver, kColumns[i]));
      EXPECT_EQ(cell_of(ways), row.ways[i]) << row.driver.name << ", column " << i;
      const Way best = row.ways[i][0] == 'D'   ? Way::kDmaBuf
                       : row.ways[i][0] == '-' ? Way::kNone
                                               : Way::kPeerMemory;
      EXPECT_EQ(ways.best, best) << row.driver.name << ", column " << i;
    }
  }
}

TEST(RegistrationWays, SayOfEachThatIsMissingWhyAndWhatMakesOne) {
  for (const Row& row : kTable) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const RegistrationWays ways = ways_of(facts_of(row.driver, kColumns[i]));
      const std::string where = std::string(row.driver.name) + ", column " + std::to_string(i);
      EXPECT_NE(ways.dma_buf == Tri::kYes, !ways.why_no_dma_buf.empty()) << where;
      EXPECT_NE(ways.peer_memory == Tri::kYes, !ways.why_no_peer_memory.empty()) << where;
      EXPECT_TRUE(ways.best != Way::kNone || !ways.remedy.empty()) << where;
      EXPECT_TRUE(ways.best != Way::kDmaBuf || ways.remedy.empty()) << where;
    }
  }
}

std::string remedy(const Driver& driver, RdmaStack stack, Release kernel) {
  return ways_of(facts_of(driver, {stack, kernel})).remedy;
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What is advised where, written out: a wrong one costs a day.
TEST(RegistrationWays, AdviseNothingThatTheHostCannotHave) {
  const Driver v100{"", {470, 256}, kClosed, kOld}, a100_470{"", {470, 256}, kClosed, kMiddle};
  const Driver t4_440{"", {440, 118}, kClosed, kMiddle}, h100{"", {550, 54}, kClosed, kMiddle};
  const Driver h100_open{"", {550, 54}, kOpen, kMiddle};

  const std::string for_v100 = remedy(v100, RdmaStack::kInbox, {6, 8});
  EXPECT_FALSE(has(for_v100, "open kernel module")) << "it drives no Volta: " << for_v100;
  EXPECT_TRUE(has(for_v100, "DOCA-OFED")) << for_v100;
  EXPECT_EQ(remedy(v100, RdmaStack::kOfed, {5, 15}), "") << "peer memory is all it can have";

  const std::string for_470 = remedy(a100_470, RdmaStack::kInbox, {6, 8});
  EXPECT_TRUE(has(for_470, "GPU driver 515 or newer with its open kernel module")) << for_470;
  EXPECT_FALSE(has(for_470, "same driver release")) << "470 has no open one: " << for_470;

  const std::string for_440 = remedy(t4_440, RdmaStack::kInbox, {5, 4});
  EXPECT_TRUE(has(for_440, "515 or newer")) << for_440;
  EXPECT_TRUE(has(for_440, "kernel 5.12 or newer")) << for_440;
  EXPECT_TRUE(has(for_440, "nv_peer_mem")) << for_440;
  EXPECT_FALSE(has(for_440, "nvidia-peermem")) << "440 has none: " << for_440;

  const std::string for_550 = remedy(h100, RdmaStack::kInbox, {6, 8});
  EXPECT_TRUE(has(for_550, "open kernel module of the same driver release")) << for_550;
  EXPECT_TRUE(has(for_550, "nvidia-driver-550-open")) << for_550;
  EXPECT_FALSE(has(for_550, "kernel 5.12")) << for_550;

  const std::string old_kernel = remedy(h100_open, RdmaStack::kInbox, {4, 18});
  EXPECT_TRUE(has(old_kernel, "run kernel 5.12 or newer")) << old_kernel;
  EXPECT_FALSE(has(old_kernel, "open kernel module")) << "it is there: " << old_kernel;

  EXPECT_TRUE(has(remedy({"", {580, 95}, kOpen, kOld}, RdmaStack::kOfed, {6, 8}),
                  "install the proprietary kernel module"));
  EXPECT_TRUE(has(remedy({"", {580, 95}, kClosed, kNew}, RdmaStack::kOfed, {6, 8}),
                  "install the open kernel module"));
}

TEST(RegistrationWays, SayWhatTheOpenModuleDrivesWhereTheGpuIsNotKnown) {
  for (const unsigned major : {470u, 535u}) {
    const Driver driver{"", {major, 1}, kClosed, Generation::kUnknown};
    const std::string advice = remedy(driver, RdmaStack::kInbox, {6, 8});
    EXPECT_TRUE(has(advice, "Turing and later")) << advice;
  }
}

TEST(RegistrationWays, AreUnknownWhereAFactIs) {
  const Driver open{"", {580, 95}, kOpen, kMiddle};
  RegistrationFacts facts = facts_of(open, {RdmaStack::kUnknown, {6, 8}});
  EXPECT_EQ(ways_of(facts).dma_buf, Tri::kYes) << "the stack does not decide it";
  EXPECT_EQ(ways_of(facts).peer_memory, Tri::kUnknown);
  facts.kernel = {};
  EXPECT_EQ(ways_of(facts).dma_buf, Tri::kUnknown);
  facts = facts_of(open, {RdmaStack::kInbox, {6, 8}});
  facts.flavour = Flavour::kUnknown;
  EXPECT_EQ(ways_of(facts).dma_buf, Tri::kUnknown);
  EXPECT_EQ(ways_of(facts).best, Way::kUnknown);
  facts.flavour = kOpen;
  facts.driver = {};
  EXPECT_EQ(ways_of(facts).dma_buf, Tri::kUnknown);
  facts.driver = {580, 95};
  facts.gpu = Generation::kUnknown;
  EXPECT_EQ(ways_of(facts).dma_buf, Tri::kYes) << "the driver runs, so it drives the GPU";
}

TEST(RegistrationWays, HaveDmaBufOnAnOldKernelThatWasGivenTheImport) {
  RegistrationFacts facts = facts_of({"", {550, 54}, kOpen, kMiddle}, {RdmaStack::kInbox, {4, 18}});
  facts.import_carried_back = true;  // Red Hat's 4.18
  EXPECT_EQ(ways_of(facts).best, Way::kDmaBuf);
  facts.flavour = kClosed;
  EXPECT_EQ(ways_of(facts).best, Way::kNone);
  EXPECT_FALSE(has(ways_of(facts).remedy, "kernel 5.12")) << ways_of(facts).remedy;
}

TEST(Generations, AreToldByTheDeviceNumber) {
  // pci.ids: Tesla M40, P100, V100; T4, A100, H100, L40S; GH200; B200, GB200, RTX PRO 6000.
  for (const unsigned id : {0x17fdu, 0x15f8u, 0x1db6u, 0x1df6u}) {
    EXPECT_EQ(generation_of(static_cast<std::uint16_t>(id)), kOld) << id;
  }
  for (const unsigned id : {0x1eb8u, 0x20b2u, 0x2330u, 0x26b9u, 0x2335u}) {
    EXPECT_EQ(generation_of(static_cast<std::uint16_t>(id)), kMiddle) << id;
  }
  for (const unsigned id : {0x2342u, 0x2901u, 0x2941u, 0x2bb1u}) {
    EXPECT_EQ(generation_of(static_cast<std::uint16_t>(id)), kNew) << id;
  }
  EXPECT_EQ(generation_of(0), Generation::kUnknown);
}

TEST(InboxStacks, AreKnownByTheDistributionsKernels) {
  constexpr std::pair<const char*, RdmaStack> kReleases[] = {
      {"5.4.0-216-generic", RdmaStack::kPeerMemoryKernel},    // Ubuntu 20.04
      {"5.15.0-130-generic", RdmaStack::kPeerMemoryKernel},   // 22.04
      {"6.5.0-45-lowlatency", RdmaStack::kPeerMemoryKernel},  // 22.04 HWE
      {"6.8.0-45-generic", RdmaStack::kInbox},                // 24.04
      {"6.14.0-24-generic", RdmaStack::kInbox},
      {"4.15.0-213-generic", RdmaStack::kInbox},  // 18.04
      {"6.8.0-1021-nvidia", RdmaStack::kPeerMemoryKernel},
      {"6.11.0-1009-nvidia-64k", RdmaStack::kPeerMemoryKernel},
      {"5.15.0-1053-nvidia-lowlatency", RdmaStack::kPeerMemoryKernel},
      {"6.1.0-18-amd64", RdmaStack::kInbox},            // Debian
      {"4.18.0-553.el8_10.x86_64", RdmaStack::kInbox},  // RHEL 8
      {"5.14.0-427.13.1.el9_4.aarch64", RdmaStack::kInbox},
      {"6.12.10-200.fc41.x86_64", RdmaStack::kInbox},
      {"6.4.0-150600.21-default", RdmaStack::kInbox},  // SLES 15
      {"6.6.60-talos", RdmaStack::kInbox},
      {"5.10.0-60.18.0.50.oe2203.x86_64", RdmaStack::kPeerMemoryKernel},  // openEuler
      {"6.12.1", RdmaStack::kUnknown},
      {"", RdmaStack::kUnknown},
      {"nonsense-generic", RdmaStack::kUnknown}};
  for (const auto& [release, stack] : kReleases)
    EXPECT_EQ(inbox_stack_of(release), stack) << release;
}

}  // namespace
}  // namespace gdr::host
