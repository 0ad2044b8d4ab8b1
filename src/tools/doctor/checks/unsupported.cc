#include "doctor/checks/unsupported.h"

#include <map>

namespace gdr::doctor {

std::string unsupported_text(const host::Inventory& inventory, host::UnsupportedDevice::Kind kind) {
  std::map<std::string, std::pair<unsigned, std::string>> found;  // by name: how many, the first
  for (const host::UnsupportedDevice& device : inventory.unsupported) {
    if (device.kind != kind) continue;
    auto& [count, first] = found[device.name];
    if (count++ == 0) first = device.pci.address;
  }
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, entry] : found) {
    if (++shown > kMost) return text + " and others";
    if (!text.empty()) text += "; ";
    if (entry.first > 1) text += std::to_string(entry.first) + " x ";
    text += name + " (" + entry.second + (entry.first > 1 ? ", …)" : ")");
  }
  return text;
}

}  // namespace gdr::doctor
