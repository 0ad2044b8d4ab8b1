#include <gtest/gtest.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "cli/perf_values.h"

namespace gdr::cli {
namespace {

class NumaNodes : public testing::Test {
 protected:
  NumaNodes() {
    char name[] = "/tmp/gdr-numa-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~NumaNodes() override { std::filesystem::remove_all(root_); }

  void add(int node, const std::string& processors) {
    const std::filesystem::path folder =
        root_ + "/sys/devices/system/node/node" + std::to_string(node);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "cpulist") << processors << '\n';
  }

  std::string root_;
};

TEST_F(NumaNodes, HaveTheProcessorsThatTheKernelLists) {
  add(0, "0-1,4-5");
  add(1, "2-3,6-7");
  EXPECT_EQ(processors_of_node(root_, 1), (std::vector<int>{2, 3, 6, 7}));
}

TEST_F(NumaNodes, RefusesNodesWithoutProcessorsAndUnknownNodes) {
  add(0, "");  // of memory alone
  EXPECT_THROW(processors_of_node(root_, 0), CLI::ValidationError);
  EXPECT_THROW(processors_of_node(root_, 1), CLI::ValidationError);
}

}  // namespace
}  // namespace gdr::cli
