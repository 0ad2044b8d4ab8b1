// Is GDR_SOFT_DEVICES right? Nothing and exit status 0 if it is, otherwise one line on standard
// output and exit status 2.
#include <cstdio>

#include "rnic/device_table.h"

int main() {
  const auto devices = gdr::rnic::devices_from_environment();
  if (devices) return 0;
  std::puts(devices.error().message.c_str());
  return 2;
}
