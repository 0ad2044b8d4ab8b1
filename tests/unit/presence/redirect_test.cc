#include "presence/redirect.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "scratch_folder.h"

namespace gdr::presence {
namespace {

// Read once in a process, with the places that it holds.
const std::string& root_folder() {
  static const test::ScratchFolder folder;
  static const std::string name = [] {
    folder.write("places",
                 "all /sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0\n"
                 "list /sys/bus/pci/devices\n"
                 "all /sys/bus/pci/devices/0000:17:00.0\n"
                 "nonsense\nall\nlist");
    setenv("GDR_PRESENCE_ROOT", folder.root().c_str(), 1);
    return folder.root();
  }();
  return name;
}
const bool kSet = !root_folder().empty();

std::string redirected(const std::string& path) {
  const Redirection to(path.c_str());
  EXPECT_EQ(to.is_redirected(), to.get() != path.c_str());
  return to.get();
}

TEST(Redirection, LeadsToThePreparedFolder) {
  ASSERT_TRUE(kSet);
  for (const char* path :
       {"/sys/class/infiniband", "/sys/class/infiniband/", "/dev/infiniband",
        "/sys/class/infiniband/soft0/ports/1/gids/0", "/sys/class/infiniband_verbs/uverbs0/ibdev",
        "/dev/infiniband/uverbs0"}) {
    EXPECT_EQ(redirected(path), root_folder() + path);
  }
}

TEST(Redirection, LeavesEveryOtherPathAlone) {
  for (const char* path :
       {"/sys/class/infiniband_mad/umad0", "/sys/class/infinibands", "/sys/class", "/dev/null",
        "/dev", "sys/class/infiniband", "", "/", "infiniband", "/home/sys/class/infiniband"}) {
    EXPECT_EQ(redirected(path), path);
  }
  EXPECT_EQ(Redirection(nullptr).get(), nullptr);
}

TEST(Redirection, LeavesAPathAloneThatWouldBeTooLong) {
  const std::string path = "/sys/class/infiniband/" + std::string(PATH_MAX, 'x');
  EXPECT_EQ(redirected(path), path);
  const std::string almost =
      "/sys/class/infiniband/" + std::string(PATH_MAX - 22 - root_folder().size(), 'x');
  EXPECT_EQ(redirected(almost), almost);
}

TEST(Redirection, LeadsToPlacesInThePciTree) {
  for (const char* path : {"/sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0",
                           "/sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/../class",
                           "/sys/bus/pci/devices/0000:17:00.0/numa_node", "/sys/bus/pci/devices",
                           "/sys/bus/pci/devices/"}) {
    EXPECT_EQ(redirected(path), root_folder() + path);
  }
}

TEST(Redirection, LeavesTheMachinesOwnPlacesAlone) {
  for (const char* path :
       {"/sys/devices/pci0000:16/0000:16:01.0", "/sys/devices/pci0000:16/0000:16:01.0/class",
        "/sys/devices/pci0000:16/0000:16:01.0/0000:17:00.01", "/sys/bus/pci/devices/0000:16:01.0",
        "/sys/bus/pci/devicesx", "/sys/bus/pci", "/sys/", "/dev/"}) {
    EXPECT_EQ(redirected(path), path);
  }
}

TEST(Redirection, KnowsTheDeviceThatAPathNames) {
  EXPECT_EQ(Redirection("/dev/infiniband/uverbs0").minor_number(), 128);
  EXPECT_EQ(Redirection("/dev/infiniband/uverbs15").minor_number(), 143);
  EXPECT_GT(Redirection("/dev/infiniband/rdma_cm").minor_number(), 143);
  for (const char* path : {"/dev/infiniband", "/dev/infiniband/uverbs", "/dev/infiniband/uverbs1x",
                           "/dev/infiniband/uverbs1/x", "/dev/infiniband/uverbs100",
                           "/dev/infiniband/rdma_cm0", "/sys/class/infiniband_verbs/uverbs0"}) {
    EXPECT_FALSE(Redirection(path).is_device()) << path;
  }
}

// As `gdr run` says it in a mount namespace; in a process of its own, which has read nothing yet.
TEST(Redirection, LeavesEveryPathAloneWhereTheDevicesAreMounted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave_all_alone = [] {
    setenv("GDR_PRESENCE_ROOT", "/", 1);
    const char* path = "/sys/class/infiniband";
    return Redirection(path).get() == path && root().empty() && devices_are_shown();
  };
  EXPECT_EXIT(std::exit(leave_all_alone() ? 0 : 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gdr::presence
