#include "presence/counter_refresh.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "ports/port_file.h"
#include "scratch_folder.h"

namespace gdr::presence {
namespace {

constexpr const char* kPort = "sys/class/infiniband/soft0/ports/1/";

class CounterRefresh : public testing::Test {
 protected:
  CounterRefresh() {
    tree_.write("sys/class/infiniband/soft0/node_guid", "0067:64ff:fe72:0000\n");
    for (const char* file : {"counters/port_xmit_packets", "state"}) {
      tree_.write(std::string(kPort) + file, "0\n");
    }
    files_.port("soft0", 0x0067'64ff'fe72'0000).add(ports::PortCount::kXmitPackets, 42);
  }
  std::string refreshed(const std::string& file) {
    const std::string path = tree_.at(kPort + file);
    refresh_counter(path.c_str(), ports_.root().c_str());
    return test::text_of_file(path);
  }

  test::ScratchFolder tree_, ports_;
  ports::PortFiles files_{ports_.root()};
};

TEST_F(CounterRefresh, PutsIntoACountersFileWhatThePortHasCounted) {
  EXPECT_EQ(refreshed("counters/port_xmit_packets"), "42\n");
  files_.port("soft0", 0x0067'64ff'fe72'0000).add(ports::PortCount::kXmitPackets);
  EXPECT_EQ(refreshed("counters/port_xmit_packets"), "43\n");
}

TEST_F(CounterRefresh, LeavesEveryOtherFileAlone) {
  EXPECT_EQ(refreshed("state"), "0\n");
  EXPECT_EQ(refreshed("counters/symbol_error"), "");  // not shown
  EXPECT_EQ(refreshed("counters/none"), "");
  EXPECT_EQ(refreshed("counters/deeper/port_xmit_packets"), "");
  refresh_counter("/ports/1/counters/port_xmit_packets", ports_.root().c_str());
  refresh_counter("", ports_.root().c_str());
}

TEST_F(CounterRefresh, LeavesAFileAsItIsWhereThePortHasNotCounted) {
  tree_.write("sys/class/infiniband/soft0/node_guid", "not a guid\n");
  EXPECT_EQ(refreshed("counters/port_xmit_packets"), "0\n");
  tree_.write("sys/class/infiniband/soft0/node_guid", "0067:64ff:fe72:0001\n");
  EXPECT_EQ(refreshed("counters/port_xmit_packets"), "0\n");
}

TEST_F(CounterRefresh, FindsAFileFromAnOpenFolderOn) {
  const UniqueFd port(open(tree_.at(kPort).c_str(), O_PATH | O_DIRECTORY));
  const std::string file = tree_.at(std::string(kPort) + "counters/port_xmit_packets");
  refresh_relative(port.get(), "counters/port_xmit_packets", tree_.root(), ports_.root().c_str());
  EXPECT_EQ(test::text_of_file(file), "42\n");
  files_.port("soft0", 0x0067'64ff'fe72'0000).add(ports::PortCount::kXmitPackets);
  // Not below this root.
  refresh_relative(port.get(), "counters/port_xmit_packets", ports_.root(), ports_.root().c_str());
  refresh_relative(-1, "counters/port_xmit_packets", tree_.root(), ports_.root().c_str());
  refresh_relative(port.get(), "state", tree_.root(), ports_.root().c_str());
  EXPECT_EQ(test::text_of_file(file), "42\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(tree_.at(std::string(kPort) + "counters"));
  refresh_relative(AT_FDCWD, "port_xmit_packets", tree_.root(), ports_.root().c_str());
  std::filesystem::current_path(before);
  EXPECT_EQ(test::text_of_file(file), "43\n");
}

}  // namespace
}  // namespace gdr::presence
