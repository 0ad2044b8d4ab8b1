#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

void give_groups(Machine& machine, const std::string& type) {
  machine.add_switch(1);
  machine.find("0000:19:00.0").group = 41;
  machine.find("0000:1a:00.0").group = 42;
  for (const char* group : {"41", "42"}) {
    machine.write(std::string("sys/kernel/iommu_groups/") + group + "/type", type);
  }
  machine.write("sys/class/iommu/dmar0/intel-iommu/version", "1:0\n");
}

TEST(IommuCheck, IsWellWithoutAny) {
  Machine machine;
  machine.add_switch(1);
  const Findings found = find(kIommu, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "no IOMMU is in use"));
}

TEST(IommuCheck, IsWellWherePassThrough) {
  Machine machine;
  give_groups(machine, "identity\n");
  const Findings found = find(kIommu, machine);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "/sys/kernel/iommu_groups/41/type=identity"));
}

TEST(IommuCheck, WarnsWhereItTranslatesAndNamesTheVendorsParameter) {
  Machine intel;
  give_groups(intel, "DMA-FQ\n");
  EXPECT_EQ(outcomes(find(kIommu, intel)), "warn");
  EXPECT_TRUE(says(find(kIommu, intel), "add intel_iommu=on iommu=pt to"));
  std::filesystem::remove_all(intel.root() + "/sys/class/iommu/dmar0");
  intel.write("sys/class/iommu/ivhd0/amd-iommu/cap", "1\n");
  EXPECT_TRUE(says(find(kIommu, intel), "add iommu=pt to"));
  std::filesystem::remove_all(intel.root() + "/sys/class/iommu/ivhd0");
  intel.write("sys/class/iommu/smmu3.0x0000000011000000/type", "1\n");
  EXPECT_TRUE(says(find(kIommu, intel), "add iommu.passthrough=1 to"));
}

TEST(IommuCheck, WarnsWhereItTranslatesForOneOfBothOnly) {
  Machine machine;
  give_groups(machine, "identity\n");
  machine.write("sys/kernel/iommu_groups/42/type", "DMA\n");
  EXPECT_EQ(outcomes(find(kIommu, machine)), "warn");
}

TEST(IommuCheck, TakesTheCommandLineWhereTheKernelShowsNoTypes) {
  Machine machine;
  give_groups(machine, "");
  EXPECT_EQ(outcomes(find(kIommu, machine)), "unknown");
  machine.write("proc/cmdline", "ro intel_iommu=on iommu=pt\n");
  EXPECT_EQ(outcomes(find(kIommu, machine)), "ok");
}

TEST(IommuCheck, IsUnknownWhereTheSourceHasNoSysfs) {
  Machine machine;
  machine.add_switch(1);
  machine.write_all();
  const host::Inventory inventory = host::take_inventory(host::Files(machine.root()));
  const Machine empty;
  std::filesystem::remove_all(empty.root() + "/sys");
  const host::Files files(empty.root());
  const Host host{.files = files,
                  .inventory = inventory,
                  .environment = {},
                  .kernel_log = {},
                  .kernel_symbols = {}};
  EXPECT_EQ(outcomes(kIommu.find(host)), "unknown");
}

}  // namespace
}  // namespace gdr::doctor
