#include "cli/run_render.h"

#include <gtest/gtest.h>

#include "scratch_folder.h"

namespace gdr::cli {
namespace {

struct Machine {
  test::ScratchFolder folder;
  Machine() { folder.write("render/libgdr-render.so", ""); }
  int first(const std::optional<std::string>& outer = {}) const {
    const auto nodes = find_render_nodes(folder.root(), folder.at("dri"), outer);
    return nodes ? nodes->first : -1;
  }
};

TEST(RunRender, NumbersNodesBehindThoseOfTheMachine) {
  const Machine machine;
  EXPECT_EQ(machine.first(), 128);
  machine.folder.write("dri/card0", "");
  machine.folder.write("dri/renderD", "");
  machine.folder.write("dri/renderDx", "");
  EXPECT_EQ(machine.first(), 128);
  machine.folder.write("dri/renderD130", "");
  machine.folder.write("dri/renderD128", "");
  EXPECT_EQ(machine.first(), 131);
}

TEST(RunRender, TakesTheNodesOfARunAroundItForNone) {
  const Machine machine;
  machine.folder.write("dri/renderD128", "");
  machine.folder.write("dri/renderD129", "");
  machine.folder.write("dri/renderD130", "");
  EXPECT_EQ(machine.first("129"), 129);
  EXPECT_EQ(machine.first("128"), 128);
  for (const char* wrong : {"", "x", "1", "192"}) EXPECT_EQ(machine.first(wrong), 131) << wrong;
}

TEST(RunRender, ShowsNoneWhereNoNumberIsLeftOrTheLibraryIsMissing) {
  const Machine machine;
  machine.folder.write("dri/renderD191", "");
  EXPECT_EQ(machine.first(), -1);
  EXPECT_FALSE(find_render_nodes(machine.folder.at("nowhere"), machine.folder.at("dri"), {}));
}

}  // namespace
}  // namespace gdr::cli
