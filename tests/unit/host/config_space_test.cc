#include "host/pci/config_space.h"

#include <gtest/gtest.h>

#include <vector>

#include "captured_host.h"

namespace gdr::host {
namespace {

// A configuration space of 4096 bytes with an Express capability at 0x60 (a switch's downstream
// port), and the extended capabilities that are added.
class Space {
 public:
  Space() : bytes_(4096, '\0') {
    set(0x00, 0x10000000 | 0x1000);
    set(0x34, 0x40);
    set(0x40, 0x6001);      // power management, next at 0x60
    set(0x60, 0x00620010);  // Express, version 2, downstream port
    set(0x68, 0x5930);      // 256 bytes, 4096 bytes, relaxed ordering
  }
  void set(std::size_t at, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) bytes_[at + i] = static_cast<char>(value >> (8 * i));
  }
  void extended(std::uint16_t at, std::uint16_t id, std::uint16_t next) {
    set(at, id | 1u << 16 | std::uint32_t{next} << 20);
  }
  std::string first(std::size_t count) const { return bytes_.substr(0, count); }
  PciFunction function(std::size_t count = 4096) const {
    PciFunction function;
    fill_from_config(function, ConfigSpace(first(count)));
    return function;
  }

 private:
  std::string bytes_;
};

Space with_access_control() {
  Space space;
  space.extended(0x100, 0x0001, 0x148);
  space.extended(0x148, 0x000d, 0x200);
  space.set(0x14c, 0x001d005f);  // control 0x1d, capabilities 0x5f
  space.extended(0x200, 0x000f, 0);
  space.set(0x204, 0x80000020);
  return space;
}

TEST(ConfigSpace, ShowsKindAndSettingsAndWhereTheyAre) {
  const PciFunction port = with_access_control().function();
  EXPECT_EQ(port.kind, PciKind::kDownstream);
  EXPECT_EQ(port.device_control_offset, 0x68);
  EXPECT_EQ(port.max_payload, 256u);
  EXPECT_EQ(port.max_read_request, 4096u);
  EXPECT_EQ(port.relaxed_ordering, true);
  EXPECT_TRUE(port.configuration_read);
}

TEST(ConfigSpace, ShowsAccessControlAndTranslationWithTheirOffsets) {
  const PciFunction port = with_access_control().function();
  ASSERT_TRUE(port.acs);
  EXPECT_EQ(port.acs->offset, 0x148);
  EXPECT_EQ(port.acs->control, 0x1d);
  EXPECT_EQ(port.acs->effective(), 0x1d & 0x5f);
  EXPECT_TRUE(port.acs->redirects());
  ASSERT_TRUE(port.ats);
  EXPECT_EQ(port.ats->offset, 0x200);
  EXPECT_TRUE(port.ats->enabled);
}

TEST(ConfigSpace, LeavesUnknownWhatIsCutOffAtAnyByte) {
  const Space space = with_access_control();
  for (std::size_t count = 0; count <= 4096; count = count < 600 ? count + 1 : count + 500) {
    const PciFunction port = space.function(count);
    EXPECT_EQ(port.acs.has_value(), count >= 0x150) << count;
    // The list's last header is at 0x200.
    EXPECT_EQ(port.configuration_read, count >= 0x204) << count;
    EXPECT_EQ(port.max_payload.has_value(), count >= 0x6c) << count;
  }
}

TEST(ConfigSpace, HasNoAccessControlOnlyWhereTheWholeListWasSeen) {
  Space space;
  space.extended(0x100, 0x0001, 0);
  EXPECT_TRUE(space.function().configuration_read);
  EXPECT_FALSE(space.function().acs);
  EXPECT_FALSE(space.function(256).configuration_read) << "a host without extended access";
  EXPECT_FALSE(space.function(64).configuration_read) << "without root";
  Space none;  // the first header is zero: no extended capability at all
  EXPECT_TRUE(none.function().configuration_read);
}

TEST(ConfigSpace, KnowsNothingOfListsThatRunInCircles) {
  Space space;
  space.extended(0x100, 0x0001, 0x140);
  space.extended(0x140, 0x0002, 0x100);
  EXPECT_FALSE(space.function().configuration_read);
  EXPECT_FALSE(space.function().acs);
  space.set(0x60, 0x00624011);  // not Express, next at 0x40
  EXPECT_EQ(space.function().kind, PciKind::kUnknown);
  EXPECT_FALSE(space.function().configuration_read);
}

TEST(ConfigSpace, KnowsNothingOfADeviceThatHasGoneFromTheBus) {
  PciFunction gone;
  fill_from_config(gone, ConfigSpace(std::string(4096, '\xff')));
  EXPECT_FALSE(gone.configuration_read);
  EXPECT_FALSE(gone.max_payload || gone.acs);
}

TEST(ConfigSpace, NeedsNoExtendedPartOfConventionalPci) {
  std::string bytes(256, '\0');
  bytes[0x34] = 0x40;
  bytes[0x40] = 0x01;
  PciFunction function;
  fill_from_config(function, ConfigSpace(bytes));
  EXPECT_TRUE(function.configuration_read);
  EXPECT_EQ(function.kind, PciKind::kUnknown);
}

TEST(ConfigSpace, ShowsTheSizesOfResizableBars) {
  Space space;
  space.extended(0x100, 0x0015, 0);
  space.set(0x104, 0x000fffc0);  // bits 6 to 19: 4 MiB to 32 GiB
  space.set(0x108, 0x00000841);  // two BARs; BAR 1 has 2^8 MiB
  space.set(0x10c, 0x00000010);
  space.set(0x110, 0x00010003);  // BAR 3 has 1 MiB, and could have 2^28 MiB
  const PciFunction gpu = space.function();
  ASSERT_EQ(gpu.resizable_bars.size(), 2u);
  EXPECT_EQ(gpu.resizable_bars[0].number, 1u);
  EXPECT_EQ(gpu.resizable_bars[0].size, std::uint64_t{256} << 20);
  EXPECT_EQ(gpu.resizable_bars[0].most, std::uint64_t{32} << 30);
  EXPECT_EQ(gpu.resizable_bars[1].size, std::uint64_t{1} << 20);
  EXPECT_EQ(gpu.resizable_bars[1].most, std::uint64_t{1} << 48);
}

TEST(ConfigSpace, ReadsOfTheExtendedPartOnlyWhatTheListNeeds) {
  const std::string bytes = with_access_control().first(4096);
  std::size_t read = 0;
  PciFunction port;
  fill_from_config(port, ConfigSpace([&](std::size_t offset, std::size_t count) {
                     read += count;
                     return bytes.substr(offset, count);
                   }));
  EXPECT_TRUE(port.acs && port.ats && port.configuration_read);
  EXPECT_LT(read, 400u);
}

TEST(PciFunction, HasItsGroupItsDriverAndWhoseVirtualFunctionItIs) {
  test::CapturedHost host;
  host.bridge("0000:00:01.0", "pci0000:00");
  host.function({"0000:01:00.1", "0000:00:01.0", "16", "16", 16, 16});
  const std::string device = "sys/bus/pci/devices/0000:01:00.1";
  host.write("sys/kernel/iommu_groups/17/type", "identity\n");
  host.write("sys/bus/pci/drivers/mlx5_core/bind", "");
  host.write(device + "/subsystem_vendor", "0x15b3\n");
  host.write(device + "/subsystem_device", "0x0058\n");
  host.link(device + "/iommu_group", "sys/kernel/iommu_groups/17");
  host.link(device + "/driver", "sys/bus/pci/drivers/mlx5_core");
  host.link(device + "/physfn", "sys/bus/pci/devices/0000:00:01.0");
  const auto found = read_pci_function(Files(host.root()), device);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iommu_group, 17);
  EXPECT_EQ(found->driver, "mlx5_core");
  EXPECT_TRUE(found->is_virtual_function);
  EXPECT_EQ(found->subsystem_vendor, 0x15b3);
  EXPECT_EQ(found->subsystem_device, 0x58);
}

TEST(PciFunction, ReadsTheWholeConfigurationSpaceOfItsFile) {
  test::CapturedHost host;
  host.bridge("0000:00:01.0", "pci0000:00");
  host.write("sys/bus/pci/devices/0000:00:01.0/config", with_access_control().first(4096));
  const auto port = read_pci_function(Files(host.root()), "sys/bus/pci/devices/0000:00:01.0");
  ASSERT_TRUE(port && port->acs);
  EXPECT_EQ(port->acs->offset, 0x148);
  EXPECT_TRUE(port->configuration_read);
}

}  // namespace
}  // namespace gdr::host
