#include "cli/nccl_defaults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace gdr::cli {
namespace {

using Names = std::vector<std::string>;

TEST(NcclTopology, PutsEveryNicBesideEveryGpuBelowOneSwitch) {
  EXPECT_EQ(nccl_topology({"0000:00:06.0", "0000:00:07.0"}, {"soft0", "mlx5_3"}),
            R"(<system version="1">
<cpu numaid="0">
<pci busid="ffff:ff:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
<pci busid="0000:00:06.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
<pci busid="0000:00:07.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
<pci busid="ffff:ff:01.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="soft0" dev="0"/></nic></pci>
<pci busid="ffff:ff:02.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="mlx5_3" dev="1"/></nic></pci>
</pci>
</cpu>
</system>
)");
}

TEST(SoftNicNames, AreThoseOfTheDevicesOrTheDefaults) {
  EXPECT_EQ(soft_nic_names(""), (Names{"soft0", "soft1"}));
  EXPECT_EQ(soft_nic_names("mlx5_0,mlx5_3"), (Names{"mlx5_0", "mlx5_3"}));
  EXPECT_EQ(soft_nic_names("a/mac=02:00:00:00:00:01/ip=10.0.0.1,b/speed=400"), (Names{"a", "b"}));
}

// NCCL keeps the chunks of 16 steps of every channel's peers within 2 GiB, or a send fails.
TEST(NcclDefaults, KeepAllChunksInFlightBelowTwoGibibytes) {
  for (const std::span<const Default> defaults :
       {std::span<const Default>(kRealGpuDefaults), std::span<const Default>(kByPacketsDefaults)}) {
    const auto value = [&](std::string_view name) {
      const auto found = std::find_if(defaults.begin(), defaults.end(),
                                      [&](const Default& one) { return one.name == name; });
      return found == defaults.end() ? 0 : std::stoll(found->value);
    };
    const long long chunk = value("NCCL_P2P_NET_CHUNKSIZE"), channels = value("NCCL_MIN_NCHANNELS");
    ASSERT_GT(chunk, 0);
    ASSERT_GT(channels, 0);
    EXPECT_LT(chunk * 16 * channels, 2LL << 30);
    EXPECT_GE(value("NCCL_BUFFSIZE"), chunk);
  }
}

}  // namespace
}  // namespace gdr::cli
