// gdr peermem install: what is verified first, signing, and the changes that are planned.
#include "peermem/install.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fix/apply.h"
#include "fix/changes/stored_module.h"
#include "fix/changes/text_file.h"
#include "made_host.h"
#include "peermem/signing.h"

namespace gdr::peermem {
namespace {

constexpr const char* kSecureBoot =
    "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

class Install : public testing::Test {
 protected:
  Install() {
    host_.usual();
    for (const char* folder : {"etc/modules-load.d", "etc/modprobe.d", "etc/depmod.d",
                               "etc/systemd/system", "usr/bin", "scratch"}) {
      host_.make(folder);
    }
    host_.write("usr/bin/systemctl", "");
    order_.file = host_.write("nvidia-peermem.ko", MadeHost::client().bytes());
    workshop_.scratch = host_.at("scratch");
    workshop_.run = [this](const auto& command) { return run(command); };
    machine_.run = workshop_.run;
    machine_.boot = "boot-a";
  }

  Result<fix::Ran> run(const std::vector<std::string>& command) {
    std::string line;
    for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
    ran_.push_back(line);
    if (line.starts_with("systemctl is-enabled")) return fix::Ran{1, enabled_ + "\n"};
    if (line.starts_with("systemctl enable")) enabled_ = "enabled";
    if (line.starts_with("systemctl disable")) enabled_ = "disabled";
    if (line.starts_with("kmodsign")) {
      std::ofstream(command.back(), std::ios::app) << "~Module signature appended~\n";
    }
    return fix::Ran{};
  }

  Result<Prepared> prepare() {
    const Result<Survey> survey = host_.survey();
    if (!survey) return survey.error();
    survey_ = *survey;
    return prepare_install(host_.files(), survey_, order_, workshop_);
  }
  void expect_error(const std::string& part) {
    const Result<Prepared> prepared = prepare();
    ASSERT_FALSE(prepared);
    EXPECT_NE(prepared.error().message.find(part), std::string::npos) << prepared.error().message;
    EXPECT_FALSE(std::filesystem::exists(host_.at("var")));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const char* folder : {"etc", "lib"}) {
      for (const auto& one : std::filesystem::recursive_directory_iterator(host_.at(folder))) {
        found.push_back(std::filesystem::relative(one.path(), host_.root()).string());
      }
    }
    std::ranges::sort(found);
    return found;
  }

  MadeHost host_;
  InstallOrder order_;
  Workshop workshop_;
  Survey survey_;
  fix::Machine machine_ = fix::captured_machine(host_.root());
  std::vector<std::string> ran_;
  std::string enabled_ = "disabled";
};

TEST_F(Install, PutsModuleOverrideSoftdepAndServiceAndTakesAllOfItBack) {
  const std::vector<std::string> before = files();
  const Result<Prepared> prepared = prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  ASSERT_TRUE(fix::store_module(machine_, prepared->bytes));
  fix::Proposal proposal = plan_install(machine_, survey_, *prepared);
  ASSERT_FALSE(proposal.is_refused());
  std::vector<const fix::Change*> changes;
  for (const fix::Planned& one : proposal.changes) changes.push_back(one.change.get());
  Result<fix::Journal> journal = fix::Journal::open(host_.at("var/lib/gdrkit/fix"));
  ASSERT_TRUE(journal) << journal.error().message;
  for (const fix::Step& step : fix::apply(changes, machine_, *journal)) {
    ASSERT_EQ(step.fate, fix::Fate::kDone) << step.record.target << ": " << step.text;
  }
  const std::string module = std::string(MadeHost::kTree) + "updates/gdrkit/nvidia-peermem.ko";
  EXPECT_EQ(test::text_of_file(host_.at(module)), MadeHost::client().bytes());
  const auto holds = [&](const char* file, const std::string& line) {
    EXPECT_NE(test::text_of_file(host_.at(file)).find(line + "\n"), std::string::npos) << file;
  };
  holds(fix::kPeermemDepmodFile, "override nvidia-peermem * updates/gdrkit");
  holds(fix::kPeermemModprobeFile, "softdep nvidia post: nvidia-peermem");
  holds(fix::kPeermemModulesFile, "nvidia-peermem");
  holds(fix::kPeermemUnitFile, "After=openibd.service nvidia-persistenced.service");
  EXPECT_EQ(enabled_, "enabled");
  EXPECT_EQ(plan_install(machine_, survey_, *prepared).nothing,
            "this module is installed, also for each boot");

  ASSERT_TRUE(fix::all_well(fix::undo(machine_, *journal, fix::is_of_peermem)));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(enabled_, "disabled");
}

TEST_F(Install, RefusesWhatTheKernelWouldRefuse) {
  order_.file = host_.write("nvidia-peermem.ko", MadeHost::client(0x10).bytes());
  expect_error("the kernel would refuse it: disagrees about version of symbol");
}

TEST_F(Install, RefusesAnotherModule) {
  order_.file = host_.write("nvidia-peermem.ko", MadeHost::ib_core().bytes());
  expect_error("is the module ib_core, not nvidia_peermem");
}

TEST_F(Install, SaysHowToBuildWhatIsNotThere) {
  order_.file = host_.at("nowhere.ko");
  expect_error("nowhere.ko: no such file; build it first: gdr peermem build");
}

TEST_F(Install, RefusesAModuleOfAnotherKernel) {
  test::ModuleMaker maker("nvidia_peermem", "6.5.0-1-amd64");
  maker.machine = MadeHost::machine();
  order_.file = host_.write("nvidia-peermem.ko", maker.bytes());
  expect_error("was built for kernel 6.5.0-1-amd64, not 6.1.0-56-amd64");
}

TEST_F(Install, RefusesWhatItCannotVerify) {
  std::filesystem::remove(host_.at(std::string(MadeHost::kTree) + "updates/dkms/nvidia.ko"));
  expect_error("so it cannot be verified; name the driver with --driver-module");
}

TEST_F(Install, UnderSecureBootWithoutAKeySaysHowToMakeAndEnrolOne) {
  host_.write(kSecureBoot, std::string("\6\0\0\0\1", 5));
  expect_error("Secure Boot is on, so the kernel loads signed modules only");
  expect_error("sudo mokutil --import /var/lib/dkms/mok.pub");
}

TEST_F(Install, SignsWithTheKeyThatIsGiven) {
  order_.key = host_.write("mok.priv", "key");
  order_.certificate = host_.write("mok.der", "certificate");
  const Result<Prepared> prepared = prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_TRUE(prepared->bytes.ends_with("~Module signature appended~\n"));
  ASSERT_EQ(ran_.size(), 1U);
  EXPECT_TRUE(ran_[0].starts_with("kmodsign sha256 " + order_.key + " " + order_.certificate));
  EXPECT_TRUE(std::filesystem::is_empty(host_.at("scratch")));
  order_.dry_run = true;
  ran_.clear();
  EXPECT_TRUE(prepare());
  EXPECT_TRUE(ran_.empty());
}

TEST_F(Install, LeavesOutTheServiceWhereThereIsNoSystemd) {
  std::filesystem::remove(host_.at("usr/bin/systemctl"));
  const Result<Prepared> prepared = prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  const fix::Proposal proposal = plan_install(machine_, survey_, *prepared);
  EXPECT_EQ(proposal.changes.size(), 4U);
}

TEST_F(Install, PassesByAnInstallCommandOfTheDriversPackage) {
  host_.write("etc/modprobe.d/nvidia.conf",
              "install nvidia-peermem modprobe -i nvidia-current-peermem\n");
  const Result<Prepared> prepared = prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  const fix::Proposal proposal = plan_install(machine_, survey_, *prepared);
  ASSERT_EQ(proposal.commands.size(), 1U);
  EXPECT_EQ(proposal.commands[0].command.text(), "sudo modprobe --ignore-install nvidia-peermem");
}

TEST(Enforcement, IsSecureBootLockdownOrAParameter) {
  const MadeHost host;
  EXPECT_EQ(read_enforcement(host.files()), "");
  host.write("sys/module/module/parameters/sig_enforce", "Y\n");
  EXPECT_EQ(read_enforcement(host.files()), "the kernel runs with module.sig_enforce");
  host.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(read_enforcement(host.files()), "the kernel is locked down");
  host.write(kSecureBoot, std::string("\6\0\0\0\0", 5));
  EXPECT_EQ(read_enforcement(host.files()), "the kernel is locked down");
  host.write(kSecureBoot, std::string("\6\0\0\0\1", 5));
  EXPECT_EQ(read_enforcement(host.files()), "Secure Boot is on");
}

TEST(SigningKeys, AreThoseOfDkmsOrOfItsConfiguration) {
  const MadeHost host;
  EXPECT_FALSE(*find_key(host.files(), "", ""));
  EXPECT_FALSE(find_key(host.files(), "/key", "")) << "one of two";
  host.write("var/lib/dkms/mok.key", "");
  host.write("var/lib/dkms/mok.pub", "");
  EXPECT_EQ((*find_key(host.files(), "", ""))->key, "/var/lib/dkms/mok.key");
  host.write("etc/dkms/framework.conf",
             "mok_signing_key=\"/root/k\"\nmok_certificate=\"/root/c\"\n# mok_signing_key=/no\n");
  host.write("root/k", "");
  host.write("root/c", "");
  EXPECT_EQ((*find_key(host.files(), "", ""))->key, "/root/k");
}

TEST(SigningKeys, ThatAreNotEnrolledAreToldHow) {
  const std::optional<SigningKey> key({"/mok.key", "/mok.pub", "of DKMS"});
  fix::Ran answer{0, "/mok.pub is not enrolled\n"};
  const auto run = [&](const auto&) -> Result<fix::Ran> { return answer; };
  EXPECT_EQ(why_key_will_not_do("", key, run), "");
  const std::string told = why_key_will_not_do("Secure Boot is on", key, run);
  EXPECT_NE(told.find("sudo mokutil --import /mok.pub"), std::string::npos) << told;
  answer = {1, "/mok.pub is already enrolled\n"};
  EXPECT_EQ(why_key_will_not_do("Secure Boot is on", key, run), "");
}

}  // namespace
}  // namespace gdr::peermem
