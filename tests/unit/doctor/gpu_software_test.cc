// Confidential computing and Fabric Manager.
#include "patient.h"

namespace gdr::doctor::test {
namespace {

// The patient, as a virtual machine.
struct Guest : Patient {
  Guest() { machine.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: hypervisor\n"); }
};

TEST(ConfidentialComputing, IsAWarningInAGuestOfTdxOrSev) {
  for (const auto& [device, technique] :
       {std::pair("tdx_guest", "Intel TDX"), std::pair("sev-guest", "AMD SEV")}) {
    Guest guest;
    guest.machine.write(std::string("sys/class/misc/") + device + "/dev", "10:125\n");
    const Findings found = guest.find(kConfidentialComputing);
    EXPECT_EQ(outcomes(found), "warn") << device;
    EXPECT_TRUE(says(found, technique));
    EXPECT_TRUE(says(found, "nvidia-smi conf-compute -f"));
  }
}

TEST(ConfidentialComputing, ShowsInTheKernelsLog) {
  Guest guest;
  guest.kernel_log = "[    0.9] Memory Encryption Features active: AMD SEV SEV-ES SEV-SNP\n";
  EXPECT_TRUE(says(guest.find(kConfidentialComputing), "AMD SEV"));
  guest.kernel_log = "[    0.9] Memory Encryption Features active: Intel TDX\n";
  EXPECT_TRUE(says(guest.find(kConfidentialComputing), "Intel TDX"));
  // That encrypts the host's own memory, and keeps no device out.
  guest.kernel_log = "[    0.9] Memory Encryption Features active: AMD SME\n";
  EXPECT_EQ(outcomes(guest.find(kConfidentialComputing)), "ok");
}

TEST(ConfidentialComputing, PassesWithoutASignAndIsUnknownWithoutData) {
  Guest guest;
  EXPECT_EQ(outcomes(guest.find(kConfidentialComputing)), "unknown");
  guest.machine.write("sys/class/misc/hpet/dev", "10:228\n");
  EXPECT_EQ(outcomes(guest.find(kConfidentialComputing)), "ok");
}

TEST(ConfidentialComputing, DoesNotApplyWithoutGpuAndOnBareMetal) {
  EXPECT_TRUE(find_on_bare_host(kConfidentialComputing).empty());
  Patient patient;
  patient.machine.write("sys/class/misc/sev-guest/dev", "10:125\n");
  EXPECT_TRUE(patient.find(kConfidentialComputing).empty());
}

// The patient with an NVSwitch beside the GPU's port.
struct HostWithSwitch : Patient {
  explicit HostWithSwitch(std::uint16_t device = 0x22a3, const char* driver = "") {
    MachineFunction function;
    function.address = "0000:18:00.0";
    function.parent = "0000:17:01.0";
    function.vendor = 0x10de;
    function.device = device;
    function.class_code = 0x068000;
    function.kind = 0;
    function.driver = driver;
    machine.functions.push_back(function);
  }
  using MachineFunction = gdr::test::MachineFunction;
};

TEST(FabricManager, ThatDoesNotRunFailsOnAHostWithNvSwitch) {
  HostWithSwitch host;
  host.machine.write("sys/fs/cgroup/system.slice/sshd.service/cgroup.procs", "700\n");
  const Findings found = host.find(kFabricManager);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "sudo systemctl start nvidia-fabricmanager"));
  EXPECT_TRUE(says(found, "802"));
}

TEST(FabricManager, IsSeenByItsServiceOrItsProcess) {
  HostWithSwitch by_service;
  by_service.machine.write("sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.procs",
                           "812\n");
  EXPECT_EQ(outcomes(by_service.find(kFabricManager)), "ok");
  HostWithSwitch by_process;
  by_process.machine.write("sys/fs/cgroup/system.slice/sshd.service/cgroup.procs", "700\n");
  by_process.machine.write("proc/812/comm", "nv-fabricmanage\n");
  EXPECT_EQ(outcomes(by_process.find(kFabricManager)), "ok") << "in the driver's container";
}

TEST(FabricManager, IsUnknownWhereServicesAreNotShown) {
  HostWithSwitch container;
  EXPECT_EQ(outcomes(container.find(kFabricManager)), "unknown");
}

TEST(FabricManager, KnowsANewerSwitchByItsDriverAndNoOtherBridge) {
  HostWithSwitch newer(0x9999, "nvidia-nvswitch");
  newer.machine.write("sys/fs/cgroup/system.slice/sshd.service/cgroup.procs", "700\n");
  EXPECT_EQ(outcomes(newer.find(kFabricManager)), "fail");
  HostWithSwitch chipset(0x0aa3);  // a bridge of an old chipset has the same class
  EXPECT_TRUE(chipset.find(kFabricManager).empty());
}

TEST(FabricManager, DoesNotApplyWithoutNvSwitch) {
  Patient patient;
  EXPECT_TRUE(patient.find(kFabricManager).empty());
}

}  // namespace
}  // namespace gdr::doctor::test
