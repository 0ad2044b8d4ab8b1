#include "topo/output/matrix_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/format.h"
#include "text/wrap.h"

namespace gdr::topo {
namespace {

constexpr std::size_t kTab = 8;     // nvidia-smi's columns
constexpr std::size_t kNarrow = 6;  // where they do not fit
constexpr std::size_t kGap = 4;     // in front of what is no cell
constexpr std::size_t kLegendIndent = 9;

constexpr const char* kLegend =
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., "
    "QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges "
    "within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
    "Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";

struct Column {
  std::string heading;
  std::size_t width = 0;
  std::vector<std::string> cells;
};

std::vector<Column> cell_columns(const Report& report, std::size_t width) {
  std::vector<Column> columns;
  for (std::size_t j = 0; j < report.devices.size(); ++j) {
    Column column{report.devices[j].label, width, {}};
    for (std::size_t i = 0; i < report.devices.size(); ++i) {
      const Cell& cell = report.matrix.at(i, j);
      column.cells.push_back(cell.self ? " X" : cell.text());
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

// Only GPUs have them in nvidia-smi's matrix, so nobody looks for more.
std::vector<Column> affinity_columns(const Report& report) {
  if (count_of(report, Device::Kind::kGpu) == 0) return {};
  std::vector<Column> columns = {
      {"CPU Affinity", 0, {}}, {"NUMA Affinity", 0, {}}, {"GPU NUMA ID", 0, {}}};
  for (const Device& device : report.devices) {
    const bool is_gpu = device.kind == Device::Kind::kGpu;
    const Affinity affinity = is_gpu ? affinity_of(report.inventory, device) : Affinity{};
    columns[0].cells.push_back(printable(affinity.processors));
    columns[1].cells.push_back(affinity.node);
    // The NUMA node that a GPU's own memory is: of coherent ones alone, and no source shows it.
    columns[2].cells.push_back(is_gpu ? "N/A" : "");
  }
  for (Column& column : columns) {
    column.width = column.heading.size();
    for (const std::string& cell : column.cells) {
      column.width = std::max(column.width, text::screen_width(cell));
    }
    column.width += kGap;
  }
  return columns;
}

std::string block(const Report& report, std::size_t label_width,
                  const std::vector<Column>& columns) {
  // A NIC in a block that only shows the affinity has no cells.
  const auto line = [&](const std::string& label, const auto& cell_of) {
    std::string cells;
    for (const Column& column : columns) cells += text::pad(cell_of(column), column.width);
    cells.erase(cells.find_last_not_of(' ') + 1);
    return cells.empty() ? cells : text::pad(label, label_width) + cells + "\n";
  };
  std::string text = line("", [](const Column& column) { return column.heading; });
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    text += line(report.devices[i].label, [&](const Column& column) { return column.cells[i]; });
  }
  return text;
}

// No gap after the last one.
std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t width = 0, last = 0;
  for (const Column& column : columns) {
    last = column.heading.size();
    for (const std::string& cell : column.cells) last = std::max(last, text::screen_width(cell));
    width += column.width;
  }
  return columns.empty() ? 0 : width - columns.back().width + last;
}

// Columns that stay together: a device's, and those of the affinity.
using Group = std::vector<Column>;

std::string blocks(const Report& report, const std::vector<Group>& groups, std::size_t columns) {
  std::string text;
  std::vector<Column> now;
  for (const Group& group : groups) {
    std::vector<Column> more = now;
    more.insert(more.end(), group.begin(), group.end());
    if (!now.empty() && kNarrow + width_of(more) > columns) {
      text += block(report, kNarrow, now) + "\n";
      more = group;
    }
    now = std::move(more);
  }
  return text + block(report, kNarrow, now);
}

std::string cells_text(const Report& report, std::size_t columns) {
  std::vector<Column> all = cell_columns(report, kTab);
  const Group affinity = affinity_columns(report);
  all.insert(all.end(), affinity.begin(), affinity.end());
  if (columns == 0 || kTab + width_of(all) <= columns) return block(report, kTab, all);
  std::vector<Group> groups;
  for (Column& column : cell_columns(report, kNarrow)) groups.push_back({std::move(column)});
  if (!affinity.empty()) groups.push_back(affinity);
  return blocks(report, groups, columns);
}

std::string device_legend(const Report& report, Device::Kind kind, const char* heading) {
  std::string text;
  for (const Device& device : report.devices) {
    if (device.kind != kind) continue;
    if (text.empty()) text = fmt::format("\n{} Legend:\n\n", heading);
    text += fmt::format("  {}: {}", device.label, printable(device.name));
    if (kind == Device::Kind::kOther) text += "  " + device.address;
    text += "\n";
  }
  return text;
}

}  // namespace

std::string matrix_text(const Report& report, std::size_t columns) {
  std::string text =
      cells_text(report, columns) + "\n" + text::wrap_lines(kLegend, columns, kLegendIndent);
  text += device_legend(report, Device::Kind::kNic, "NIC");
  text += device_legend(report, Device::Kind::kOther, "Device");
  return text;
}

}  // namespace gdr::topo
