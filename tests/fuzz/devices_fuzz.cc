// Any text as GDR_SOFT_DEVICES: a table of distinct, usable devices, or one printable line.
#include <algorithm>
#include <cstdlib>

#include "rnic/device_table.h"

namespace {

void require(bool claim) {
  if (!claim) std::abort();
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

void check(const gdr::rnic::DeviceConfiguration& device) {
  require(!device.name.empty() && device.name.size() < 64);
  require(std::all_of(device.name.begin(), device.name.end(), is_name_character));
  require(device.name != "." && device.name != "..");
  require((device.mac[0] & 1) == 0);
  require(device.ipv4[0] != 0 && device.ipv4[0] < 224);
  require(device.gigabits >= 10 && device.gigabits <= 400);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* data, std::size_t size) {
  const auto devices = gdr::rnic::parse_devices({data, size});
  if (!devices) {
    require(devices.error().code == EINVAL && !devices.error().message.empty());
    for (const char c : devices.error().message) require(c >= ' ' && c <= '~');
    return 0;
  }
  require(!devices->empty() && devices->size() <= 16);
  for (auto one = devices->begin(); one != devices->end(); ++one) {
    check(*one);
    for (auto other = devices->begin(); other != one; ++other) {
      require(one->name != other->name && one->mac != other->mac && one->ipv4 != other->ipv4);
    }
  }
  return 0;
}
