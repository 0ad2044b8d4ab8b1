#include "cli/nccl_defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/environment.h"

namespace gdr::cli {
namespace {

// No such bus: nothing of it can be mistaken for a device that is there.
constexpr const char* kSwitch = "ffff:ff:00.0";
constexpr const char* kBridgeClass = "0x060400";
constexpr const char* kGpuClass = "0x030200";
constexpr const char* kNicClass = "0x020700";
// PCIe 5.0's: what a NIC beside a GPU has.
constexpr const char* kLink = R"(link_speed="32.0 GT/s PCIe" link_width="16")";

}  // namespace

std::string nccl_topology(const std::vector<std::string>& gpus,
                          const std::vector<std::string>& nics) {
  std::string text =
      "<system version=\"1\">\n"
      "<cpu numaid=\"0\">\n";  // what kind of CPU, NCCL finds out itself
  text += fmt::format("<pci busid=\"{}\" class=\"{}\" {}>\n", kSwitch, kBridgeClass, kLink);
  for (const std::string& gpu : gpus) {
    text += fmt::format("<pci busid=\"{}\" class=\"{}\" {}/>\n", gpu, kGpuClass, kLink);
  }
  for (std::size_t i = 0; i < nics.size(); ++i) {
    text += fmt::format(
        "<pci busid=\"ffff:ff:{:02x}.0\" class=\"{}\" {}><nic><net name=\"{}\" dev=\"{}\"/></nic>"
        "</pci>\n",
        i + 1, kNicClass, kLink, nics[i], i);
  }
  return text + "</pci>\n</cpu>\n</system>\n";
}

std::vector<std::string> soft_nic_names(std::string_view devices) {
  std::vector<std::string> names;
  for (const std::string_view device : split(devices.empty() ? "soft0,soft1" : devices, ',')) {
    names.emplace_back(device.substr(0, device.find('/')));
  }
  return names;
}

std::uint64_t nccl_chunk_bytes(std::uint64_t channels) {
  constexpr std::uint64_t kSteps = 16, kMostBytes = std::numeric_limits<int>::max();
  std::uint64_t bytes = 4 << 20;
  // NCCL takes the next power of two of the channels.
  while (bytes > 1 && std::bit_ceil(channels) > kMostBytes / kSteps / bytes) bytes /= 2;
  return bytes;
}

bool every_soft_nic_has_place(std::string_view devices) {
  const std::vector<std::string_view> each = split(devices, ',');
  return std::all_of(each.begin(), each.end(), [](std::string_view device) {
    return device.find("/pci=") != std::string_view::npos;
  });
}

}  // namespace gdr::cli
