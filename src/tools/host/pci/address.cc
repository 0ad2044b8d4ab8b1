#include "host/pci/address.h"

#include <ctype.h>

#include <algorithm>

namespace gdr::host {
namespace {

bool all_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return isxdigit(c) != 0; });
}

}  // namespace

bool is_pci_address(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8) return false;
  const std::string_view rest = name.substr(colon + 1);
  return rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && all_hex(name.substr(0, colon)) &&
         all_hex(rest.substr(0, 2)) && all_hex(rest.substr(3, 2)) && rest[6] >= '0' &&
         rest[6] <= '7';
}

bool is_host_bridge(std::string_view name) {
  return name.substr(0, 3) == "pci" && name.size() >= 10 && name[name.size() - 3] == ':';
}

std::string full_address(std::string_view text) {
  std::string address(text);
  if (std::count(address.begin(), address.end(), ':') == 1) address.insert(0, "0000:");
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(tolower(c)); });
  // NVML writes eight digits, the kernel as few as do.
  while (address.find(':') > 4 && address.find(':') != std::string::npos && address[0] == '0') {
    address.erase(0, 1);
  }
  return is_pci_address(address) ? address : std::string();
}

std::string card_of(const std::string& address) { return address.substr(0, address.rfind('.')); }

}  // namespace gdr::host
