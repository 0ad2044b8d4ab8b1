#include "host/root.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <thread>

#include "host/files.h"
#include "machine.h"

namespace gdr::host {
namespace {

namespace fs = std::filesystem;
using gdr::test::Machine;

constexpr const char* kSentinel = "what is outside";

// For the calling thread alone, and for good.
bool refuse_openat2(int error) {
  std::array<sock_filter, 4> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The parameter: the error with which openat2() is refused; 0: the kernel resolves.
class RootTest : public testing::TestWithParam<int> {
 protected:
  RootTest() {
    outside_.write("secret/file", std::string(kSentinel) + "\n");
    fs::create_directories(inside());
  }
  std::string inside() const { return outside_.root() + "/inside"; }
  void write(const std::string& path, const std::string& text) {
    outside_.write("inside/" + path, text);
  }
  void link(const std::string& path, const std::string& target) {
    fs::create_directories(fs::path(inside() + "/" + path).parent_path());
    fs::create_symlink(target, inside() + "/" + path);
  }
  void in_root(const std::function<void(const Files&)>& look) {
    std::thread thread([&] {
      if (GetParam() != 0 && !refuse_openat2(GetParam())) {
        skipped_ = true;
        return;
      }
      look(Files(inside()));
    });
    thread.join();
    if (skipped_) GTEST_SKIP() << "no seccomp filter is permitted here";
  }

  Machine outside_;
  bool skipped_ = false;
};

INSTANTIATE_TEST_SUITE_P(Resolved, RootTest, testing::Values(0, ENOSYS, EPERM),
                         [](const auto& refused) {
                           return refused.param == 0        ? "ByTheKernel"
                                  : refused.param == ENOSYS ? "WithoutOpenat2"
                                                            : "WhereOpenat2IsRefused";
                         });

TEST_P(RootTest, NoLinkLeadsToAFileOutside) {
  link("absolute", outside_.root() + "/secret/file");
  link("above", "../secret/file");
  link("far/above", "../../../../../../../../.." + outside_.root() + "/secret/file");
  link("chain", "hop");
  link("hop", outside_.root() + "/secret");
  link("top", "/");
  link("process", "/proc/self/root" + outside_.root() + "/secret/file");
  in_root([&](const Files& files) {
    for (const std::string path :
         {"absolute", "above", "far/above", "chain/file", "hop/file", "../secret/file",
          "/../../secret/file", "process", "far/../../secret/file"}) {
      EXPECT_EQ(files.text(path), "") << path;
      EXPECT_TRUE(files.lines_with(path, "").empty()) << path;
      EXPECT_EQ(files.part(path, 5, 4), "") << path;
      EXPECT_FALSE(files.exists(path)) << path;
      EXPECT_TRUE(files.real_path(path).empty()) << path;
      EXPECT_FALSE(files.folder().open(path, O_RDONLY)) << path;
      unsigned lines = 0;
      files.each_line(path, [&](const std::string&) { return ++lines != 0; });
      EXPECT_EQ(lines, 0u) << path;
    }
    for (const std::string path : {"chain", "hop", "../secret", "top/../secret"}) {
      EXPECT_TRUE(files.entries(path).empty()) << path;
    }
    EXPECT_EQ(files.entries("top"), files.entries(""));
    EXPECT_EQ(files.entries(".."), files.entries(""));
  });
}

TEST_P(RootTest, LinksInsideAreFollowedAsAfterChroot) {
  write("sys/devices/a/mtu", "9000\n");
  link("sys/class/a", "../devices/a");
  link("sys/class/b", "/sys/devices/a");
  link("sys/class/over", "../../../../../../sys/devices/a");
  link("sys/devices/a/subsystem", "../../class");
  in_root([&](const Files& files) {
    const std::vector<std::string> real = {"sys", "devices", "a"};
    for (const std::string path : {"sys/class/a", "sys/class/b", "sys/class/over",
                                   "sys/class/a/subsystem/b", "/sys//class/./a/../a"}) {
      EXPECT_EQ(files.line(path + "/mtu"), "9000") << path;
      EXPECT_EQ(files.real_path(path), real) << path;
      EXPECT_EQ(files.entries(path), (std::vector<std::string>{"mtu", "subsystem"})) << path;
    }
    EXPECT_EQ(files.link_name("sys/class/a"), "a");
    EXPECT_EQ(files.link_target("sys/class/b"), "/sys/devices/a");
    EXPECT_EQ(files.kind("sys/class/b"), FileKind::kLink);
    EXPECT_EQ(files.kind("sys/class/b/mtu"), FileKind::kRegular);
    EXPECT_EQ(files.kind("sys/class/b/"), FileKind::kFolder);
    EXPECT_EQ(files.kind("sys/class/c"), FileKind::kAbsent);
  });
}

TEST_P(RootTest, CirclesAndDepthHaveAnEnd) {
  link("circle", "circle");
  link("one", "other/x");
  link("other", "one/x");
  std::string deep;
  for (int i = 0; i < 150; ++i) deep += "d/";
  write(deep + "file", "deep\n");
  for (int i = 0; i < 60; ++i) link("hop" + std::to_string(i), "hop" + std::to_string(i + 1));
  write("hop60", "far\n");
  in_root([&](const Files& files) {
    EXPECT_FALSE(files.exists("circle"));
    EXPECT_EQ(files.text("one"), "");
    EXPECT_EQ(files.line(deep + "file"), "deep");
    EXPECT_EQ(files.line("hop0"), "") << "60 links";
    EXPECT_EQ(files.line("hop30"), "far") << "30 links";
  });
}

TEST_P(RootTest, NothingButARegularFileIsOpenedForReading) {
  ASSERT_EQ(mkfifo((inside() + "/pipe").c_str(), 0600), 0);
  link("to_pipe", "pipe");
  const bool device = mknod((inside() + "/device").c_str(), S_IFCHR | 0600, 0x0105) == 0;
  fs::create_directories(inside() + "/folder");
  in_root([&](const Files& files) {
    for (const std::string path : {"pipe", "to_pipe", "folder", "device"}) {
      EXPECT_EQ(files.text(path), "") << path;
      EXPECT_TRUE(files.lines_with(path, "").empty()) << path;
    }
    EXPECT_TRUE(files.exists("pipe"));
    EXPECT_EQ(files.kind("pipe"), FileKind::kOther);
    EXPECT_EQ(files.exists("device"), device);
  });
}

TEST(Root, ThisMachineIsReadAsItIs) {
  const Files files("/");
  EXPECT_EQ(files.real_path("proc/self"),
            (std::vector<std::string>{"proc", std::to_string(getpid())}));
  EXPECT_NE(files.text("proc/self/status").find("Pid:"), std::string::npos);
  EXPECT_EQ(files.link_name("proc/self/ns/net").rfind("net:[", 0), 0u);
  EXPECT_EQ(files.text("proc/self/cwd/../../../../../../../../proc/self/comm"),
            files.text("proc/self/comm"));
}

TEST(Root, AFolderThatIsNotThereIsEmpty) {
  for (const char* root : {"/nowhere/at/all", "/dev/null", ""}) {
    const Files files(root);
    EXPECT_EQ(files.text("etc/passwd"), "") << root;
    EXPECT_EQ(files.text("/etc/passwd"), "") << root;
    EXPECT_FALSE(files.exists("")) << root;
    EXPECT_TRUE(files.entries("").empty()) << root;
    EXPECT_TRUE(files.real_path("etc").empty()) << root;
  }
}

}  // namespace
}  // namespace gdr::host
