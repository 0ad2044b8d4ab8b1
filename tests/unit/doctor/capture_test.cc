#include "doctor/capture/capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "doctor/capture/harmless.h"
#include "doctor/capture/tree.h"
#include "doctor/environment.h"
#include "doctor/kernel_log.h"
#include "doctor/run.h"
#include "host/inventory.h"
#include "machine.h"
#include "read_by_checks.h"
#include "tar_maker.h"

namespace gdr::doctor {
namespace {

namespace fs = std::filesystem;
using gdr::test::Machine;

// What all checks that cost nothing say of a machine, and what its inventory does not show.
std::string findings_of(const std::string& root) {
  const host::Files files(root);
  const host::Inventory inventory = host::take_inventory(files);
  Host host{files, inventory, read_environment(files), nullptr, {}, {}};
  host.kernel_log = read_kernel_log(files);
  Selection selection;
  selection.probes = false;
  std::string text;
  for (const std::string& unseen : inventory.unseen) text += unseen + "\n";
  const Report report = examine(host, selection);
  for (const Judgement& judgement : report.judgements) {
    for (const Finding& finding : judgement.findings) {
      text += std::string(judgement.check->id) + ": " + name_of(finding.outcome) + " " +
              finding.subject + ": " + finding.summary + " " + finding.fix.now.command.text() +
              finding.fix.now.note;
      for (const Evidence& evidence : finding.evidence) {
        text += "\n    " + evidence.source + " = " + evidence.value;
      }
      text += "\n";
    }
  }
  return text;
}

int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return -1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::string content(const Capture& capture, const std::string& path) {
  const auto found = capture.entries.find(path);
  return found == capture.entries.end() ? "absent" : found->second.content;
}

// A machine with something of everything that checks read.
void lay_out(Machine& machine) {
  for (unsigned i = 1; i <= 3; ++i) machine.add_switch(i);
  lay_out_what_checks_read(machine);
  machine.find("0000:39:00.0").width = 8;
  machine.find("0000:1a:00.0").max_read = 512;
  machine.nic("mlx5_3").mtu = 1500;
  machine.write("proc/kallsyms",
                "ffffffffc0a12340 t ib_register_peer_memory_client\t[ib_core]\n"
                "ffffffffc0a99999 t something_else\n");
  machine.write("proc/driver/nvidia/gpus/0000:19:00.0/information",
                "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-01234567-89ab-cdef-0123-456789abcdef\n");
  machine.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module\n");
  machine.write("proc/77/environ",
                std::string("NCCL_IB_GID_INDEX=3\0PASSWORD=x\0UCX_TOKEN=abcdefghijk\0", 53));
  machine.write("proc/77/cgroup", "0::/kubepods/burstable/pod1\n");
  machine.write("proc/77/status", "CapEff:\t0000000000000000\nCapBnd:\t00000000a80465fb\n");
  machine.write("proc/cmdline", "root=UUID=01234567-89ab-cdef-0123-456789abcdef intel_iommu=on\n");
  machine.write("var/log/dmesg", "[1.0] NVRM: loading\n[1.1] secret of another program\n");
  machine.write("sys/class/dmi/id/product_name", "PowerEdge XE9680\n");
  machine.write("sys/class/dmi/id/product_serial", "ABC1234\n");
  machine.write_all();
}

TEST(Capture, GivesTheSameFindingsAsTheMachine) {
  Machine machine;
  lay_out(machine);
  const std::string here = findings_of(machine.root());
  ASSERT_NE(here.find("acs: fail"), std::string::npos) << here;
  for (const char* finding :
       {"mtu: warn", "roce-subnets: warn", "ib-umad: warn", "ofed-release: ok", "gdrdrv: warn",
        "kernel-config: ok", "nv-peer-mem-service: warn", "max-map-count: warn",
        "ipc-lock: warn"}) {
    ASSERT_NE(here.find(finding), std::string::npos) << finding << " in:\n" << here;
  }
  const Machine empty;
  const std::string folder = empty.root() + "/replay/";
  const auto written = write_capture(take_capture(machine.root()), folder);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(findings_of(folder), here);
}

TEST(Capture, SaysThatAMachineWithoutGpuAndNicIsRefused) {
  const auto says_so = [](const Machine& machine) {
    for (const std::string& missing : take_capture(machine.root()).missing) {
      if (missing.find("refuse this capture") != std::string::npos) return true;
    }
    return false;
  };
  const Machine bare;
  EXPECT_TRUE(says_so(bare));
  Machine machine;
  lay_out(machine);
  EXPECT_FALSE(says_so(machine));
}

TEST(Capture, FindsADriverThatIsMountedElsewhereAgainAndNamesNoOtherMount) {
  Machine machine;
  lay_out(machine);
  machine.write("proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Release Build\n");
  machine.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
  machine.write("sys/module/ib_core/refcnt", "9\n");
  machine.write("lib/modules/6.8.0-45-generic/modules.dep", "kernel/infiniband/core/ib_core.ko:\n");
  const std::string driver = "opt/nvidia/driver/";
  machine.write(driver + "lib/modules/6.8.0-45-generic/modules.dep",
                "kernel/drivers/video/nvidia.ko:\n"
                "kernel/drivers/video/nvidia-peermem.ko: kernel/infiniband/core/ib_core.ko\n");
  machine.write(driver + "usr/src/nvidia-580.95.05/dkms.conf", "secret\n");
  machine.write("proc/77/mountinfo",
                "30 22 0:55 / /opt/nvidia/driver rw,relatime - overlay overlay rw,upperdir=/x\n"
                "31 22 0:56 / /var/lib/kubelet/pods/1/volumes/kubernetes.io~secret/nvidia-token "
                "rw,relatime - tmpfs tmpfs rw\n");
  const std::string here = findings_of(machine.root());
  EXPECT_NE(here.find("found nothing that prevents loading nvidia-peermem"), std::string::npos)
      << here;
  const Machine empty;
  const Capture capture = take_capture(machine.root());
  ASSERT_TRUE(write_capture(capture, empty.root() + "/replay/"));
  EXPECT_EQ(findings_of(empty.root() + "/replay"), here);
  for (const auto& [path, captured] : capture.entries) {
    EXPECT_EQ((path + captured.content).find("secret"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("upperdir"), std::string::npos) << path;
  }
}

TEST(Capture, KeepsTwoLinesOfTheKernelsPackedConfiguration) {
  Machine machine;
  lay_out(machine);
  machine.write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n");
  machine.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
  std::filesystem::remove_all(machine.root() + "/boot");
  machine.write("proc/config.gz", gdr::test::compressed("CONFIG_LOCALVERSION=\"-secret\"\n"
                                                        "CONFIG_PCI_P2PDMA=y\n"
                                                        "CONFIG_DMABUF_MOVE_NOTIFY=y\n",
                                                        "gzip"));
  const Capture capture = take_capture(machine.root());
  const auto kept = capture.entries.find("proc/config.gz");
  ASSERT_NE(kept, capture.entries.end());
  EXPECT_EQ(kept->second.content, "CONFIG_PCI_P2PDMA=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\n");
  const Machine empty;
  ASSERT_TRUE(write_capture(capture, empty.root() + "/replay/"));
  EXPECT_EQ(findings_of(empty.root() + "/replay"), findings_of(machine.root()));
}

TEST(Capture, OfACaptureIsTheSame) {
  Machine machine;
  lay_out(machine);
  const Machine empty;
  const Capture first = take_capture(machine.root());
  ASSERT_TRUE(write_capture(first, empty.root() + "/replay/"));
  const Capture second = take_capture(empty.root() + "/replay");
  EXPECT_EQ(first.entries.size(), second.entries.size());
  for (const auto& [path, captured] : first.entries) {
    EXPECT_EQ(content(second, path), captured.content) << path;
  }
}

TEST(Capture, IsAnArchiveThatTarUnpacksToTheSame) {
  Machine machine;
  lay_out(machine);
  // Longer than a name in the archive's own header.
  const std::string deep = "sys/bus/pci/drivers/" + std::string(120, 'd');
  machine.write(deep + "/x", "");
  const fs::path driver =
      fs::canonical(machine.root() + "/sys/bus/pci/devices/0000:19:00.0") / "driver";
  machine.link(driver.lexically_relative(fs::canonical(machine.root())), deep);
  const Machine empty;
  const std::string archive = empty.root() + "/host.tar";
  ASSERT_TRUE(write_capture(take_capture(machine.root()), archive));
  fs::create_directories(empty.root() + "/host");
  ASSERT_EQ(run({"tar", "-xf", archive, "-C", empty.root() + "/host"}), 0);
  EXPECT_EQ(findings_of(empty.root() + "/host"), findings_of(machine.root()));
}

TEST(Capture, GivesTheSameFindingsWithoutBeingUnpacked) {
  Machine machine;
  lay_out(machine);
  const Machine empty;
  const std::string archive = empty.root() + "/host.tar";
  const Capture first = take_capture(machine.root());
  ASSERT_TRUE(write_capture(first, archive));
  EXPECT_EQ(findings_of(archive), findings_of(machine.root()));
  const Capture second = take_capture(archive);
  EXPECT_EQ(first.entries.size(), second.entries.size());
  for (const auto& [path, captured] : first.entries) {
    EXPECT_EQ(content(second, path), captured.content) << path;
  }
}

TEST(Capture, HoldsWhatWasAskedForAndNothingElse) {
  Machine machine;
  lay_out(machine);
  machine.write("sys/class/net/ens1np0/ifalias", "the boss's port\n");
  machine.write("etc/shadow", "root:x\n");
  const Capture capture = take_capture(machine.root());
  EXPECT_EQ(content(capture, "sys/class/dmi/id/product_serial"), "absent");
  EXPECT_EQ(content(capture, "etc/shadow"), "absent");
  for (const auto& [path, captured] : capture.entries) {
    EXPECT_EQ(captured.content.find("boss"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("456789abcdef"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("PASSWORD"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("abcdefghijk"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("SERIAL!!"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("ffffffffc0a"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("another program"), std::string::npos) << path;
    EXPECT_EQ(captured.content.find("something_else"), std::string::npos) << path;
  }
  EXPECT_EQ(content(capture, "proc/77/environ"), std::string("NCCL_IB_GID_INDEX=3\0", 20));
  EXPECT_EQ(content(capture, "proc/self"), "77");
}

TEST(Capture, HasNoLinkThatLeavesIt) {
  Machine machine;
  lay_out(machine);
  fs::create_symlink("/etc", machine.root() + "/sys/class/infiniband/absolute");
  fs::create_symlink("../../../../../etc", machine.root() + "/sys/class/infiniband/above");
  fs::create_symlink("circle", machine.root() + "/sys/class/infiniband/circle");
  const Capture capture = take_capture(machine.root());
  unsigned links = 0;
  for (const auto& [path, captured] : capture.entries) {
    if (captured.kind != Captured::Kind::kLink) continue;
    ++links;
    const fs::path target = (fs::path(path).parent_path() / captured.content).lexically_normal();
    EXPECT_FALSE(fs::path(captured.content).is_absolute()) << path;
    EXPECT_NE(target.begin()->string(), "..") << path;
  }
  EXPECT_GT(links, 10u);
}

TEST(Capture, KnowsProcessesByNameOnlyWhereTheyMatter) {
  Machine machine;
  lay_out(machine);
  machine.write("proc/80/comm", "sshd\n");
  machine.write("proc/80/limits", "Max locked memory         65536      65536     bytes\n");
  machine.write("proc/81/comm", "secret-project\n");
  const Capture capture = take_capture(machine.root());
  EXPECT_EQ(content(capture, "proc/80/comm"), "sshd\n");
  EXPECT_EQ(content(capture, "proc/81/comm"), "absent");
  for (const auto& [path, captured] : capture.entries) {
    EXPECT_EQ(captured.content.find("secret-project"), std::string::npos) << path;
  }
}

TEST(Capture, DoesNotFollowLinksThatWereSeenInAListingOnly) {
  Machine machine;
  lay_out(machine);
  machine.write("home/me/diary", "dear diary\n");
  machine.link("dev/diary", "home/me/diary");
  machine.write("dev/nvidia0", "");
  const Capture capture = take_capture(machine.root());
  EXPECT_EQ(content(capture, "dev/nvidia0"), "");
  EXPECT_EQ(content(capture, "home/me/diary"), "absent");
}

TEST(Capture, MakesLinksRelativeThatNameTheirPlaceFromTheTop) {
  Machine machine;
  lay_out(machine);
  const std::string device = "sys/bus/pci/devices/0000:19:00.0";
  const fs::path place = fs::canonical(machine.root() + "/" + device);
  fs::remove(machine.root() + "/" + device);
  fs::create_symlink(fs::path("/") / place.lexically_relative(fs::canonical(machine.root())),
                     machine.root() + "/" + device);
  EXPECT_EQ(content(take_capture(machine.root()), device),
            "../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:19:00.0");
}

TEST(Capture, SaysWhatItLacks) {
  Machine machine;
  lay_out(machine);
  EXPECT_EQ(take_capture(machine.root()).missing.size(), 0u);
  machine.find("0000:19:00.0").config_size = 64;
  machine.write_all();
  fs::remove(machine.root() + "/var/log/dmesg");
  const Capture capture = take_capture(machine.root());
  ASSERT_EQ(capture.missing.size(), 2u);
  EXPECT_NE(capture.missing[0].find("of 1 PCI functions: run as root"), std::string::npos);
}

TEST(Capture, WaitsForNoPipe) {
  Machine machine;
  lay_out(machine);
  fs::remove(machine.root() + "/proc/cpuinfo");
  ASSERT_EQ(mkfifo((machine.root() + "/proc/cpuinfo").c_str(), 0600), 0);
  fs::remove(machine.root() + "/proc/kallsyms");
  ASSERT_EQ(mkfifo((machine.root() + "/proc/kallsyms").c_str(), 0600), 0);
  EXPECT_EQ(content(take_capture(machine.root()), "proc/cpuinfo"), "");
}

TEST(Capture, OverwritesNothingAndKnowsItsFormats) {
  const Machine machine;
  const Capture capture = take_capture(machine.root());
  const Machine other;
  const std::string file = other.root() + "/host.tar";
  ASSERT_TRUE(write_capture(capture, file));
  EXPECT_EQ(write_capture(capture, file).error().code, EEXIST);
  EXPECT_EQ(write_capture(capture, other.root() + "/sys/").error().code, EEXIST);
  EXPECT_EQ(write_capture(capture, other.root() + "/host.tar.gz").error().code, EINVAL);
  EXPECT_EQ(write_capture(capture, other.root() + "/no/folder.tar").error().code, ENOENT);
}

TEST(Capture, ListsItsKindsOfFiles) {
  Machine machine;
  lay_out(machine);
  bool configs = false;
  for (const std::string& line : contents_of(take_capture(machine.root()))) {
    configs |= line == "    18  /sys/devices/*/config";
  }
  EXPECT_TRUE(configs) << ::testing::PrintToString(contents_of(take_capture(machine.root())));
}

TEST(Capture, IsNotWrittenIntoAFolderThatAnotherAccountOwnsOrCanWrite) {
  const Machine machine;
  const Capture capture = take_capture(machine.root());
  const Machine other;
  const std::string folder = other.root() + "/replay";
  fs::create_directory(folder);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(write_capture(capture, folder).error().code, EPERM);
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
    EXPECT_EQ(write_capture(capture, folder).error().code, EPERM);
    ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  }
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_TRUE(write_capture(capture, folder));
}

TEST(Capture, FollowsNoLinkThatTookAFoldersPlaceWhileItWasWritten) {
  Capture capture;
  capture.entries["etc/modprobe.d/new.conf"] = {Captured::Kind::kFile, false, "text"};
  capture.entries["sys/class/eth0"] = {Captured::Kind::kLink, false, "../devices/eth0"};
  for (const char* replaced : {"etc", "etc/modprobe.d", "sys", "sys/class"}) {
    const Machine elsewhere, other;
    const std::string place = other.root() + "/replay/" + replaced;
    fs::create_directories(fs::path(place).parent_path());
    fs::create_directory_symlink(elsewhere.root(), place);
    const auto before = std::distance(fs::recursive_directory_iterator(elsewhere.root()), {});
    const UniqueFd folder(
        open((other.root() + "/replay").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_FALSE(write_entries(capture, folder.get())) << replaced;
    EXPECT_EQ(std::distance(fs::recursive_directory_iterator(elsewhere.root()), {}), before)
        << replaced;
  }
}

}  // namespace
}  // namespace gdr::doctor
