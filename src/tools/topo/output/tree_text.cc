#include "topo/output/tree_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/format.h"
#include "text/wrap.h"
#include "topo/tree.h"

namespace gdr::topo {
namespace {

constexpr std::size_t kContinued = 2;

class Drawing {
 public:
  Drawing(const Report& report, std::size_t columns) : report_(report), columns_(columns) {}

  std::string draw(const std::vector<TreeNode>& bridges) {
    for (const TreeNode& bridge : bridges) {
      text_ += bridge.address;
      if (bridge.numa_node >= 0) text_ += fmt::format("  NUMA node {}", bridge.numa_node);
      text_ += "\n";
      draw_children(bridge, "");
    }
    return std::move(text_);
  }

 private:
  // Recurses once per bridge on a path; make_tree accepts no more bridges than PCI has buses.
  void draw_children(const TreeNode& node, const std::string& prefix) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const TreeNode* child = &node.children[i];
      std::string line;
      while (is_port(*child) && child->children.size() == 1) {
        line += port_text(*child) + " ─ ";
        child = &child->children.front();
      }
      const std::string below = prefix + (last ? "   " : "│  ");
      add(line + text_of(*child), prefix + (last ? "└─ " : "├─ "),
          below + (child->children.empty() ? "  " : "│ "));
      draw_children(*child, below);
    }
  }

  // What a line cannot hold goes on below it, between the branches.
  void add(const std::string& line, const std::string& prefix, const std::string& below) {
    const std::size_t used = text::screen_width(prefix);
    const std::string wrapped =
        columns_ > used ? text::wrap(line, columns_ - used, kContinued) : line;
    const std::size_t end = wrapped.find('\n');
    text_ += prefix + wrapped.substr(0, end) + "\n";
    for (std::size_t at = end; at != std::string::npos;) {
      const std::size_t next = wrapped.find('\n', at + 1);
      const std::string rest =
          wrapped.substr(at + 1, next == std::string::npos ? next : next - at - 1);
      text_ += below + rest.substr(std::min(rest.size(), kContinued)) + "\n";
      at = next;
    }
  }

  static bool is_port(const TreeNode& node) {
    return node.kind == TreeNode::Kind::kRootPort || node.kind == TreeNode::Kind::kDownstreamPort;
  }

  static std::string port_text(const TreeNode& node) {
    const std::string address = short_address(node.address);
    return node.kind == TreeNode::Kind::kRootPort ? "root port " + address : address;
  }

  std::string text_of(const TreeNode& node) const {
    const std::string address = short_address(node.address);
    if (node.device) return device_text(report_.devices[*node.device], node);
    switch (node.kind) {
      case TreeNode::Kind::kRootPort:
        return port_text(node);
      case TreeNode::Kind::kDownstreamPort:
        return "port " + address;
      case TreeNode::Kind::kSwitch:
      case TreeNode::Kind::kBridge:
        return text::join(
            {fmt::format("{} {}", name_of(node.kind), address), printable(node.name), node.link});
      default:
        return text::join({address, printable(node.name), node.link});
    }
  }

  std::string device_text(const Device& device, const TreeNode& node) const {
    std::string text = text::join({device.label + " " + short_address(device.address),
                                   printable(shown_name(device)), node.link});
    for (const Choice& choice : report_.choices) {
      if (choice.gpu != *node.device || !choice.nic) continue;
      text += fmt::format("  → {}", report_.devices[*choice.nic].label);
    }
    return text;
  }

  const Report& report_;
  std::size_t columns_;
  std::string text_;
};

}  // namespace

std::string tree_text(const Report& report, bool all, std::size_t columns) {
  return Drawing(report, columns).draw(make_tree(report.inventory.pci, report.devices, all));
}

}  // namespace gdr::topo
