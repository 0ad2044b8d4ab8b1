// Any text as GDR_SOFT_DEVICES: a table of distinct, usable devices, or one printable line.
#include <algorithm>
#include <cstdlib>

#include "base/printable.h"
#include "input.h"
#include "rnic/device_table.h"

namespace {

using gdr::test::require;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

void check(const gdr::rnic::DeviceConfiguration& device) {
  require(!device.name.empty() && device.name.size() < 64);
  require(std::all_of(device.name.begin(), device.name.end(), is_name_character));
  require(device.name != "." && device.name != "..");
  require((device.mac[0] & 1) == 0);
  const bool mapped = device.address[10] == 0xff && device.address[11] == 0xff &&
                      std::all_of(device.address.begin(), device.address.begin() + 10,
                                  [](std::uint8_t byte) { return byte == 0; });
  if (mapped) {
    require(device.address[12] != 0 && device.address[12] < 224);
  } else {
    require(device.address[0] != 0xff);
  }
  require(device.gigabits >= 10 && device.gigabits <= 400);
  require(std::all_of(device.pci.begin(), device.pci.end(), [](char c) {
    return c == ':' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* data, std::size_t size) {
  const auto devices = gdr::rnic::parse_devices({data, size});
  if (!devices) {
    require(devices.error().code == EINVAL && !devices.error().message.empty());
    require(gdr::printable(devices.error().message) == devices.error().message);
    return 0;
  }
  require(!devices->empty() && devices->size() <= 16);
  for (auto one = devices->begin(); one != devices->end(); ++one) {
    check(*one);
    for (auto other = devices->begin(); other != one; ++other) {
      require(one->name != other->name && one->mac != other->mac && one->address != other->address);
      require(one->pci.empty() || one->pci != other->pci);
    }
  }
  return 0;
}
