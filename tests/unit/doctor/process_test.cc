#include <gtest/gtest.h>

#include "doctor/container.h"
#include "doctor/environment.h"
#include "doctor/kernel_log.h"
#include "patient.h"

namespace gdr::doctor::test {
namespace {

std::string limits(const std::string& soft) {
  return "Limit                     Soft Limit           Hard Limit           Units\n"
         "Max locked memory         " +
         soft + "              unlimited            bytes\n";
}

TEST(LockedMemory, UnlimitedIsWellAndLessIsAWarningOrFails) {
  Patient patient;
  patient.machine.write("proc/self/limits", limits("unlimited"));
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "ok");
  patient.machine.write("proc/self/limits", limits("67108864"));
  EXPECT_TRUE(says(patient.find(kLockedMemory), "locked memory: 64 MiB, not unlimited"));
  patient.machine.write("proc/self/limits", limits("8388608"));
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "fail");
  patient.machine.write("proc/self/limits", "");
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "unknown");
}

TEST(LockedMemory, WarnsIfOnlyACapabilityOfThisProcessLiftsIt) {
  Patient patient;
  patient.machine.write("proc/self/limits", limits("8388608"));
  patient.machine.write("proc/self/status", "CapInh:\t0\nCapEff:\t0000000000004000\n");
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "warn");
  patient.machine.write("proc/self/status", "CapInh:\t0\nCapEff:\t0000000000002000\n");
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "fail");
}

TEST(Devices, NamesTheOptionsThatGiveAContainerItsMissingDevices) {
  for (const bool contained : {false, true}) {
    Patient patient;
    patient.machine.write("dev/null", "");
    patient.machine.write("proc/self/limits", limits("65536"));
    if (contained) patient.machine.write(".dockerenv", "");
    const Findings devices = patient.find(kDevices), memory = patient.find(kLockedMemory);
    ASSERT_EQ(memory.size(), 1u);
    EXPECT_EQ(memory[0].fix.now.command.empty(), contained);
    for (const Finding& finding : devices) EXPECT_EQ(finding.fix.now.command.empty(), contained);
    EXPECT_EQ(bool(says(devices, "start the container with --device /dev/infiniband")), contained);
    EXPECT_EQ(bool(says(memory, "--ulimit memlock=-1")), contained);
  }
}

TEST(LockedMemory, OfServicesIsJudgedByName) {
  Patient patient;
  patient.machine.write("proc/self/limits", limits("unlimited"));
  patient.machine.write("proc/812/comm", "containerd\n");
  patient.machine.write("proc/812/limits", limits("8388608"));
  patient.machine.write("proc/900/comm", "bash\n");
  patient.machine.write("proc/900/limits", limits("8388608"));
  const Findings found = patient.find(kLockedMemory);
  EXPECT_EQ(outcomes(found), "ok fail");
  EXPECT_EQ(found[1].fix.for_good.command.text(),
            "sudo gdr fix locked-memory --apply --persist\n"
            "sudo systemctl daemon-reload && sudo systemctl restart containerd");
  EXPECT_TRUE(says(found, "/etc/systemd/system/containerd.service.d/95-gdrkit.conf"));
  patient.machine.write("proc/812/comm", "pbs_mom\n");
  const Findings other = patient.find(kLockedMemory);
  EXPECT_TRUE(says(other, "/etc/systemd/system/pbs.service.d/"));
  EXPECT_FALSE(says(other, "gdr fix")) << "it sets no such service";
}

TEST(LockedMemory, OfSshdIsThatOfItsSessionsByPam) {
  Patient patient;
  patient.machine.write("proc/self/limits", limits("unlimited"));
  patient.machine.write("proc/700/comm", "sshd\n");
  patient.machine.write("proc/700/limits", limits("8388608"));
  patient.machine.write("etc/security/limits.d/rdma.conf", "# * soft memlock unlimited\n");
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "ok warn");
  patient.machine.write("etc/security/limits.d/rdma.conf", "* soft memlock unlimited\n");
  EXPECT_EQ(outcomes(patient.find(kLockedMemory)), "ok ok");
}

TEST(LockedMemory, OfACaptureWithoutProcessesIsUnknown) {
  EXPECT_EQ(outcomes(find_on_bare_host(kLockedMemory)), "unknown");
}

TEST(Devices, ThatAreAbsentFail) {
  Patient patient;
  patient.machine.write("dev/infiniband/uverbs0", "");
  patient.machine.write("dev/infiniband/rdma_cm", "");
  patient.machine.write("dev/nvidiactl", "");
  EXPECT_TRUE(says(patient.find(kDevices), "/dev/nvidia-uvm is absent"));
  patient.machine.write("dev/nvidia-uvm", "");
  EXPECT_EQ(outcomes(patient.find(kDevices)), "ok");
}

TEST(Devices, AreThoseOfEachNic) {
  Patient patient;
  for (const char* name : {"nvidiactl", "nvidia-uvm", "infiniband/rdma_cm", "infiniband/uverbs0"}) {
    patient.machine.write(std::string("dev/") + name, "");
  }
  patient.find(kGpus);
  patient.machine.write("sys/bus/pci/devices/0000:1a:00.0/infiniband_verbs/uverbs3/dev", "231:3\n");
  EXPECT_TRUE(says(patient.find(kDevices), "/dev/infiniband/uverbs3 is absent"));
}

TEST(Devices, OfACaptureWithoutThemAreUnknown) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kDevices)), "unknown");
}

TEST(Devices, WithoutNicInThisNamespaceAreAWarning) {
  Machine machine;
  machine.write("sys/bus/pci/x", "");
  machine.write("sys/module/ib_core/parameters/netns_mode", "N\n");
  EXPECT_EQ(outcomes(find(kDevices, machine)), "warn");
  machine.write("sys/module/ib_core/parameters/netns_mode", "Y\n");
  EXPECT_EQ(outcomes(find(kDevices, machine)), "");
}

TEST(EnvironmentCheck, WarnsOfEachVariableThatSwitchesGpuDirectOff) {
  for (const auto& [name, value] :
       {std::pair("NCCL_NET_GDR_LEVEL", "LOC"), std::pair("NCCL_NET_GDR_LEVEL", "0"),
        std::pair("NCCL_NET_GDR_READ", "0"), std::pair("NCCL_IB_DISABLE", "1"),
        std::pair("NCCL_DMABUF_ENABLE", "0"), std::pair("UCX_IB_GPU_DIRECT_RDMA", "no")}) {
    Patient patient;
    patient.environment[name] = value;
    EXPECT_EQ(outcomes(patient.find(kEnvironment)), "warn") << name;
  }
}

TEST(EnvironmentCheck, IsWellOrDoesNotApplyOtherwise) {
  Patient patient;
  EXPECT_TRUE(patient.find(kEnvironment).empty());
  patient.environment = {{"NCCL_IB_HCA", "=mlx5_1:1"},
                         {"NCCL_NET_GDR_LEVEL", "PHB"},
                         {"UCX_NET_DEVICES", "mlx5_1:1"},
                         {"NCCL_IB_GID_INDEX", "1"},
                         {"NCCL_SOCKET_IFNAME", "ens1np0"}};
  EXPECT_EQ(outcomes(patient.find(kEnvironment)), "ok");
}

TEST(EnvironmentCheck, WarnsOfNicsAndGidsThatAreNotThere) {
  Patient patient;
  patient.environment = {{"NCCL_IB_HCA", "mlx5_1,mlx5_7"}};
  EXPECT_TRUE(says(patient.find(kEnvironment), "names mlx5_7"));
  patient.environment = {{"NCCL_IB_HCA", "mlx5"}};
  EXPECT_EQ(outcomes(patient.find(kEnvironment)), "ok") << "a prefix names all of them";
  patient.environment = {{"NCCL_IB_HCA", "^=mlx5_1"}};
  EXPECT_EQ(outcomes(patient.find(kEnvironment)), "ok") << "exactly this one is left out";
  patient.environment = {{"NCCL_IB_HCA", "^=mlx5"}};
  EXPECT_TRUE(says(patient.find(kEnvironment), "names mlx5,"));
  patient.environment = {{"NCCL_IB_GID_INDEX", "3"}};
  EXPECT_TRUE(says(patient.find(kEnvironment), "has no such GID"));
  patient.environment = {{"NCCL_IB_GID_INDEX", "1"}};
  patient.machine.write("sys/class/infiniband/mlx5_1/ports/1/gid_attrs/types/1", "IB/RoCE v1\n");
  EXPECT_TRUE(says(patient.find(kEnvironment), "that is IB/RoCE v1"));
}

TEST(EnvironmentCheck, WarnsOfATopologyFileOfAnotherMachine) {
  Patient patient;
  patient.environment = {{"NCCL_TOPO_FILE", "/etc/topo.xml"}};
  EXPECT_TRUE(says(patient.find(kEnvironment), "but the file does not exist"));
  patient.machine.write("etc/topo.xml",
                        "<pci busid=\"0000:19:00.0\"/>\n<pci busid=\"f:f:f.f\"/>\n");
  EXPECT_TRUE(says(patient.find(kEnvironment), "1 PCI addresses of 2 that this host lacks"));
  patient.machine.write("etc/topo.xml", "<pci busid=\"0000:19:00.0\"/>\n");
  EXPECT_EQ(outcomes(patient.find(kEnvironment)), "ok");
}

TEST(EnvironmentCheck, NamesStandIns) {
  Patient patient;
  patient.environment = {{"LD_LIBRARY_PATH", "/opt/gdr/lib/gdrkit/soft-gpu:/x"}};
  EXPECT_TRUE(says(patient.find(kEnvironment), "LD_LIBRARY_PATH contains gdrkit's stand-ins"));
}

TEST(MpiUcx, AreAskedWhetherTheyHaveCuda) {
  Patient patient;
  EXPECT_TRUE(patient.find(kMpiUcx).empty()) << "neither is there";
  patient.probes.command_answers["ompi_info"] = {
      true, false, 0, "mca:mpi:base:param:mpi_built_with_cuda_support:value:true\n"};
  patient.probes.command_answers["ucx_info"] = {true, false, 0, "# Memory domain: cuda_copy\n"};
  EXPECT_EQ(outcomes(patient.find(kMpiUcx)), "ok ok");
  patient.probes.command_answers["ompi_info"].output =
      "mca:mpi:base:param:mpi_built_with_cuda_support:value:false\n";
  patient.probes.command_answers["ucx_info"].output = "# Memory domain: tcp\n";
  EXPECT_EQ(outcomes(patient.find(kMpiUcx)), "warn warn");
  patient.probes.command_answers["ompi_info"].output = "nonsense";
  patient.probes.command_answers["ucx_info"].timed_out = true;
  EXPECT_EQ(outcomes(patient.find(kMpiUcx)), "unknown unknown");
}

TEST(MpiUcx, IsCheckedWithoutAGpuUnlessTheGpusAreAmd) {
  Patient patient;
  patient.machine.functions.clear();
  patient.machine.nics.clear();
  patient.probes.command_answers["ucx_info"] = {true, false, 0, "# Memory domain: cuda_copy\n"};
  EXPECT_TRUE(says(patient.find(kMpiUcx), "has its CUDA module"));
  Patient other;
  auto& gpu = other.machine.find(kGpu);
  gpu.vendor = 0x1002;
  gpu.device = 0x74a1;
  gpu.class_code = 0x120000;
  gpu.driver = "amdgpu";
  other.probes.command_answers["ucx_info"] = {true, false, 0, "# Memory domain: rocm_copy\n"};
  EXPECT_EQ(other.find(kMpiUcx).does_not_apply, "AMD GPUs, which do not use CUDA");
}

TEST(HugePages, AreNeverAWarning) {
  Patient patient;
  EXPECT_TRUE(patient.find(kHugePages).empty());
  patient.machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
  EXPECT_TRUE(says(patient.find(kHugePages), "none are needed"));
  patient.machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
  EXPECT_TRUE(says(patient.find(kHugePages), "set aside: 512 hugepages-2048kB"));
}

TEST(Lockdown, MattersOnlyWhereAModuleIsWanted) {
  Patient patient;
  patient.machine.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  EXPECT_TRUE(says(patient.find(kLockdown), "is not locked down"));
  patient.machine.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  patient.machine.write("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
                        std::string("\6\0\0\0\1", 5));
  EXPECT_TRUE(says(patient.find(kLockdown), "locked down (integrity); Secure Boot on; change PCI"));
  patient.take_proprietary_driver();
  EXPECT_EQ(outcomes(patient.find(kLockdown)), "warn");
}

TEST(Lockdown, ThatIsNotShownIsUnknown) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kLockdown)), "unknown");
  patient.machine.write("sys/kernel/security/lsm", "capability\n");
  EXPECT_TRUE(says(patient.find(kLockdown), "this kernel does not support lockdown"));
}

TEST(Virtualisation, IsAWarningOnlyWhereTheTreeIsFlat) {
  Patient patient;
  EXPECT_TRUE(says(patient.find(kVirtualisation), "not a virtual machine"));
  patient.machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_EQ(outcomes(patient.find(kVirtualisation)), "ok");
  Patient flat;
  flat.machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  flat.machine.find(kGpu).parent = "pci0000:15";
  EXPECT_EQ(outcomes(flat.find(kVirtualisation)), "warn");
  std::filesystem::remove(patient.machine.root() + "/proc/cpuinfo");
  EXPECT_EQ(outcomes(patient.find(kVirtualisation)), "unknown");
}

TEST(Environment, OfACaptureHasRelevantVariablesOnly) {
  Machine machine;
  machine.write("proc/self/environ", std::string("NCCL_DEBUG=INFO\0TOKEN=x\0UCX_TLS=rc\0", 35));
  EXPECT_EQ(read_environment(host::Files(machine.root())),
            (Environment{{"NCCL_DEBUG", "INFO"}, {"UCX_TLS", "rc"}}));
}

TEST(KernelLog, OfACaptureIsItsFileAndLinesAreTheLatest) {
  Machine machine;
  const host::Files files(machine.root());
  EXPECT_FALSE(read_kernel_log(files));
  std::string text;
  for (int i = 0; i < 30; ++i) text += "NVRM: line " + std::to_string(i) + "\n";
  machine.write(kCapturedKernelLog, text);
  const host::Inventory inventory;
  const Host host{files, inventory, {}, nullptr, read_kernel_log(files), {}};
  const std::vector<std::string> lines = log_lines(host, "NVRM:");
  ASSERT_EQ(lines.size(), 20u);
  EXPECT_EQ(lines.back(), "NVRM: line 29");
}

std::string fact(const ContainerView& view, const std::string& name) {
  for (const auto& [known, value] : view.facts) {
    if (known == name) return value;
  }
  return "no such fact";
}

TEST(Container, IsSeenWithWhatItWasGiven) {
  Machine machine;
  machine.write(".dockerenv", "");
  machine.write("proc/self/cgroup", "0::/kubepods/besteffort/pod1\n");
  machine.write("proc/self/status", "CapEff:\t0000000000002000\n");
  machine.write("proc/self/limits", limits("8388608"));
  machine.write("proc/self/mountinfo",
                "1 2 0:3 / /dev/shm rw - tmpfs shm rw,size=65536k,inode64\n");
  machine.write("dev/nvidia0", "");
  machine.write("dev/infiniband/uverbs0", "");
  const host::Files files(machine.root());
  const host::Inventory inventory = host::take_inventory(files);
  const Host host{files, inventory, {}, nullptr, {}, {}};
  const ContainerView view = look_at_container(host);
  EXPECT_TRUE(view.in_container);
  EXPECT_EQ(fact(view, "Container"), "docker (/.dockerenv), control group of kubepods");
  EXPECT_EQ(fact(view, "Capabilities"), "CAP_IPC_LOCK no, CAP_NET_RAW yes, CAP_SYS_ADMIN no");
  EXPECT_EQ(fact(view, "Locked memory"), "8 MiB");
  EXPECT_EQ(fact(view, "GPUs"), "nvidia0; 0 GPUs in /sys");
  EXPECT_EQ(fact(view, "NICs"), "uverbs0; rdma_cm absent; 0 RDMA NICs in /sys");
  EXPECT_EQ(fact(view, "/dev/shm"), "65536k");
}

}  // namespace
}  // namespace gdr::doctor::test
