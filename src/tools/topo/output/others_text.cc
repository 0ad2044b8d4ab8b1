#include "topo/output/others_text.h"

#include <algorithm>

#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"

namespace gdr::topo {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Kind = host::UnsupportedDevice::Kind;
constexpr std::size_t kIndent = 2, kContinued = 8;

std::string section(const char* heading, const Rows& rows, std::size_t columns) {
  if (rows.size() < 2) return {};  // the heads of columns alone
  return text::wrap_lines(heading + ("\n" + text::table(rows, kIndent)), columns, kContinued);
}

Rows management(const Report& report) {
  Rows rows = {{"", "name", "PCI address", "why"}};
  for (const Device& device : report.devices) {
    if (device.kind != Device::Kind::kNic) continue;
    const std::string& sign = report.inventory.nics[device.index].management;
    if (sign.empty()) continue;
    rows.push_back({device.label, printable(device.name), device.address, sign});
  }
  return rows;
}

Rows unsupported(const Report& report) {
  Rows rows = {{"", "PCI address", "name", "driver"}};
  for (const host::UnsupportedDevice& device : report.inventory.unsupported) {
    rows.push_back({device.kind == Kind::kGpu ? "GPU" : "NIC", device.pci.address,
                    printable(device.name), device.pci.driver});
  }
  return rows;
}

std::size_t count(const Report& report, Kind kind) {
  return static_cast<std::size_t>(
      std::ranges::count(report.inventory.unsupported, kind, &host::UnsupportedDevice::kind));
}

}  // namespace

std::string others_text(const Report& report, std::size_t columns) {
  const std::string first = section("Management NICs, not for data", management(report), columns);
  const std::string second = section("Unsupported devices", unsupported(report), columns);
  return first + (first.empty() || second.empty() ? "" : "\n") + second;
}

std::string others_count(const Report& report) {
  std::string text;
  if (const std::size_t managing = management(report).size() - 1; managing > 0) {
    text = "(" + text::plural(managing, "NIC") + " for management)";
  }
  const std::size_t gpus = count(report, Kind::kGpu), nics = count(report, Kind::kNic);
  if (gpus + nics == 0) return text;
  std::string others;
  if (gpus > 0) others = text::plural(gpus, "GPU");
  if (nics > 0) others += (others.empty() ? "" : " and ") + text::plural(nics, "NIC");
  return text::join({text, others + " unsupported"});
}

}  // namespace gdr::topo
