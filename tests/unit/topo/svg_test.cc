#include "topo/output/svg.h"

#include <gtest/gtest.h>

#include "made_up_machine.h"
#include "report_text.h"
#include "topo/output/svg_layout.h"

namespace gdr::topo {
namespace {

TEST(Svg, HasTextForDevicesLinksAndBestPairs) {
  const std::string svg = to_svg(test::two_node_machine().report(), false);
  for (const char* part : {">GPU0  03:00.0<", ">mlx5_1<", ">32 GT/s x16<", ">port 02:00.0<",
                           ">PIX good<", ">SYS bad<", ">NUMA node 1<"}) {
    EXPECT_TRUE(has(svg, part)) << part;
  }
  EXPECT_FALSE(has(svg, "<script"));
  EXPECT_FALSE(has(svg, "href"));
}

// The attributes of each element of these kinds.
std::vector<std::string> elements(const std::string& svg) {
  std::vector<std::string> found;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::string element = svg.substr(at, svg.find('>', at) - at);
    for (const char* kind : {"<rect ", "<path ", "<text "}) {
      if (element.starts_with(kind)) found.push_back(element);
    }
  }
  return found;
}

// What knows neither variables nor media queries paints an element without a colour of its own
// black: librsvg, Inkscape, viewers of mail.
TEST(Svg, GivesEachElementItsColoursAsAttributes) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.flat = true;  // a warning, too
  for (const std::string& svg :
       {to_svg(machine.report(), true), to_svg(test::two_node_machine().report(), false)}) {
    ASSERT_GT(elements(svg).size(), 20u);
    for (const std::string& element : elements(svg)) {
      const bool line = element.starts_with("<path") && has(element, "fill=\"none\"");
      EXPECT_TRUE(has(element, "fill=\"#") || line) << element;
      EXPECT_TRUE(!line || has(element, "stroke=\"#")) << element;
    }
    EXPECT_FALSE(has(svg, "var("));
    EXPECT_TRUE(has(svg, "font-family=\""));
  }
}

// In a page of somebody else's the rules must touch the drawing alone.
TEST(Svg, HasRulesForTheDarkSchemeAndForItselfAlone) {
  const std::string svg = to_svg(test::two_node_machine().report(), false);
  const std::string style =
      svg.substr(svg.find("<style>"), svg.find("</style>") - svg.find("<style>"));
  EXPECT_TRUE(has(style, "@media (prefers-color-scheme: dark)"));
  std::size_t rules = 0;
  for (std::size_t at = style.find("  ."); at != std::string::npos;
       at = style.find("  .", at + 1)) {
    EXPECT_EQ(style.compare(at, 13, "  .gdr-topo ."), 0) << style.substr(at, 30);
    ++rules;
  }
  EXPECT_GT(rules, 10u);
  EXPECT_TRUE(has(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gdr-topo\""));
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
