#include "perf/limits/limits.h"

#include <gtest/gtest.h>

#include <limits>

#include "facts_samples.h"

namespace gdr::perf {
namespace {

Load writes(std::uint64_t size = 1 << 20) {
  Load load;
  load.size = size;
  return load;
}
Load to_gpu(std::uint64_t size = 1 << 20) {
  Load load = writes(size);
  load.far = {Place::Kind::kGpu, 0};
  return load;
}

const Limit* find(const std::vector<Limit>& limits, const std::string& words) {
  for (const Limit& limit : limits) {
    if (limit.what.find(words) != std::string::npos) return &limit;
  }
  return nullptr;
}
// "check: sentence" of every limit that has one.
std::string advice_of(const std::vector<Limit>& limits) {
  std::string all;
  for (const Limit& limit : limits) {
    if (!limit.advice.empty()) all += limit.check + ": " + limit.advice + "\n";
  }
  return all;
}
std::string advice_of(const Load& load, const Facts& near, const Facts& far, double reached) {
  return advice_of(limits_of(load, near, far, reached));
}

TEST(Limits, AreLinksAndPcieOfBothHostsNearestFirst) {
  const auto limits = limits_of(writes(), sample_side("a"), sample_side("b"), 20e9);
  ASSERT_EQ(limits.size(), 6u);
  EXPECT_EQ(limits[0].what, "link of mlx5_0 port 1 on a");
  EXPECT_EQ(limits[0].value, 25e9);
  EXPECT_DOUBLE_EQ(limits[0].share, 0.8);
  EXPECT_EQ(limits[1].what, "link of mlx5_0 port 1 on b");
  EXPECT_EQ(limits[2].what, "PCIe of mlx5_0 on b (gen 4 x16)") << "writes have longer headers";
  EXPECT_EQ(limits[3].what, "PCIe of mlx5_0 on a (gen 4 x16)");
  EXPECT_EQ(limits[4].what, "single-thread memcpy on a, for comparison only")
      << "NICs do not use it";
  EXPECT_EQ(advice_of(limits), "");
}

TEST(Limits, OfReadsHaveTheDataComeTheOtherWay) {
  Load load = writes();
  load.operation = Operation::kRead;
  const auto limits = limits_of(load, sample_side("a"), sample_side("b"), 20e9);
  EXPECT_LT(find(limits, "PCIe of mlx5_0 on a")->value, find(limits, "PCIe of mlx5_0 on b")->value);
}

TEST(Limits, AreTwiceAsMuchForBothWays) {
  Load load = writes();
  load.both_ways = true;
  const auto limits = limits_of(load, sample_side("a"), sample_side("b"), 20e9);
  EXPECT_EQ(find(limits, "link of")->value, 50e9);
  EXPECT_NEAR(find(limits, "PCIe of mlx5_0 on a")->value, 28.8e9 + 29.2e9, 0.1e9);
}

TEST(Limits, OfALoopbackThroughOnePortAreItsPcieAndNotItsLink) {
  const Facts side = sample_side("a");
  Load load = writes();
  auto limits = limits_of(load, side, side, 20e9);
  EXPECT_FALSE(find(limits, "link"));
  ASSERT_TRUE(find(limits, "PCIe of mlx5_0 (gen 4 x16)"));
  EXPECT_NEAR(find(limits, "PCIe")->value, 28.8e9, 0.1e9);
  load.both_ways = true;
  limits = limits_of(load, side, side, 20e9);
  EXPECT_NEAR(find(limits, "PCIe")->value, 28.8e9, 0.1e9) << "each direction serves both ways";
}

TEST(Limits, OfGpuMemoryAreItsPcieAndNotTheHostsMemory) {
  Load load = to_gpu();
  load.near = {Place::Kind::kGpu, 0};
  const auto limits = limits_of(load, sample_side("a"), sample_side("b"), 20e9);
  EXPECT_TRUE(find(limits, "PCIe of GPU 0 on a (gen 4 x16)"));
  EXPECT_TRUE(find(limits, "PCIe of GPU 0 on b (gen 4 x16)"));
  EXPECT_FALSE(find(limits, "memcpy"));
}

TEST(Limits, OfStagedTransfersAreCopiesAsWell) {
  Load load = writes();
  load.far = {Place::Kind::kStaged, 0};
  const auto limits = limits_of(load, sample_side("a"), sample_side("b"), 5e9);
  EXPECT_TRUE(find(limits, "PCIe of GPU 0 on b"));
  ASSERT_TRUE(find(limits, "single-thread memcpy on b"));
}

TEST(Limits, OfSoftwareNicsAreCopiesByTheirThreadsAlone) {
  const Facts side = software_side("a");
  Load load = writes(65536);
  load.threads = 2;
  auto limits = limits_of(load, side, side, 20e9);
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits[0].what, "2-thread memcpy");
  EXPECT_EQ(limits[0].value, 24e9);
  EXPECT_EQ(limits[1].what, "2-thread memcpy of 65536 B in cache");
  limits = limits_of(load, side, side, 30e9);
  EXPECT_EQ(limits[0].value, 80e9) << "the other is exceeded, and limits nothing here";
}

TEST(Limits, OfSoftwareNicsAndRealGpusAreThePcieThatIsCrossed) {
  Facts side = software_side("a");
  side.gpus = {{0, false, sample_pcie("pci0000:00", "0000:02:01.0", "0000:04:00.0")}};
  Load load = to_gpu();
  EXPECT_TRUE(find(limits_of(load, side, side, 5e9), "PCIe of GPU 0"));
  load.near = {Place::Kind::kGpu, 0};
  EXPECT_TRUE(limits_of(load, side, side, 5e9).empty()) << "GPUs copy to each other";
}

TEST(Limits, AreNoneOfLatencyNorOfNothing) {
  Load load = writes();
  EXPECT_TRUE(limits_of(load, sample_side("a"), sample_side("b"), 0).empty());
  EXPECT_TRUE(
      limits_of(load, sample_side("a"), sample_side("b"), std::numeric_limits<double>::quiet_NaN())
          .empty());
  load.measure = Measure::kLatency;
  EXPECT_TRUE(limits_of(load, sample_side("a"), sample_side("b"), 20e9).empty());
}

TEST(Limits, ComeFromTheNarrowestLinkOnTheWay) {
  Facts near = sample_side("a");
  near.nics[0].pcie.links[1].width = near.nics[0].pcie.links[1].most_width = 4;
  Load load = writes();
  EXPECT_TRUE(find(limits_of(load, near, sample_side("b"), 5e9),
                   "PCIe above mlx5_0 on a (gen 4 x4 at 0000:00:01.0)"));
  load.near = {Place::Kind::kGpu, 0};
  EXPECT_TRUE(find(limits_of(load, near, sample_side("b"), 5e9), "PCIe of mlx5_0 on a (gen 4 x16)"))
      << "below one switch the links above it are not used";
}

// Both sides with a second port of the same kind.
Facts with_second(Facts side, const NicFacts& nic) {
  side.nics.push_back(nic);
  return side;
}

TEST(Limits, OfSeveralPortsAreTheSumOfTheirLinks) {
  NicFacts second = sample_side("a").nics[0];
  second.name = "mlx5_1";
  second.link_bits_per_second = 100e9;
  Load load = writes();
  load.ports = 2;
  const Facts near = with_second(sample_side("a"), second),
              far = with_second(sample_side("b"), second);
  auto limits = limits_of(load, near, far, 20e9);
  ASSERT_TRUE(find(limits, "links of mlx5_0 port 1 and mlx5_1 port 1 on a"));
  EXPECT_EQ(find(limits, "links of")->value, 37.5e9);
  Facts unknown = near;
  unknown.nics[1].link_bits_per_second = 0;
  EXPECT_FALSE(find(limits_of(load, unknown, far, 20e9), "port 1 on a"))
      << "a sum of what is known";
  EXPECT_FALSE(find(limits_of(load, near, near, 20e9), "links of")) << "a loopback";
}

TEST(Limits, OfSeveralPortsAreThePcieThatTheyShare) {
  NicFacts second = sample_side("a").nics[0];
  second.name = "mlx5_1";
  second.pcie.path.back() = second.pcie.links[0].below = "0000:03:00.1";
  Load load = writes();
  const auto value = [&](const char* words) {
    const auto limits =
        limits_of(load, with_second(sample_side("a"), second), sample_side("b"), 20e9);
    const Limit* found = find(limits, words);
    return found ? found->value : 0;
  };
  EXPECT_NEAR(value("PCIe of mlx5_0 and mlx5_1 on a (gen 4 x16)"), 29.2e9, 0.1e9) << "one device";
  second.pcie.links[0].above = "0000:02:07.0";
  EXPECT_NEAR(value("PCIe above mlx5_0 and mlx5_1 on a (gen 4 x16 at 0000:00:01.0)"), 29.2e9, 0.1e9)
      << "one switch";
  second.pcie.links[1].above = "0000:80:01.0";
  EXPECT_NEAR(value("PCIe of mlx5_0 and mlx5_1 on a"), 58.4e9, 0.2e9) << "nothing";
  second = sample_side("a").nics[0];
  second.port = 2;
  EXPECT_NEAR(value("PCIe of mlx5_0 on a (gen 4 x16)"), 29.2e9, 0.1e9) << "one function";
}

TEST(Limits, OfAGpuBesideSeveralNicsAreThoseOfItsLinksThatAllPass) {
  Facts far = sample_side("b");
  far.gpus[0].pcie.links[1].width = far.gpus[0].pcie.links[1].most_width = 4;
  NicFacts second = far.nics[0];
  second.name = "mlx5_1";
  second.pcie.path = {"pci0000:80", "0000:80:01.0", "0000:81:00.0"};
  far.nics.push_back(second);
  EXPECT_TRUE(
      find(limits_of(to_gpu(), sample_side("a"), far, 20e9), "PCIe of GPU 0 on b (gen 4 x16)"))
      << "what goes to the NIC beside it does not pass the link above the switch";
}

TEST(Limits, TakeAGpusLinkAtFullSpeedSinceItRestsWhenIdle) {
  Facts far = sample_side("b");
  far.gpus[0].pcie.links[0].speed = 2.5;
  const auto limits = limits_of(to_gpu(), sample_side("a"), far, 10e9);
  EXPECT_TRUE(find(limits, "PCIe of GPU 0 on b (gen 4 x16)"));
  EXPECT_EQ(advice_of(limits).find("pcie-link"), std::string::npos);
}

TEST(Advice, NamesALinkThatRunsNarrowerOrSlowerThanItsEndsCan) {
  Facts near = sample_side("a");
  near.nics[0].pcie.links[0].width = 4;
  const auto limits = limits_of(writes(), near, sample_side("b"), 7e9);
  EXPECT_EQ(limits[0].what, "PCIe of mlx5_0 on a (gen 4 x4)");
  EXPECT_GT(limits[0].share, 0.9) << "what there is was used well";
  EXPECT_EQ(limits[0].check, "pcie-link");
  EXPECT_NE(limits[0].advice.find("gen 4 x4, but both ends support gen 4 x16"), std::string::npos);
  near = sample_side("a");
  near.nics[0].pcie.links[0].speed = 8;
  EXPECT_NE(advice_of(writes(), near, sample_side("b"), 12e9).find("pcie-link"), std::string::npos);
  near.nics[0].pcie.links[0].most_speed = 8;
  EXPECT_EQ(advice_of(writes(), near, sample_side("b"), 12e9).find("pcie-link"), std::string::npos)
      << "its ends can do no more";
}

TEST(Advice, NamesAGpuThatItsNicReachesThroughTheProcessorOnly) {
  Facts far = sample_side("b");
  far.gpus[0].pcie.path = {"pci0000:00", "0000:00:05.0", "0000:04:00.0"};
  std::string text = advice_of(to_gpu(), sample_side("a"), far, 10e9);
  EXPECT_NE(text.find("pair-grade: GPU 0 and mlx5_0"), std::string::npos) << text;
  EXPECT_NE(text.find("(PHB)"), std::string::npos) << text;
  far.gpus[0].pcie.path[0] = "pci0000:80";
  far.gpus[0].pcie.numa_node = 1;
  EXPECT_NE(advice_of(to_gpu(), sample_side("a"), far, 10e9).find("(SYS)"), std::string::npos);
  EXPECT_EQ(advice_of(to_gpu(), sample_side("a"), far, 24e9), "") << "the share is not low";
  far.virtual_machine = true;
  EXPECT_EQ(advice_of(to_gpu(), sample_side("a"), far, 10e9), "") << "its tree is made up";
}

TEST(Advice, NamesTheNumaNodeWhereTheNicIs) {
  Facts near = sample_side("a");
  near.numa_node = 1;
  const auto limits = limits_of(writes(), near, sample_side("b"), 10e9);
  EXPECT_EQ(limits[0].check, "numa-node");
  EXPECT_NE(limits[0].advice.find("mlx5_0 is on NUMA node 0 on a, but gdr ran on node 1"),
            std::string::npos);
  EXPECT_NE(limits[0].advice.find("--cpunodebind=0"), std::string::npos);
  EXPECT_EQ(advice_of(limits).find("numa-node", advice_of(limits).find("numa-node") + 1),
            std::string::npos)
      << "once is enough";
  EXPECT_EQ(advice_of(writes(), near, sample_side("b"), 24e9), "");
  near.nics[0].pcie.numa_node = -1;
  EXPECT_EQ(advice_of(writes(), near, sample_side("b"), 10e9), "");
}

TEST(Advice, IsGivenOfAnyOfSeveralNics) {
  Facts near = sample_side("a");
  NicFacts second = near.nics[0];
  second.name = "mlx5_1";
  second.pcie.max_read_request = 512;
  near.nics.push_back(second);
  EXPECT_NE(advice_of(writes(), near, sample_side("b"), 10e9)
                .find("mlx5_1 reads memory in requests of 512"),
            std::string::npos);
  near.nics[1] = near.nics[0];
  near.numa_node = 1;
  EXPECT_NE(advice_of(writes(), near, sample_side("b"), 10e9).find("numa-node"), std::string::npos);
  near.nics[1].pcie.numa_node = 1;
  EXPECT_EQ(advice_of(writes(), near, sample_side("b"), 10e9).find("numa-node"), std::string::npos)
      << "one of them would be far either way";
}

TEST(Advice, NamesSmallPacketsUnlessTheyWereAskedForOrNotUsed) {
  Facts near = sample_side("a");
  near.nics[0].path_mtu = 1024;
  Load load = writes();
  const std::string text = advice_of(load, near, sample_side("b"), 10e9);
  EXPECT_NE(text.find("mtu: the path MTU is 1024 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("dev ens1 mtu 9000"), std::string::npos) << text;
  load.path_mtu = 1024;
  EXPECT_EQ(advice_of(load, near, sample_side("b"), 10e9), "");
  const Facts soft = software_side("a");
  EXPECT_EQ(advice_of(writes(), soft, soft, 1e9), "") << "no packets within one host";
  EXPECT_NE(advice_of(writes(), soft, software_side("b"), 1e9).find("mtu"), std::string::npos);
  EXPECT_EQ(advice_of(writes(64), near, sample_side("b"), 1e8), "") << "one packet either way";
}

TEST(Advice, NamesStrictOrderingWhereItMatters) {
  Facts far = sample_side("b");
  far.nics[0].pcie.relaxed_ordering = Switch::kOff;
  EXPECT_EQ(advice_of(writes(), sample_side("a"), far, 10e9), "");
  far.amd = true;
  const std::string text = advice_of(writes(), sample_side("a"), far, 10e9);
  EXPECT_NE(text.find("relaxed-ordering: "), std::string::npos) << text;
  EXPECT_NE(text.find("setpci -s 0000:03:00.0 CAP_EXP+8.w=10:10"), std::string::npos) << text;
  far.nics[0].pcie.relaxed_ordering = Switch::kUnknown;
  EXPECT_EQ(advice_of(writes(), sample_side("a"), far, 10e9), "");
}

TEST(Advice, NamesSmallReadRequestsOfTheSideThatSends) {
  Facts near = sample_side("a"), far = sample_side("b");
  far.nics[0].pcie.max_read_request = 512;
  EXPECT_EQ(advice_of(writes(), near, far, 10e9), "");
  near.nics[0].pcie.max_read_request = 512;
  EXPECT_NE(advice_of(writes(), near, far, 10e9)
                .find("max-read-request: mlx5_0 reads memory in requests of 512"),
            std::string::npos);
}

TEST(Advice, NamesThreadsThatHaveTooFewCores) {
  Facts side = software_side("a");
  side.cores = 1;
  Load load = writes();
  EXPECT_EQ(advice_of(load, side, side, 1e9), "") << "the server's program has nothing to do";
  load.operation = Operation::kSend;
  EXPECT_EQ(advice_of(load, side, side, 1e9),
            ": 2 threads share 1 CPU: allow more (taskset -c, or the container's limits)\n");
  side.cores = 2;
  EXPECT_EQ(advice_of(load, side, side, 1e9), "");
}

TEST(Advice, QuotesInCommandsWhatTheOtherSideMadeUp) {
  Facts far = sample_side("b");
  far.amd = true;
  far.nics[0].pcie.relaxed_ordering = Switch::kOff;
  far.nics[0].pcie.path.back() = "0; reboot";
  far.nics[0].netdev = "$(reboot)";
  far.nics[0].path_mtu = 1024;
  const std::string text = advice_of(writes(), sample_side("a"), far, 10e9);
  EXPECT_NE(text.find("dev '$(reboot)' mtu"), std::string::npos) << text;
  EXPECT_NE(text.find("setpci -s '0; reboot' CAP"), std::string::npos) << text;
  far.nics[0].pcie.path.clear();
  EXPECT_EQ(advice_of(writes(), sample_side("a"), far, 10e9).find("setpci"), std::string::npos);
}

TEST(Advice, NamesAProcessThatMayRunOnOneCoreOfTwoHosts) {
  Facts near = sample_side("a");
  near.cores = 1;
  Load load = writes();
  load.threads = 4;
  EXPECT_NE(advice_of(load, near, sample_side("b"), 10e9).find("4 threads share 1 CPU on a"),
            std::string::npos);
}

TEST(Facts, SurviveTheWayToTheOtherSide) {
  const Facts facts = sample_side("a");
  const auto back = process::decode<Facts>(process::encode(facts));
  ASSERT_TRUE(back);
  EXPECT_EQ(process::encode(*back), process::encode(facts));
  EXPECT_EQ(back->nics[0].pcie.links[1].above, "0000:00:01.0");
}

}  // namespace
}  // namespace gdr::perf
