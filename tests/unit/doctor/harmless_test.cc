// What a capture leaves out: canaries of many shapes, planted in everything that a machine shows.
#include "doctor/capture/harmless.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "doctor/capture/capture.h"
#include "doctor/container.h"
#include "doctor/environment.h"
#include "doctor/kernel_log.h"
#include "doctor/run.h"
#include "doctor/ticket/ticket.h"
#include "host/inventory.h"
#include "machine.h"
#include "read_by_checks.h"

namespace gdr::doctor {
namespace {

namespace fs = std::filesystem;
using gdr::test::Machine;

// None of them is a value that any table knows; some look like numbers, names and paths.
const std::vector<std::string>& canaries() {
  static const std::vector<std::string> all = {
      "hunter2",
      "c0ffee",
      "abcd",
      "s3cr3t-t0ken",
      "correct horse battery",
      "\"quoted secret with spaces\"",
      "'single quoted'",
      "QmFzZTY0U2VjcmV0PT0=",
      "deadbeefcafef00d0123456789abcdef",
      "0xfeedfacecafebeef99",
      "-----BEGIN KEY-----\nMIIsecond+line/of=it\n-----END KEY-----",
      "пароль",
      "秘密\xe2\x80\xae"
      "gnp",
      "/home/alice/project-x/key.pem",
      "https://alice:pw@example.test/x?y=z",
      "alice@build-host-17",
      "GPU-0fedcba9-8765-4321-0fed-cba987654321",
      "1322521000042SN",
      "kubepods-pod0fedcba9",
      "node17.rack4.example.test",
      std::string("nul\0inside", 10),
      "\x1b[2Jescape"};
  return all;
}

// All that a capture would tell: names, links and contents.
std::string everything(const Capture& capture) {
  std::string all;
  for (const auto& [path, captured] : capture.entries) all += path + "\n" + captured.content + "\n";
  for (const std::string& missing : capture.missing) all += missing + "\n";
  for (const std::string& line : contents_of(capture)) all += line + "\n";
  return all;
}

std::vector<std::string> pieces_of(const std::string& canary) {
  std::vector<std::string> pieces = {canary};
  // Whole words of it, where spaces or lines part them.
  std::string word;
  for (const char c : canary + " ") {
    if (c != ' ' && c != '\n' && c != '"' && c != '\'' && c != '\0') {
      word += c;
    } else {
      if (word.size() > 5) pieces.push_back(word);
      word.clear();
    }
  }
  return pieces;
}

void expect_none(const std::string& all, const std::string& canary, const std::string& where) {
  for (const std::string& piece : pieces_of(canary)) {
    const auto found = all.find(piece);
    if (found == std::string::npos) continue;
    const std::size_t begin = found < 100 ? 0 : found - 100;
    ADD_FAILURE() << "'" << piece << "' planted in " << where << ": "
                  << all.substr(begin, found + 100 - begin);
  }
}

void lay_out_harmless(Machine& machine) {
  for (unsigned i = 1; i <= 2; ++i) machine.add_switch(i);
  lay_out_what_checks_read(machine);
  machine.write("sys/module/ib_core/parameters/netns_mode", "Y\n");
  machine.write("sys/module/ib_core/holders/mlx5_ib", "");
  machine.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
  machine.write("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
  machine.write("sys/fs/cgroup/rdma.max", "mlx5_1 hca_handle=max hca_object=max\n");
  machine.write("proc/kallsyms", "ffffffffc0a12340 t ib_register_peer_memory_client\t[ib_core]\n");
  machine.write("proc/driver/nvidia/gpus/0000:19:00.0/information", "Model: \t\t NVIDIA H100\n");
  machine.write("proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Release Build\n");
  machine.write("proc/driver/nvidia/params", "DmaRemapPeerMmio: 1\n");
  machine.write("lib/modules/6.8.0-45-generic/modules.dep",
                "updates/dkms/nvidia-peermem.ko: updates/dkms/nvidia.ko\n");
  machine.write("lib/modules/6.8.0-45-generic/modules.symbols",
                "alias symbol:ib_register_peer_memory_client ib_core\n");
  machine.write("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n");
  machine.write("sys/module/mlx5_core/version", "24.10-0.7.0\n");
  machine.write("proc/77/status", "CapEff:\t0000000000000000\n");
  machine.write("proc/77/cgroup", "0::/\n");
  machine.write("proc/77/mountinfo",
                "23 61 0:21 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=65536k\n");
  machine.write("proc/77/environ", std::string("NCCL_IB_GID_INDEX=3\0", 20));
  machine.write("proc/80/comm", "sshd\n");
  machine.write("proc/80/limits", "Max locked memory         65536      65536     bytes\n");
  machine.write("etc/security/limits.conf", "* - memlock unlimited\n");
  machine.write("dev/infiniband/uverbs0", "");
  machine.write("var/log/dmesg", "[1.0] NVRM: loading NVIDIA UNIX x86_64 Kernel Module\n");
  machine.write_all();
}

host::FileLog into(std::map<std::string, std::set<host::FileAccess::Kind>>& asked) {
  return [&asked](const host::FileAccess& access) { asked[access.path].insert(access.kind); };
}

std::map<std::string, std::set<host::FileAccess::Kind>> asked_of(const std::string& root) {
  std::map<std::string, std::set<host::FileAccess::Kind>> asked;
  const host::Files files(root, into(asked));
  host::Inventory inventory = host::take_inventory(files);
  host::read_product_data(files, inventory);
  Host host{files, inventory, read_environment(files), nullptr, {}, {}};
  host.kernel_log = read_kernel_log(files);
  Selection selection;
  selection.probes = false;
  static_cast<void>(examine(host, selection));
  static_cast<void>(look_at_container(host));
  static_cast<void>(facts_of(host));
  return asked;
}

class Planted : public testing::TestWithParam<std::size_t> {
 protected:
  const std::string& canary() const { return canaries().at(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Canary, Planted, testing::Range<std::size_t>(0, 22));

// Names that stay, and that the command says it keeps: the machine's model and its GPUs', the
// kernel's release, interfaces.
bool is_name_that_stays(const std::string& path) {
  return path == "sys/class/dmi/id/product_name" || path == "proc/sys/kernel/osrelease" ||
         path.find("/gid_attrs/ndevs/") != std::string::npos || path.ends_with("/information") ||
         path == "sys/fs/cgroup/rdma.max";
}

// In the content of whatever file is read: alone, behind what stands there, and as a value.
TEST_P(Planted, IsInNoFileOfACapture) {
  Machine machine;
  lay_out_harmless(machine);
  unsigned planted = 0;
  for (const auto& [path, kinds] : asked_of(machine.root())) {
    const std::string place = machine.root() + "/" + path;
    std::error_code error;
    const bool content = kinds.contains(host::FileAccess::Kind::kText) ||
                         kinds.contains(host::FileAccess::Kind::kLines);
    if (!content || !fs::is_regular_file(place, error) || is_name_that_stays(path)) continue;
    std::ifstream before(place, std::ios::binary);
    const std::string was((std::istreambuf_iterator<char>(before)), {});
    before.close();
    if (path.ends_with("/config")) {  // its header is of numbers
      std::string space = was;
      if (space.size() == 4096) {
        space.replace(0x90, canary().size(), canary()).replace(0x300, canary().size(), canary());
      }
      std::ofstream(place, std::ios::binary) << space;
      continue;
    }
    const std::string first = was.substr(0, was.find('\n'));
    std::ofstream(place, std::ios::binary)
        << canary() << "\n"
        << was << first << " " << canary() << "\n"
        << first << canary() << "\n"
        << "Serial Number: " << canary() << "\nx=" << canary() << "\n";
    ++planted;
  }
  EXPECT_GT(planted, 100u);
  expect_none(everything(take_capture(machine.root())), canary(), "files");
}

TEST_P(Planted, IsInNoVariableOfACapture) {
  std::map<std::string, std::string> variables;
  for (const char* name :
       {"NCCL_API_KEY", "NCCL_IB_HCA", "NCCL_IB_PKEY", "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_HOME",
        "NCCL_IB_GID_INDEX", "NCCL_SOCKET_IFNAME", "NCCL_TOPO_FILE", "UCX_TLS", "UCX_NET_DEVICES",
        "UCX_TOKEN", "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "KUBERNETES_PORT"}) {
    variables[name] = canary();
    variables[std::string(name) + "_" + canary()] = "1";
  }
  expect_none(harmless_variables(variables), canary(), "variables");
  for (auto& [name, value] : variables) value = "INFO,mlx5_0," + canary() + ":1";
  expect_none(harmless_variables(variables), canary(), "lists");
  for (auto& [name, value] : variables) value = "/usr/lib:" + canary() + ":/x/gdrkit/soft-nic";
  expect_none(harmless_variables(variables), canary(), "folders");
}

TEST_P(Planted, IsInNoParameterOfACapture) {
  for (const std::string before :
       {"", "token=", "iommu=", "iommu=pt,", "pci=", "pci=config_acs=", "root=", "quiet",
        "modprobe.blacklist=nouveau,", "hugepages=", "lockdown=", "x=\"", "\"", "-- ",
        "nvidia.NVreg_GrdmaPciTopoCheckOverride=", "iommu=pt\" ", "dyndbg=\"file x +p; "}) {
    for (const std::string behind : {"", "\"", "=1", " quiet", "\" iommu=pt"}) {
      const std::string line = "quiet iommu=pt " + before + canary() + behind;
      // As the kernel has it, on one line.
      expect_none(harmless_command_line(line), canary(), line);
    }
  }
}

TEST_P(Planted, IsInNoLineOfTheLog) {
  std::string log;
  for (const std::string before :
       {"", "Command line: BOOT_IMAGE=/vmlinuz token=", "Kernel command line: x=", "NVRM: ",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05  ",
        "NVRM: GPU Board Serial Number: ", "nvidia_peermem: Unknown symbol ",
        "nvidia_peermem: Unknown symbol ib_register_peer_memory_client",
        "mlx5_core 0000:1a:00.0: ", "mlx5_core 0000:1a:00.0: available PCIe bandwidth, limited by ",
        "usb 1-1: SerialNumber: ", "NVRM: Xid (PCI:0000:19:00): 31, pid=1, name=", "DMAR: ",
        "nvidia_peermem: module verification failed: ",
        "iommu: Default domain type: Translated "}) {
    log += "[    1.000000] " + before + canary() + "\n";
    log += "Nov 23 00:00:00 " + canary() + " kernel: " + before + canary() + "\n";
    log += "[    1.5] " + canary() + ": " + before + "\n";
  }
  expect_none(harmless_log(log), canary(), "the log");
}

TEST_P(Planted, IsInNoNameOrLinkOfACapture) {
  std::string name = canary();
  for (char& c : name) {
    if (c == '/' || c == '\0') c = '_';
  }
  Machine machine;
  lay_out_harmless(machine);
  for (const char* folder :
       {"dev", "dev/infiniband", "sys/bus/pci/devices", "sys/class/iommu", "sys/kernel/security",
        "sys/kernel/iommu_groups", "sys/devices/system/node", "sys/module/ib_core/holders",
        "sys/kernel/mm/hugepages", "etc/security/limits.d", "usr/lib", "usr/local/lib", "proc"}) {
    machine.write(std::string(folder) + "/" + name, "x memlock unlimited\n");
    machine.write(std::string(folder) + "/" + name + ".d/comm", name + "\n");
  }
  // A folder on the way that is somebody's.
  machine.write("srv/" + name + "/modules.dep", "x\n");
  fs::remove_all(machine.root() + "/lib/modules/6.8.0-45-generic");
  fs::create_symlink("/srv/" + name, machine.root() + "/lib/modules/6.8.0-45-generic");
  fs::create_symlink("../" + name + "/../proc", machine.root() + "/dev/nvidia7");
  fs::create_symlink(name, machine.root() + "/dev/nvidia8");
  machine.write("proc/77/environ", "NCCL_TOPO_FILE=/srv/" + name + "/topo.xml" + '\0' +
                                       "LD_LIBRARY_PATH=/srv/" + name + '\0' + "NCCL_HOME=/srv/" +
                                       name + '\0');
  machine.write("srv/" + name + "/topo.xml", "<pci busid=\"0000:99:00.0\" x=\"" + name + "\"/>\n");
  machine.write("srv/" + name + "/libnccl.so.2.20.5", "");
  expect_none(everything(take_capture(machine.root())), name, "names");
}

TEST(Harmless, NoFileIsReadForWhichNothingIsKnown) {
  Machine machine;
  lay_out_harmless(machine);
  for (const auto& [path, kinds] : asked_of(machine.root())) {
    const std::string place = machine.root() + "/" + path;
    std::error_code error;
    const bool content = kinds.contains(host::FileAccess::Kind::kText) ||
                         kinds.contains(host::FileAccess::Kind::kLines);
    if (!content || !fs::is_regular_file(place, error)) continue;
    // Others stand in their place.
    if (path == "proc/self/environ" || path == "var/log/dmesg" ||
        path.starts_with("etc/security/")) {
      continue;
    }
    if (path.size() > 7 && path.substr(path.size() - 7) == "/config") continue;
    EXPECT_TRUE(harmless_content(path, "")) << path << " is read by a check: give it a rule";
  }
}

TEST(Harmless, AreParametersThatChecksAskFor) {
  EXPECT_EQ(harmless_command_line("BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet intel_iommu=on,sm_on "
                                  "iommu=pt token=x pci=noats,disable_acs_redir=0000:17:01.0;"
                                  "0000:15:01.0/00.0 hugepages=16\n"),
            "BOOT_IMAGE=(left-out) root=(left-out) ro quiet intel_iommu=on,sm_on iommu=pt "
            "(left-out) pci=noats,disable_acs_redir=0000:17:01.0;0000:15:01.0/00.0 hugepages=16\n");
  EXPECT_EQ(harmless_command_line("pci=config_acs=\"x0x00xx@0000:15:01.0/00.0\" iommu=abcd"),
            "pci=config_acs=\"x0x00xx@0000:15:01.0/00.0\" iommu=(left-out)\n");
  EXPECT_EQ(harmless_command_line(""), "\n");
}

TEST(Harmless, AreVariablesWithKnownNamesAndValues) {
  using namespace std::string_literals;
  EXPECT_EQ(harmless_variables({{"NCCL_IB_HCA", "^=mlx5_0:1,mlx5_bond_0"},
                                {"NCCL_API_KEY", "abcd"},
                                {"NCCL_IB_PKEY", "0xffff"},
                                {"NCCL_DEBUG_FILE", "/home/a/log"},
                                {"CUDA_VISIBLE_DEVICES", ""},
                                {"LD_LIBRARY_PATH", "/srv/a:/x/lib/gdrkit/soft-nic:/usr/lib"},
                                {"LD_PRELOAD", "/srv/a.so"},
                                {"UCX_NET_DEVICES", "mlx5_0:1,ens1np0"},
                                {"UCX_TLS", "^tcp,rc"}}),
            "CUDA_VISIBLE_DEVICES=\0"
            "LD_LIBRARY_PATH=gdrkit/soft-nic:/usr/lib\0"
            "NCCL_DEBUG_FILE=(left-out)\0"
            "NCCL_IB_HCA=^=mlx5_0:1,mlx5_bond_0\0"
            "NCCL_IB_PKEY=0xffff\0"
            "UCX_NET_DEVICES=mlx5_0:1,ens1np0\0"
            "UCX_TLS=^tcp,rc\0"s);
}

TEST(Harmless, AreMessagesThatChecksAndSymptomsLookFor) {
  EXPECT_EQ(
      harmless_log("<4>[    4.100000] nvidia_peermem: Unknown symbol "
                   "ib_register_peer_memory_client (err -22)\n"
                   "Jan  1 00:00:00 node17 kernel: NVRM: GPU 0000:19:00.0: GPU has fallen off "
                   "the bus.\n"
                   "[5.0] Loading nvidia_peermem of alice: Required key not available\n"
                   "[6.0] NVRM: Xid (PCI:0000:19:00): 79, pid=1, name=python\n"
                   "[7.0] systemd[1]: Started alice\n"),
      "[    4.100000] nvidia_peermem: Unknown symbol ib_register_peer_memory_client "
      "(err -22)\n"
      "NVRM: GPU 0000:19:00.0: GPU has fallen off the bus\n"
      "[5.0] nvidia_peermem: Required key not available\n"
      "[6.0] NVRM: Xid (PCI:0000:19:00): 79,\n");
}

std::string product_data(const std::string& name, const std::string& part,
                         const std::string& serial) {
  const auto field = [](const char* keyword, const std::string& value) {
    return keyword + std::string(1, static_cast<char>(value.size())) + value;
  };
  const std::string fields = field("PN", part) + field("SN", serial) + field("V2", serial);
  const auto head = [](char tag, std::size_t size) {
    return std::string{tag, static_cast<char>(size), '\0'};
  };
  return head('\x82', name.size()) + name + head('\x90', fields.size()) + fields + '\x78';
}

TEST_P(Planted, IsInNoProductDataOfACapture) {
  const std::string name = "NVIDIA ConnectX-7 VPI adapter card";
  // The maker's words and its number for the card are kept, where they look like such.
  expect_none(harmless_product_data(product_data(name, "MCX75310AAS-NEAT", canary())), canary(),
              "a serial number");
  expect_none(harmless_product_data(product_data(canary(), "MCX75310AAS-NEAT", "")), canary(),
              "a name");
  if (canary() != "1322521000042SN") {
    expect_none(harmless_product_data(product_data(name, canary(), "")), canary(), "a part number");
  }
}

TEST(Harmless, IsOfProductDataTheNameAndThePartNumber) {
  for (const char* name :
       {"NVIDIA ConnectX-7 VPI adapter card, 400Gb/s NDR IB, single-port OSFP, PCIe 5.0 x16",
        "ConnectX-6 Dx EN adapter card, 100GbE, Dual-port QSFP56, PCIe 4.0 x16",
        "Mellanox ConnectX-5 Ex Dual Port 100GbE QSFP Network Adapter",
        "NVIDIA ConnectX-7 Adapter Card, 200GbE / NDR200, Dual-port QSFP112, PCIe 5.0x16 with x16 "
        "PCIe extension option, Crypto Disabled, Secure Boot Enabled",
        "BlueField-3 P-Series DPU 200GbE/NDR200 VPI dual-port QSFP112"}) {
    const std::string kept = harmless_product_data(product_data(name, "0JTK7F", "MT2245X07H9K"));
    EXPECT_NE(kept.find(name), std::string::npos) << name;
    EXPECT_NE(kept.find("0JTK7F"), std::string::npos);
    EXPECT_EQ(kept.find("MT2245X07H9K"), std::string::npos);
    EXPECT_EQ(harmless_product_data(kept), kept) << "a capture of a capture is the same";
  }
  for (const char* name : {"ConnectX-7 SN 1322521000042", "adapter card of node17.rack4.example",
                           "ConnectX-7 deadbeefcafef00d", "NIC 00112233-4455-6677"}) {
    EXPECT_EQ(harmless_product_data(product_data(name, "", "")), "") << name;
  }
  EXPECT_EQ(harmless_product_data("no product data"), "");
}

TEST(Harmless, IsAFileOfTopologyUnderANameOfTheCapturesOwn) {
  Machine machine;
  lay_out_harmless(machine);
  machine.write("home/alice/topo.xml", "<pci busid=\"0000:99:00.0\" sn=\"17\">\n");
  machine.write("proc/77/environ", std::string("NCCL_TOPO_FILE=/home/alice/topo.xml\0", 36));
  const Capture capture = take_capture(machine.root());
  EXPECT_EQ(capture.entries.at("captured/nccl-topology.xml").content,
            "<pci busid=\"0000:99:00.0\"/>\n");
  EXPECT_EQ(capture.entries.at("proc/77/environ").content,
            std::string("NCCL_TOPO_FILE=/captured/nccl-topology.xml\0", 43));
}

}  // namespace
}  // namespace gdr::doctor
