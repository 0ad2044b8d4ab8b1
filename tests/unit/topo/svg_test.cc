#include "topo/output/svg.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"
#include "topo/output/svg_layout.h"

namespace gdr::topo {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Svg, HasTextForDevicesLinksAndBestPairs) {
  const std::string svg = to_svg(test::two_node_machine().report(), false);
  for (const char* part : {">GPU0  03:00.0<", ">mlx5_1<", ">32 GT/s x16<", ">port 02:00.0<",
                           ">PIX good<", ">SYS bad<", ">NUMA node 1<"}) {
    EXPECT_TRUE(has(svg, part)) << part;
  }
  EXPECT_FALSE(has(svg, "<script"));
  EXPECT_FALSE(has(svg, "href"));
}

TEST(Svg, EscapesWhatAMachineSaysOfItself) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.gpus[0].model = "<script>&\x01\xef\xbf\xbf";
  const std::string svg = to_svg(machine.report(), false);
  EXPECT_TRUE(has(svg, ">&lt;script&gt;&amp; ?<"));
}

TEST(Svg, TellsThatAFlatVirtualMachineIsUnreliable) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.flat = true;
  const std::string svg = to_svg(machine.report(), false);
  EXPECT_TRUE(has(svg, "class=\"warning\""));
  EXPECT_TRUE(has(svg, ">SYS unknown<"));
}

TEST(SvgLayout, GivesEachBoxRoomAndEachCrossingArrowALane) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.nics.resize(1);  // which both GPUs share
  const Report report = machine.report();
  const Layout layout = lay_out(report, make_tree(report.inventory.pci, report.devices, true), 0);
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    const Box& a = layout.boxes[i];
    EXPECT_GE(a.width, text_width(a.title));
    EXPECT_LE(a.x + a.width, layout.width);
    EXPECT_LE(a.y + kBoxHeight, layout.height);
    for (std::size_t j = i + 1; j < layout.boxes.size(); ++j) {
      const Box& b = layout.boxes[j];
      const bool apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + kBoxHeight <= b.y ||
                         b.y + kBoxHeight <= a.y;
      EXPECT_TRUE(apart) << a.title << " and " << b.title;
    }
  }
  ASSERT_EQ(layout.arrows.size(), 2u);
  EXPECT_NE(layout.arrows[0].lane, layout.arrows[1].lane);
}

}  // namespace
}  // namespace gdr::topo
