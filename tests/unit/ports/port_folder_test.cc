#include "ports/port_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "ports/port_file.h"
#include "scratch_folder.h"

namespace gdr::ports {
namespace {

namespace fs = std::filesystem;

class PortFolder : public testing::Test {
 protected:
  PortFolder() {
    chmod(scratch_.root().c_str(), 0700);
    setenv("XDG_RUNTIME_DIR", scratch_.root().c_str(), 1);
  }
  ~PortFolder() override { unsetenv("XDG_RUNTIME_DIR"); }
  test::ScratchFolder scratch_;
};

TEST_F(PortFolder, IsTheAccountsOwnForThisNetworkNamespace) {
  const Result<std::string> account = account_folder();
  ASSERT_TRUE(account);
  EXPECT_EQ(*account, scratch_.root());
  const std::string folder = port_folder(*account);
  struct stat host {
  }, made{};
  ASSERT_EQ(stat("/proc/self/ns/net", &host), 0);
  EXPECT_EQ(folder, scratch_.at("gdrkit/ports-" + std::to_string(host.st_ino)));
  ASSERT_EQ(stat(folder.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
  EXPECT_EQ(port_folder(*account), folder);
}

TEST_F(PortFolder, IsNotTakenFromAFolderThatOthersCanWriteTo) {
  ASSERT_EQ(chmod(scratch_.root().c_str(), 0777), 0);
  const Result<std::string> account = account_folder();
  ASSERT_TRUE(account);
  EXPECT_NE(*account, scratch_.root());
}

TEST_F(PortFolder, RemovesThoseOfNetworkNamespacesLongGone) {
  const std::string old = scratch_.make("gdrkit/ports-1"), recent = scratch_.make("gdrkit/ports-2");
  const std::string other = scratch_.make("gdrkit/net-1");
  scratch_.write("gdrkit/ports-1/soft0-0000000000000001", "");
  for (const std::string& one : {old, other}) {
    fs::last_write_time(one, fs::file_time_type::clock::now() - std::chrono::hours(24 * 30));
  }
  ASSERT_FALSE(port_folder(scratch_.root()).empty());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(recent));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(PortFolder, ListsThePortsThatHaveCounted) {
  const std::string folder = port_folder(scratch_.root());
  PortFiles files(folder);
  files.port("soft-1", 0x11).add(PortCount::kRcvPackets, 3);
  files.port("mlx5_0", 0x12);
  scratch_.write("gdrkit/" + fs::path(folder).filename().string() + "/notes", "none");
  const std::vector<NamedPort> found = read_ports(folder);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "mlx5_0");
  EXPECT_EQ(found[1].name, "soft-1");
  EXPECT_EQ(found[1].values[PortCount::kRcvPackets], 3u);
}

}  // namespace
}  // namespace gdr::ports
