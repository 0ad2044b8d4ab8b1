// gdr peermem build: what it asks of a machine, and what it leaves behind. What a compiler makes of
// the sources, tests/peermem shows.
#include "peermem/build.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_host.h"

namespace gdr::peermem {
namespace {

namespace fs = std::filesystem;

class Build : public testing::Test {
 protected:
  Build() {
    host_.usual();
    headers_.write("Makefile", "");
    order_.headers = headers_.root();
    for (const char* name : {"nvidia_peermem.c", "Kbuild", "Makefile"}) {
      host_.write(std::string("source/") + name, "text of a source");
    }
    host_.make("scratch");
    host_.make("out");
    order_.source = host_.at("source");
    order_.output = host_.at("out/nvidia-peermem.ko");
    workshop_.has = [this](const std::string& program) { return program != missing_; };
    workshop_.scratch = host_.at("scratch");
    workshop_.run = [this](const std::vector<std::string>& command) -> Result<fix::Ran> {
      command_ = command;
      const std::string work = command[3];
      driver_symvers_ = test::text_of_file(work + "/nvidia.symvers");
      rdma_symvers_ = test::text_of_file(work + "/rdma.symvers");
      if (!made_.empty()) std::ofstream(work + "/nvidia-peermem.ko", std::ios::binary) << made_;
      return ran_;
    };
  }
  static std::string headers() { return std::string(MadeHost::kTree) + "build"; }

  Result<Built> build(const Choices& choices = {}) {
    const Result<Survey> survey = host_.survey(choices);
    if (!survey) return survey.error();
    return peermem::build(host_.files(), *survey, order_, workshop_);
  }
  std::string error(const Choices& choices = {}) {
    const Result<Built> built = build(choices);
    EXPECT_FALSE(built);
    EXPECT_TRUE(fs::is_empty(host_.at("scratch")));
    EXPECT_FALSE(fs::exists(order_.output));
    return built ? "" : built.error().message;
  }
  void expect_error(const std::string& part, const Choices& choices = {}) {
    const std::string message = error(choices);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }

  MadeHost host_;
  test::ScratchFolder headers_;  // of this machine; those below the made host's root are not run
  BuildOrder order_;
  Workshop workshop_;
  std::string made_ = MadeHost::client().bytes(), missing_;
  fix::Ran ran_;
  std::vector<std::string> command_;
  std::string driver_symvers_, rdma_symvers_;
};

TEST_F(Build, GivesMakeTheVersionsOfTheModulesOwnFiles) {
  const Result<Built> built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(driver_symvers_, "0x219924d1\tnvidia_p2p_get_pages\tnvidia\tEXPORT_SYMBOL_GPL\t\n");
  EXPECT_EQ(rdma_symvers_,
            "0x0badcafe\tib_register_peer_memory_client\tib_core\tEXPORT_SYMBOL\t\n");
  EXPECT_EQ(test::text_of_file(order_.output), made_);
  EXPECT_TRUE(fs::is_empty(host_.at("scratch")));
  EXPECT_EQ(command_[4], "KDIR=" + headers_.root());
}

TEST_F(Build, PutsNothingInPlaceThatTheKernelWouldRefuse) {
  made_ = MadeHost::client(0x99).bytes();
  expect_error("the kernel would refuse what was built: disagrees about version of symbol");
}

TEST_F(Build, KeepsAllThatTheCompilerSaidAndTellsItsFirstError) {
  made_.clear();
  ran_ = {2, "make[1]: Entering\nnvidia_peermem.c:1:1: error: expected ';'\nmore\n"};
  expect_error("nvidia_peermem.c:1:1: error: expected ';'");
  EXPECT_EQ(test::text_of_file(order_.output + ".log"), ran_.output);
}

TEST_F(Build, WithoutCompilerOrMakeSaysWhatToInstall) {
  missing_ = "gcc";
  expect_error("gcc is not installed; install it (Debian, Ubuntu: apt install gcc");
  missing_ = "make";
  expect_error("make is not installed; install it");
}

TEST_F(Build, WantsTheCompilerThatDebiansHeadersName) {
  headers_.write(".kernelvariables",
                 "CCACHE = ccache\nCC = $(if $(X),$(CCACHE)) $(CROSS_COMPILE)gcc-12\n");
  missing_ = "gcc-12";
  expect_error("gcc-12 is not installed");
}

TEST_F(Build, RunsNothingBelowACapturedRoot) {
  host_.write(headers() + "/Makefile", "");
  order_.headers.clear();
  expect_error("--root is only read, and a build runs the Makefile of the headers; name");
  order_.headers = host_.at(headers());
  expect_error("is below --root, which is only read");
  headers_.link("link", order_.headers);
  order_.headers = headers_.at("link");
  expect_error("is below --root, which is only read");
  fs::remove(headers_.at("Makefile"));
  fs::create_symlink(host_.at(headers() + "/Makefile"), headers_.at("Makefile"));
  order_.headers = headers_.root();
  expect_error("is below --root, which is only read");
  EXPECT_TRUE(command_.empty());
}

TEST_F(Build, AsRootRunsNoHeadersThatAnotherAccountCouldChange) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kOther = 54440;
  headers_.write("scripts/Kbuild.include", "");
  ASSERT_EQ(chown(headers_.at("scripts/Kbuild.include").c_str(), kOther, 0), 0);
  expect_error("Kbuild.include belongs to account 54440; build as another account");
  ASSERT_EQ(chown(headers_.at("scripts/Kbuild.include").c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(headers_.root().c_str(), 01777), 0);
  expect_error(" are not run as root: " + headers_.root() + " can be written by everybody");
  EXPECT_TRUE(command_.empty());
}

TEST_F(Build, CompilesInNoFolderThatAnotherAccountCouldReplace) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(chmod(host_.root().c_str(), 0777), 0);
  expect_error("scratch is not safe for a folder: " + host_.root() +
               " can be written by everybody");
  EXPECT_TRUE(command_.empty());
}

TEST_F(Build, RefusesWhereTheRdmaStackHasNoInterface) {
  host_.module("updates/dkms/ib_core.ko", MadeHost::ib_core(false));
  expect_error("no peer-memory module can help; use dma-buf");
}

TEST_F(Build, RefusesADriverOfAnotherKernel) {
  test::ModuleMaker other("nvidia", "6.5.0-1-amd64");
  other.machine = MadeHost::machine();
  other.export_symbol("nvidia_p2p_get_pages", 1);
  Choices choices;
  choices.driver_module = host_.write("elsewhere/nvidia.ko", other.bytes());
  expect_error("was built for kernel 6.5.0-1-amd64, not 6.1.0-56-amd64; give --kernel", choices);
}

TEST_F(Build, RefusesADriverOfAnotherArchitecture) {
  test::ModuleMaker other = MadeHost::driver();
  other.machine = MadeHost::machine() == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
  Choices choices;
  choices.driver_module = host_.write("elsewhere/nvidia.ko", other.bytes());
  expect_error("give the nvidia.ko of this machine", choices);
}

TEST_F(Build, RefusesADriverWithoutSymbolVersionsWhereTheKernelHasThem) {
  host_.write(headers() + "/Makefile", "");
  host_.write(headers() + "/Module.symvers", "0x92997ed8\tprintk\tvmlinux\tEXPORT_SYMBOL\t\n");
  test::ModuleMaker other("nvidia", MadeHost::kKernel);
  other.machine = MadeHost::machine();
  other.export_symbol("nvidia_p2p_get_pages", std::nullopt);
  Choices choices;
  choices.driver_module = host_.write("elsewhere/nvidia.ko", other.bytes());
  expect_error("has no symbol versions", choices);
}

TEST_F(Build, RefusesASourceTreeOfAnotherDriver) {
  host_.write("src/nvidia/nv-p2p.h", "#define NVIDIA_P2P_PAGE_TABLE_VERSION 0x00010002\n");
  host_.write("src/version.mk", "NVIDIA_VERSION = 535.261.03\n");
  order_.driver_source = host_.at("src");
  expect_error("is the source of driver 535.261.03, but ");
}

TEST_F(Build, SaysThatItsOutputCannotBeWrittenBeforeItBuilds) {
  order_.output = host_.at("nowhere/nvidia-peermem.ko");
  expect_error("give --output a file that you may write");
  EXPECT_TRUE(command_.empty());
}

}  // namespace
}  // namespace gdr::peermem
