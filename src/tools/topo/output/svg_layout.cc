#include "topo/output/svg_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "text/wrap.h"

namespace gdr::topo {
namespace {

constexpr double kMargin = 16, kRowGap = 10, kBridgeGap = 14, kPadding = 10;
constexpr double kLeastEdge = 44, kStub = 112, kLaneGap = 14;

const char* style_of(const TreeNode& node, const std::vector<Device>& devices) {
  if (node.device) {
    constexpr const char* kStyles[] = {"gpu", "nic", "device"};
    return kStyles[static_cast<std::size_t>(devices[*node.device].kind)];
  }
  if (node.kind == TreeNode::Kind::kHostBridge) return "bridge";
  return node.kind == TreeNode::Kind::kDevice ? "device" : "switch";
}

class Planner {
 public:
  Planner(const Report& report, double top) : report_(report), next_row_(top) {}

  Layout plan(const std::vector<TreeNode>& tree) {
    for (const TreeNode& bridge : tree) {
      add(bridge, std::nullopt, "", 0);
      next_row_ += kBridgeGap;
    }
    place_columns();
    add_arrows();
    layout_.height = next_row_ - kBridgeGap - kRowGap + kMargin;
    return std::move(layout_);
  }

 private:
  // The centre's row. As deep as make_tree lets a tree be.
  double add(const TreeNode& given, std::optional<std::size_t> parent, std::string port,
             std::size_t column) {
    const TreeNode* node = &given;
    while (is_port(*node) && node->children.size() == 1) {
      if (!port.empty()) port += " ─ ";
      port += port_text(*node);
      node = &node->children.front();
    }
    const std::size_t index = layout_.boxes.size();
    layout_.boxes.push_back(box_of(*node));
    layout_.boxes[index].parent = parent;
    layout_.boxes[index].port = port;
    layout_.boxes[index].column = column;
    double first = 0, last = 0;
    for (std::size_t i = 0; i < node->children.size(); ++i) {
      last = add(node->children[i], index, "", column + 1);
      if (i == 0) first = last;
    }
    if (node->children.empty()) {
      first = last = next_row_;
      next_row_ += kBoxHeight + kRowGap;
    }
    return layout_.boxes[index].y = (first + last) / 2;
  }

  static bool is_port(const TreeNode& node) {
    return node.kind == TreeNode::Kind::kRootPort || node.kind == TreeNode::Kind::kDownstreamPort;
  }
  static std::string port_text(const TreeNode& node) {
    return (node.kind == TreeNode::Kind::kRootPort ? "root port " : "port ") +
           short_address(node.address);
  }

  Box box_of(const TreeNode& node) const {
    Box box;
    box.style = style_of(node, report_.devices);
    box.link = node.link;
    box.device = node.device;
    if (node.device) {
      const Device& device = report_.devices[*node.device];
      box.title = device.label + "  " + short_address(device.address);
      box.subtitle = shown_name(device);
    } else if (node.kind == TreeNode::Kind::kHostBridge) {
      box.title = node.address;
      if (node.numa_node >= 0) box.subtitle = fmt::format("NUMA node {}", node.numa_node);
    } else if (node.kind == TreeNode::Kind::kDevice) {
      box.title = short_address(node.address);
      box.subtitle = node.name;
    } else {
      box.title = is_port(node)
                      ? port_text(node)
                      : fmt::format("{} {}", name_of(node.kind), short_address(node.address));
      box.subtitle = node.name;
    }
    return box;
  }

  // Devices all stand in the last column, so that their arrows cross nothing.
  void place_columns() {
    std::size_t last = 0;
    for (const Box& box : layout_.boxes) last = std::max(last, box.column);
    std::vector<double> widths(last + 1), edges(last + 1, kLeastEdge);
    for (Box& box : layout_.boxes) {
      if (is_leaf(box)) box.column = last;
      double& width = widths[box.column];
      width = std::max({width, text_width(box.title) + 2 * kPadding,
                        small_text_width(box.subtitle) + 2 * kPadding});
      double& edge = edges[box.column];
      edge = std::max({edge, small_text_width(box.port) + 3 * kPadding,
                       small_text_width(box.link) + 3 * kPadding});
    }
    std::vector<double> starts(last + 1);
    double x = kMargin;
    for (std::size_t i = 0; i <= last; ++i) {
      if (i > 0) x += edges[i];
      starts[i] = x;
      x += widths[i];
    }
    for (Box& box : layout_.boxes) {
      box.x = starts[box.column];
      box.width = widths[box.column];
    }
    layout_.width = x + kMargin;
  }

  static bool is_leaf(const Box& box) { return box.device || box.style == std::string("device"); }

  void add_arrows() {
    std::vector<std::vector<std::pair<double, double>>> lanes;
    std::map<std::size_t, int> arrived;  // by box
    const double right = layout_.width - kMargin;
    for (const Choice& choice : report_.choices) {
      const auto from = box_of_device(choice.gpu);
      const auto to = choice.nic ? box_of_device(*choice.nic) : std::nullopt;
      if (!from || !to) continue;
      const auto ends = std::minmax(layout_.boxes[*from].y, layout_.boxes[*to].y);
      std::size_t lane = 0;
      while (lane < lanes.size() && crosses(lanes[lane], ends)) ++lane;
      if (lane == lanes.size()) lanes.emplace_back();
      lanes[lane].emplace_back(ends.first, ends.second);
      const double x = right + kStub + static_cast<double>(lane) * kLaneGap;
      layout_.arrows.push_back(
          {*from, *to, x, arrival(arrived[*to]++),
           fmt::format("{} {}", report_.matrix.at(choice.gpu, *choice.nic).text(),
                       name_of(choice.quality)),
           choice.quality});
      layout_.width = std::max(layout_.width, x + kMargin);
    }
  }

  // In the middle, then below and above it by turns.
  static double arrival(int before) {
    constexpr double kStep = 7;
    const double most = kBoxHeight / 2 - kStep / 2;
    const int steps = (before + 1) / 2 * (before % 2 == 1 ? 1 : -1);
    return std::clamp(kStep * steps, -most, most);
  }

  static bool crosses(const std::vector<std::pair<double, double>>& lane,
                      std::pair<double, double> ends) {
    return std::any_of(lane.begin(), lane.end(), [&](const auto& other) {
      return ends.first <= other.second && other.first <= ends.second;
    });
  }

  std::optional<std::size_t> box_of_device(std::size_t device) const {
    for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
      if (layout_.boxes[i].device == device) return i;
    }
    return std::nullopt;
  }

  const Report& report_;
  double next_row_;
  Layout layout_;
};

}  // namespace

double text_width(const std::string& text) {
  return 7.3 * static_cast<double>(text::screen_width(text));
}
double small_text_width(const std::string& text) {
  return 6.7 * static_cast<double>(text::screen_width(text));
}

Layout lay_out(const Report& report, const std::vector<TreeNode>& tree, double top) {
  return Planner(report, top).plan(tree);
}

}  // namespace gdr::topo
