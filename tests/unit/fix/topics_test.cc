// What the other topics propose, and boot parameters.
#include <gtest/gtest.h>

#include "fake_host.h"
#include "fix/boot_parameters.h"
#include "fix/changes/access_control.h"
#include "fix/changes/text_file.h"
#include "fix/plan.h"
#include "pasteable.h"

namespace gdr::fix {
namespace {

class Topics : public testing::Test {
 protected:
  Proposal plan(const std::string& topic, bool persist = false, bool named = true) {
    machine_ = host_.machine();
    inventory_ = host::take_inventory(host_.root());
    Wishes wishes;
    wishes.persist = persist;
    if (named) wishes.topics = {topic};
    std::vector<Proposal> all = make_plan({machine_, inventory_, journal_, wishes});
    for (Proposal& proposal : all) {
      for (const ToType& one : proposal.commands) {
        EXPECT_TRUE(doctor::test::pasteable(one.command)) << topic;
        EXPECT_FALSE(has(one.note, "sudo ")) << one.note;
      }
      for (const std::string& note : proposal.notes) EXPECT_FALSE(has(note, "sudo ")) << note;
    }
    for (Proposal& proposal : all) {
      if (proposal.topic == topic) return std::move(proposal);
    }
    ADD_FAILURE() << "no topic " << topic;
    return {};
  }
  static const Record& record(const Proposal& proposal, std::size_t index = 0) {
    static const Record none;
    EXPECT_LT(index, proposal.changes.size());
    return index < proposal.changes.size() ? proposal.changes[index].change->record() : none;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static std::string all_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  static std::string all_of(const std::vector<ToType>& commands) {
    std::string text;
    for (const ToType& one : commands) text += one.command.text() + "|" + one.note + "\n";
    return text;
  }

  void add_driver(const std::string& depends = " kernel/drivers/infiniband/core/ib_core.ko") {
    host_.write("sys/module/nvidia/version", "535.261.03\n");
    host_.write("sys/module/ib_core/refcnt", "9\n");
    host_.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module\n");
    host_.write("proc/kallsyms", "0 T ib_register_peer_memory_client\t[ib_core]\n");
    host_.write("lib/modules/6.8.0-50-generic/modules.dep",
                "updates/dkms/nvidia.ko:\nupdates/dkms/nvidia-peermem.ko:" + depends + "\n");
  }

  FakeHost host_;
  Machine machine_ = host_.machine();
  host::Inventory inventory_;
  JournalContent journal_;
};

TEST_F(Topics, LoadsThePeerMemoryModuleThatIsInstalled) {
  add_driver();
  EXPECT_EQ(record(plan("peer-memory", false, false)).target, "nvidia-peermem");
  host_.write("lib/modules/6.8.0-50-generic/modules.dep",
              "extra/nv_peer_mem.ko.xz: kernel/drivers/infiniband/core/ib_core.ko.xz\n");
  EXPECT_EQ(record(plan("peer-memory")).target, "nv_peer_mem");
  EXPECT_EQ(record(plan("peer-memory")).path, "");
}

TEST_F(Topics, LoadsThePeerMemoryModuleOfADriverContainer) {
  add_driver();
  host_.write("lib/modules/6.8.0-50-generic/modules.dep", "");
  host_.write("run/nvidia/driver/lib/modules/6.8.0-50-generic/modules.dep",
              "kernel/nvidia.ko:\nkernel/nvidia-peermem.ko: kernel/ib_core.ko\n");
  EXPECT_EQ(record(plan("peer-memory")).path, "run/nvidia/driver");
  const Proposal kept = plan("peer-memory", true);
  EXPECT_EQ(kept.changes.size(), 1u) << "the host's list would name a module it does not have";
}

TEST_F(Topics, LeavesPeerMemoryToDmaBufUnlessAsked) {
  add_driver();
  host_.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module\n");
  const Proposal proposal = plan("peer-memory", false, false);
  EXPECT_TRUE(proposal.changes.empty());
  EXPECT_TRUE(has(proposal.nothing, "dma-buf")) << proposal.nothing;
  EXPECT_EQ(plan("peer-memory").changes.size(), 1u);
  host_.write("proc/sys/kernel/osrelease", "5.4.0-1\n");
  host_.write("lib/modules/5.4.0-1/modules.dep", "a/nvidia-peermem.ko: ib_core.ko\n");
  EXPECT_EQ(plan("peer-memory", false, false).changes.size(), 1u) << "no dma-buf before 5.12";
}

TEST_F(Topics, SaysWhyThePeerMemoryModuleCannotBeLoaded) {
  add_driver();
  host_.write("proc/kallsyms", "0 T ib_register_client\t[ib_core]\n");
  EXPECT_TRUE(has(all_of(plan("peer-memory").refusals), "DOCA-OFED"));
  EXPECT_TRUE(plan("peer-memory").changes.empty());
  add_driver("");
  const Proposal without = plan("peer-memory");
  EXPECT_TRUE(has(all_of(without.refusals), "without the RDMA stack"));
  EXPECT_TRUE(has(all_of(without.commands), "sudo dkms install --force nvidia/535.261.03|"));
  std::filesystem::remove_all(host_.root() + "/sys/module/ib_core");
  EXPECT_TRUE(
      has(all_of(plan("peer-memory").refusals), "ib_core and the RDMA driver are not loaded"));
  host_.write("lib/modules/6.8.0-50-generic/modules.dep", "");
  EXPECT_TRUE(has(all_of(plan("peer-memory").refusals), "no module nvidia-peermem"));
}

TEST_F(Topics, KeepsThePeerMemoryModuleOverBootsOnce) {
  add_driver();
  host_.write("etc/modules-load.d/README", "");
  const Proposal proposal = plan("peer-memory", true);
  ASSERT_EQ(proposal.changes.size(), 2u);
  EXPECT_EQ(record(proposal, 1).target, kModulesFile);
  EXPECT_EQ(record(proposal, 1).new_value, std::string(kMark) + "\nnvidia-peermem\n");
  host_.write("sys/module/nvidia_peermem/version", "1\n");
  host_.write("etc/modules-load.d/other.conf", "nvidia-peermem\n");
  EXPECT_TRUE(plan("peer-memory", true).changes.empty());
}

TEST_F(Topics, WritesOverNobodysFile) {
  add_driver();
  host_.write(kModulesFile, "# mine\nnvidia-peermem-other\n");
  const Proposal proposal = plan("peer-memory", true);
  EXPECT_EQ(proposal.changes.size(), 1u);
  EXPECT_TRUE(has(all_of(proposal.refusals), "leaves it alone"));
}

TEST_F(Topics, RaisesTheLimitOfLockedMemoryWhereItIsLow) {
  const std::string low = "Max locked memory         8388608              8388608    bytes\n";
  const std::string none = "Max locked memory         unlimited            unlimited  bytes\n";
  host_.write("proc/self/limits", low);
  host_.write("proc/77/comm", "dockerd\n");
  host_.write("proc/77/limits", low);
  host_.write("proc/78/comm", "sshd\n");
  host_.write("proc/78/limits", none);
  host_.write("usr/lib/systemd/system/docker.service", "");
  host_.write("usr/lib/systemd/system/ssh.service", "");
  EXPECT_TRUE(plan("locked-memory").changes.empty()) << "only files hold it";
  const Proposal proposal = plan("locked-memory", true);
  ASSERT_EQ(proposal.changes.size(), 2u);
  EXPECT_EQ(record(proposal, 0).target, kLimitsFile);
  EXPECT_EQ(record(proposal, 1).target, "etc/systemd/system/docker.service.d/95-gdrkit.conf");
  EXPECT_TRUE(has(all_of(proposal.notes), "docker run --ulimit memlock=-1"));
  EXPECT_TRUE(has(all_of(proposal.commands),
                  "sudo systemctl daemon-reload && sudo systemctl restart docker|when"));
  host_.write("proc/self/limits", none);
  host_.write("proc/77/limits", none);
  EXPECT_TRUE(plan("locked-memory", true).changes.empty());
}

TEST_F(Topics, LetsNicsAskForMore) {
  host_.add_switch();
  const Proposal proposal = plan("max-read-request");
  ASSERT_EQ(proposal.changes.size(), 1u);
  EXPECT_EQ(record(proposal).target, "0000:05:00.0");
  EXPECT_EQ(record(proposal).old_value, "512");
  EXPECT_EQ(record(proposal).new_value, "4096");
  host_.write("proc/cmdline", "root=/dev/sda1 pci=pcie_bus_perf quiet\n");
  EXPECT_TRUE(has(plan("max-read-request").changes.at(0).refusal, "pcie_bus_perf"));
  host_.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_TRUE(has(plan("max-read-request").changes.at(0).refusal, "virtual machine"));
  host_.set_word("0000:05:00.0", 0x68, 0x5810);
  EXPECT_TRUE(plan("max-read-request").changes.empty());
}

TEST_F(Topics, KeepsTheReadRequestOverBootsByTheNicsNumbers) {
  host_.add_switch();
  EXPECT_TRUE(has(all_of(plan("max-read-request", true).refusals), "pciutils"));
  host_.write("usr/bin/setpci", "");
  const Proposal proposal = plan("max-read-request", true);
  ASSERT_EQ(proposal.changes.size(), 2u);
  EXPECT_EQ(record(proposal, 1).target, kUdevFile);
  EXPECT_EQ(*record(proposal, 1).new_value,
            std::string(kMark) +
                "\nACTION==\"bind\", SUBSYSTEM==\"pci\", ATTR{vendor}==\"0x15b3\", "
                "ATTR{device}==\"0x1021\", RUN+=\"/usr/bin/setpci -s $kernel "
                "CAP_EXP+8.w=5000:7000\"\n");
  Record done = record(proposal, 0);
  done.boot = "boot-a";
  journal_.entries.push_back({1, done, State::kDone});
  host_.set_word("0000:05:00.0", 0x68, 0x5810);
  EXPECT_EQ(plan("max-read-request", true).changes.size(), 1u) << "what was set in this boot";
  EXPECT_FALSE(is_own_text(kUdevFile, file_text({"RUN+=\"/bin/reboot\""})));
}

TEST_F(Topics, SwitchesPersistenceModeOnWhereItIsOff) {
  host_.add_switch();
  std::string mode = "Disabled\n", service = "disabled\n";
  host_.on_run = [&](const std::string& line) -> Result<Ran> {
    if (has(line, "is-enabled")) return Ran{1, service};
    if (has(line, "is-active")) return Ran{3, "inactive\n"};
    return Ran{0, mode};
  };
  EXPECT_EQ(record(plan("persistence")).kind, kPersistenceMode);
  EXPECT_EQ(record(plan("persistence", true)).kind, kService);
  service = "Failed to get unit file state\n";
  const Proposal without = plan("persistence", true);
  EXPECT_EQ(record(without).kind, kPersistenceMode);
  EXPECT_TRUE(has(all_of(without.notes), "Failed to get unit file state"));
  mode = "Enabled\n";
  EXPECT_TRUE(plan("persistence").changes.empty());
  mode = "No devices were found\n";
  EXPECT_TRUE(plan("persistence").is_refused());
}

TEST_F(Topics, OnlyPrintsWhatRoceWants) {
  host_.add_switch();
  host_.write("sys/class/infiniband/mlx5_0/parent", "eth0\n");
  host_.write("sys/class/net/eth0/mtu", "1500\n");
  const Proposal proposal = plan("roce");
  EXPECT_TRUE(proposal.changes.empty());
  EXPECT_TRUE(has(all_of(proposal.commands), "cma_roce_mode -d mlx5_0 -p 1 -m 2"));
  EXPECT_TRUE(has(all_of(proposal.commands), "sudo ip link set eth0 mtu 9000|now 1500"));
  EXPECT_TRUE(plan("roce", false, false).commands.empty());
}

TEST_F(Topics, PersistsPortsByTheirPathsForTheKernelThatRuns) {
  host_.add_switch();
  host_.write("etc/default/grub.d/README", "");
  const std::string begin = std::string(kMark) + "\nGRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=";
  EXPECT_EQ(record(plan("acs", true), 2).new_value,
            begin + "disable_acs_redir=\\\"0000:00:01.0/00.0/00.0;0000:00:01.0/00.0/01.0\\\"\"\n");
  host_.write("proc/sys/kernel/osrelease", "6.12.3\n");
  const Proposal proposal = plan("acs", true);
  EXPECT_EQ(record(proposal, 2).new_value, begin +
                                               "config_acs=\\\"x0100x1@0000:00:01.0/00.0/00.0;"
                                               "x0100x1@0000:00:01.0/00.0/01.0\\\"\"\n");
  EXPECT_TRUE(has(all_of(proposal.notes), "47c8846a49ba"));
  EXPECT_TRUE(has(all_of(proposal.notes), "gdr doctor --only acs"));
  EXPECT_TRUE(has(all_of(proposal.commands), "sudo update-grub|then reboot"));
}

TEST_F(Topics, PersistsWhatWasClearedInThisBoot) {
  host_.add_switch();
  host_.write("etc/default/grub.d/README", "");
  Proposal proposal = plan("acs");
  for (std::size_t i = 0; i < 2; ++i) {
    Record done = record(proposal, i);
    done.boot = i == 0 ? "boot-a" : "boot-before";
    journal_.entries.push_back({static_cast<unsigned>(i + 1), done, State::kDone});
    host_.set_word(done.target, 0x176, 0x11);
  }
  proposal = plan("acs", true);
  ASSERT_EQ(proposal.changes.size(), 1u);
  EXPECT_TRUE(has(*record(proposal).new_value, "0000:00:01.0/00.0/00.0\\\""));
  EXPECT_FALSE(has(*record(proposal).new_value, "0000:00:01.0/00.0/01.0"));
}

TEST_F(Topics, KeepsThePortsThatAnEarlierFileHas) {
  host_.add_switch();
  const std::string earlier = file_text(
      {grub_line(boot_parameter({{"0000:80:01.0/00.0/02.0", "x0x00xx"}}, KernelVersion{6, 12}))});
  host_.write(kGrubFile, earlier);
  const Proposal proposal = plan("acs", true);
  EXPECT_EQ(record(proposal, 2).old_value, earlier);
  EXPECT_TRUE(has(*record(proposal, 2).new_value, "0000:80:01.0/00.0/02.0"));
  EXPECT_TRUE(has(*record(proposal, 2).new_value, "0000:00:01.0/00.0/01.0"));
}

TEST_F(Topics, PrintsBootParametersWhereThereIsNoFolderForThem) {
  host_.add_switch();
  const Proposal proposal = plan("acs", true);
  EXPECT_EQ(proposal.changes.size(), 2u);
  EXPECT_TRUE(has(all_of(proposal.notes), "pci=disable_acs_redir=0000:00:01.0/00.0/00.0;"));
}

TEST_F(Topics, LeavesBootParametersOfSomebodyElseAlone) {
  host_.add_switch();
  host_.write("etc/default/grub.d/README", "");
  host_.write("proc/cmdline", "quiet pci=disable_acs_redir=0000:00:01.0\n");
  const Proposal proposal = plan("acs", true);
  EXPECT_TRUE(has(proposal.changes.at(2).refusal, "only the last one counts"));
}

TEST(BootParameters, AreReadBackAsTheyWereWritten) {
  const BootPorts ports = {{"0000:00:01.0/00.0/08.0", "x0100x1"}, {"10000:00:02.0", "1000011"}};
  const std::string text = file_text({grub_line(boot_parameter(ports, KernelVersion{6, 11}))});
  EXPECT_TRUE(is_own_text(kGrubFile, text)) << text;
  EXPECT_EQ(ports_of_grub_text(text), ports);
  EXPECT_EQ(path_form("sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:08.0"),
            "0000:00:01.0/00.0/08.0");
  EXPECT_EQ(boot_bits(0x0011), "x0100x1");
  EXPECT_EQ(boot_bits(0x0000), "x0x00xx");
  EXPECT_EQ(boot_bits(0x007f), "1010011");
}

TEST(TextFile, HoldsNothingButWhatGdrFixWritesThere) {
  const std::string grub = "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=config_acs=\\\"x@0\\\"\"";
  EXPECT_TRUE(is_own_text(kGrubFile, file_text({grub})));
  EXPECT_TRUE(is_own_text(kModulesFile, file_text({"nvidia-peermem"})));
  for (const std::string line :
       {"GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=config_acs=\\\"$(reboot)\\\"\"",
        "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=config_acs=\\\"\"; reboot #\\\"\"",
        "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=nomsi=\\\"\\\"\"", "reboot", "# other", ""}) {
    EXPECT_FALSE(is_own_text(kGrubFile, file_text({line}))) << line;
    EXPECT_FALSE(is_own_text(kModulesFile, file_text({line}))) << line;
    EXPECT_FALSE(is_own_text(drop_in_file("docker"), file_text({line}))) << line;
  }
  EXPECT_FALSE(is_own_text(kGrubFile, grub + "\n")) << "without the first line";
  EXPECT_FALSE(is_own_text("etc/passwd", file_text({})));
  EXPECT_FALSE(is_own_text(drop_in_file("../../x"), file_text({})));
  for (const char* target : {"etc/passwd", "/etc/modules-load.d/gdrkit.conf",
                             "etc/modules-load.d/../modules-load.d/gdrkit.conf", ""}) {
    EXPECT_FALSE(change_of({.kind = kTextFile,
                            .target = target,
                            .identity = "",
                            .path = "",
                            .offset = 0,
                            .old_value = {},
                            .new_value = file_text({}),
                            .boot = "",
                            .time = ""}))
        << target;
  }
}

TEST(TextFile, IsNotWrittenThroughALink) {
  FakeHost host;
  host.write("etc/modules-load.d/README", "");
  host.write("precious", "bytes\n");
  std::filesystem::create_symlink(host.root() + "/precious", host.root() + "/" + kModulesFile);
  EXPECT_FALSE(written_file(host.machine(), kModulesFile, file_text({"nvidia-peermem"})));
  EXPECT_EQ(host.text("precious"), "bytes\n");
}

}  // namespace
}  // namespace gdr::fix
