// Made-up hosts of each kind, told to gdr doctor and to gdr fix: what one says, the other does.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/all.h"
#include "doctor/host.h"
#include "doctor/probe/command.h"
#include "fake_host.h"
#include "fix/changes/text_file.h"
#include "fix/plan.h"
#include "kinds_of_host.h"
#include "pasteable.h"

namespace gdr::fix {
namespace {

void make(const Kind& kind, FakeHost& host) {
  const std::string release = kind.driver;
  host.write("proc/sys/kernel/osrelease", std::string(kind.kernel) + "\n");
  host.write("sys/module/nvidia/version", release + "\n");
  host.write("proc/driver/nvidia/version",
             std::string("NVRM version: NVIDIA UNIX ") +
                 (kind.open ? "Open Kernel Module for x86_64  " : "x86_64 Kernel Module  ") +
                 release + "  Release Build\n");
  if (kind.rdma) host.write("sys/module/ib_core/refcnt", "9\n");
  host.write("proc/kallsyms", kind.interface && kind.rdma
                                  ? "0 T ib_register_peer_memory_client\t[ib_core]\n"
                                  : "0 T ib_register_client\t[ib_core]\n");
  const std::string modules = std::string("lib/modules/") + kind.kernel;
  host.write(kind.root + modules + "/modules.dep", kind.modules);
  if (kind.interface) {
    host.write(modules + "/modules.symbols",
               "alias symbol:ib_register_peer_memory_client ib_core\n");
  }
  if (*kind.root != '\0') {
    const std::string place = std::string("/") + kind.root;
    host.write(modules + "/modules.dep", "kernel/infiniband/core/ib_core.ko:\n");
    host.write("proc/self/mountinfo", "9 2 0:5 / " + place.substr(0, place.size() - 1) +
                                          " rw,relatime - overlay overlay rw\n");
  }
  if (kind.ofed) host.write("sys/module/mlx_compat/version", "24.10-0.7.0\n");
  if (*kind.loaded != '\0') {
    host.write("sys/module/" + std::string(kind.loaded) + "/version", release + "\n");
    host.write("sys/module/ib_core/holders/" + std::string(kind.loaded) + "/x", "");
  }
  host.add_switch();
  const std::string gpu = "sys/bus/pci/devices/0000:04:00.0/device";
  char number[16];
  snprintf(number, sizeof number, "0x%04x\n", kind.gpu);
  host.write(gpu, number);
  if (kind.efa) {
    std::filesystem::create_directories(host.root() + "/sys/bus/pci/drivers/efa");
    const std::string link = host.root() + "/sys/bus/pci/devices/0000:05:00.0/driver";
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(host.root() + "/sys/bus/pci/drivers/efa", link);
  }
}

struct Answers {
  std::optional<doctor::Finding> path;     // of registration-path
  std::optional<doctor::Finding> loading;  // of peer-memory-loading
  Proposal proposal;
};

std::optional<doctor::Finding> first(const doctor::Findings& findings) {
  if (findings.empty()) return std::nullopt;
  return findings.front();
}

Answers ask(FakeHost& fake) {
  Answers answers;
  const Machine machine = fake.machine();
  const host::Inventory inventory = host::take_inventory(machine.files);
  const doctor::Host host{machine.files, inventory, {}, nullptr, {}, {}};
  const doctor::Findings path = doctor::kRegistrationPath.find(host);
  const doctor::Findings loading = doctor::kPeerMemoryLoading.find(host);
  EXPECT_TRUE(doctor::test::pasteable(path));
  EXPECT_TRUE(doctor::test::pasteable(loading));
  answers.path = first(path);
  answers.loading = first(loading);
  const Wishes wishes;
  const JournalContent journal;
  for (Proposal& one : make_plan({machine, inventory, journal, wishes})) {
    if (one.topic == "peer-memory") answers.proposal = std::move(one);
  }
  return answers;
}

std::string refusals_of(const Proposal& proposal) {
  std::string text;
  for (const std::string& one : proposal.refusals) text += one + "\n";
  for (const ToType& one : proposal.commands) text += one.command.text() + "\n" + one.note + "\n";
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_well(const Answers& answers) {
  EXPECT_EQ(answers.path->outcome, doctor::Outcome::kOk) << answers.path->summary;
  EXPECT_FALSE(answers.loading) << answers.loading->summary;
  EXPECT_TRUE(answers.proposal.changes.empty());
  EXPECT_TRUE(answers.proposal.refusals.empty()) << refusals_of(answers.proposal);
  EXPECT_NE(answers.proposal.nothing, "");
}

void expect_load(const Answers& answers, const Kind& kind) {
  EXPECT_EQ(answers.path->outcome, doctor::Outcome::kFail);
  EXPECT_EQ(answers.path->fix.now.command.text(), "sudo gdr fix peer-memory --apply");
  ASSERT_TRUE(answers.loading);
  EXPECT_EQ(answers.loading->outcome, doctor::Outcome::kOk) << answers.loading->summary;
  EXPECT_TRUE(has(answers.loading->summary, kind.words)) << answers.loading->summary;
  EXPECT_TRUE(answers.proposal.refusals.empty()) << refusals_of(answers.proposal);
  ASSERT_EQ(answers.proposal.changes.size(), 1u);
  const Planned& planned = answers.proposal.changes.front();
  EXPECT_EQ(planned.refusal, "");
  EXPECT_EQ(planned.change->record().target, kind.words);
  EXPECT_EQ(planned.change->record().path + (*kind.root == '\0' ? "" : "/"), kind.root);
  EXPECT_TRUE(has(answers.path->fix.now.by_hand.text(), std::string(" ") + kind.words))
      << answers.path->fix.now.by_hand.text();
}

void expect_cannot(const Answers& answers, const Kind& kind) {
  EXPECT_EQ(answers.path->outcome, doctor::Outcome::kFail);
  EXPECT_NE(answers.path->fix.now.command.text().rfind("sudo gdr fix", 0), 0u) << "it would refuse";
  ASSERT_TRUE(answers.loading);
  EXPECT_NE(answers.loading->outcome, doctor::Outcome::kOk) << answers.loading->summary;
  EXPECT_TRUE(answers.proposal.changes.empty());
  ASSERT_FALSE(answers.proposal.refusals.empty()) << answers.proposal.nothing;
  const std::string fixes = refusals_of(answers.proposal);
  EXPECT_TRUE(has(fixes, kind.words)) << fixes;
  // The same reason, and the same way out.
  const doctor::Fix& fix = answers.path->fix;
  const std::string reason = fixes.substr(0, fixes.find(": "));
  EXPECT_TRUE(has(answers.loading->summary, reason.substr(0, reason.find('\n'))))
      << answers.loading->summary << "\n"
      << fixes;
  const std::string first_step =
      fix.now.command.text().substr(0, fix.now.command.text().find('\n'));
  for (const std::string& said : {first_step, fix.now.note, fix.for_good.note}) {
    EXPECT_TRUE(said.empty() || has(fixes, said)) << said << "\n" << fixes;
  }
  EXPECT_TRUE(!fix.now.empty() || !fix.for_good.empty());
}

TEST(DoctorAndFix, SpeakWithOneVoiceOnEveryKindOfHost) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    FakeHost host;
    make(kind, host);
    const Answers answers = ask(host);
    ASSERT_TRUE(answers.path);
    switch (kind.verdict) {
      case kWell:
        expect_well(answers);
        break;
      case kLoad:
        expect_load(answers, kind);
        break;
      case kCannot:
        expect_cannot(answers, kind);
    }
  }
}

// What a command of doctor's writes, and where: "/etc/…" and its lines.
std::pair<std::string, std::string> written_by(const std::string& command) {
  constexpr std::string_view kInto = " | sudo tee ";
  const auto into = command.find(kInto);
  const auto begin =
      command.rfind('\n', into) == std::string::npos ? 0 : command.rfind('\n', into) + 1;
  const auto end = command.find('\n', into);
  const doctor::CommandAnswer answer =
      doctor::run_command({"bash", "-c", command.substr(begin, into - begin)}, 200 * kSecond);
  return {command.substr(into + kInto.size(), end - into - kInto.size()), answer.output};
}

TEST(DoctorAndFix, WriteTheSameLinesToTheSameFilesAgainstLimitsOfLockedMemory) {
  FakeHost fake;
  const std::string low = "Max locked memory         8388608              8388608    bytes\n";
  fake.write("proc/self/limits", low);
  fake.write("proc/77/comm", "containerd\n");
  fake.write("proc/77/limits", low);
  fake.write("usr/lib/systemd/system/containerd.service", "");
  const Machine machine = fake.machine();
  const host::Inventory inventory = host::take_inventory(machine.files);
  const doctor::Host host{machine.files, inventory, {}, nullptr, {}, {}};
  Wishes wishes;
  wishes.persist = true;
  wishes.topics = {"locked-memory"};
  const JournalContent journal;
  const std::vector<Proposal> plan = make_plan({machine, inventory, journal, wishes});
  ASSERT_EQ(plan.at(0).changes.size(), 2u);
  const doctor::Findings found = doctor::kLockedMemory.find(host);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(doctor::test::pasteable(found));
  for (std::size_t i = 0; i < 2; ++i) {
    const Record& record = plan[0].changes[i].change->record();
    const doctor::Action& action = found[i].fix.for_good;
    EXPECT_TRUE(has(action.command.text(), "sudo gdr fix locked-memory --apply --persist"));
    const auto [file, lines] = written_by(action.by_hand.text());
    EXPECT_EQ(file, "/" + record.target);
    EXPECT_EQ(*record.new_value, std::string(kMark) + "\n" + lines);
  }
}

TEST(DoctorAndFix, TellNoHostOfAmdsGpusToLoadNvidiasModule) {
  FakeHost host;
  host.write("proc/kallsyms", "0 T ib_register_peer_memory_client\t[ib_core]\n");
  host.add({.address = "0000:04:00.0",
            .parent = "pci0000:00",
            .vendor = 0x1002,
            .device = 0x74a1,
            .class_code = 0x120000,
            .driver = "amdgpu"});
  host.add_nic("mlx5_0", {.address = "0000:05:00.0", .parent = "pci0000:00"});
  const Answers answers = ask(host);
  EXPECT_FALSE(answers.path);
  EXPECT_FALSE(answers.loading);
  EXPECT_TRUE(answers.proposal.changes.empty());
  EXPECT_TRUE(has(answers.proposal.nothing, "AMD's")) << answers.proposal.nothing;
}

}  // namespace
}  // namespace gdr::fix
