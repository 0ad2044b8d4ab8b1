#include "cli/nccl_defaults.h"

#include <gtest/gtest.h>

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

// NCCL allocates 16 chunks for every channel, whose bytes it counts in an int.
TEST(NcclChunkBytes, AreFourMebibytesOrWhatKeepsAllChannelsBelowTwoGibibytes) {
  EXPECT_EQ(nccl_chunk_bytes(1), 4u << 20);
  EXPECT_EQ(nccl_chunk_bytes(16), 4u << 20);
  EXPECT_EQ(nccl_chunk_bytes(17), 2u << 20);  // NCCL rounds 17 channels up to 32
  EXPECT_EQ(nccl_chunk_bytes(32), 2u << 20);
  EXPECT_EQ(nccl_chunk_bytes(64), 1u << 20);
}

}  // namespace
}  // namespace gdr::cli
