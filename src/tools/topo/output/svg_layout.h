// The layout of the drawing: host bridges at the left, devices in a column at the right with a row
// each, and further right a lane for each GPU's path to its NIC.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topo/report.h"
#include "topo/tree.h"

namespace gdr::topo {

struct Box {
  const char* style = "";  // "gpu", "nic", "device", "switch", "bridge"
  std::string title, subtitle;
  double x = 0, y = 0, width = 0;
  std::optional<std::size_t> parent;  // in the list of boxes
  std::string port, link;             // on the edge to it
  std::optional<std::size_t> device;  // in the report's list
  std::size_t column = 0;
};

// From a GPU's box to its NIC's.
struct Arrow {
  std::size_t from = 0, to = 0;  // boxes
  double lane = 0;               // where it runs up or down
  double arrival = 0;            // beside the middle of the NIC's box, when several arrive there
  std::string label;
  Quality quality = Quality::kUnknown;
};

struct Layout {
  std::vector<Box> boxes;  // parents before their children
  std::vector<Arrow> arrows;
  double width = 0, height = 0;
};

constexpr double kBoxHeight = 38;

// `top`: what is to be left free above.
Layout lay_out(const Report& report, const std::vector<TreeNode>& tree, double top);

// Width of text at the drawing's two sizes, in its fixed-width font.
double text_width(const std::string& text);
double small_text_width(const std::string& text);

}  // namespace gdr::topo
