#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/perf_values.h"
#include "scratch_folder.h"

namespace gdr::cli {
namespace {

class NumaNodes : public testing::Test {
 protected:
  void add(int node, const std::string& processors) {
    scratch_.write("sys/devices/system/node/node" + std::to_string(node) + "/cpulist",
                   processors + "\n");
  }

  test::ScratchFolder scratch_;
  std::string root_ = scratch_.root();
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
