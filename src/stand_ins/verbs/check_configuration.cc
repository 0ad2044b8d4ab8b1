// Is what the environment says of the software NIC right? Nothing and exit status 0 if it is,
// otherwise one line on standard output and exit status 2.
#include <cstdio>

#include "base/printable.h"
#include "net/counters.h"
#include "net/pcap_port.h"
#include "net/settings.h"
#include "net/udp_port.h"
#include "rnic/device_table.h"

namespace {

using gdr::Result;

// An address that was not asked for need not be there: without it, this host is as far as it goes.
Result<void> check_devices() {
  const auto devices = gdr::rnic::devices_from_environment();
  if (!devices) return devices.error();
  for (const gdr::rnic::DeviceConfiguration& device : *devices) {
    if (!device.address_is_given) continue;
    const auto port = gdr::net::UdpPort::open(device.address);
    if (!port) return port.error();
  }
  return {};
}

Result<void> check_packets() {
  const Result<gdr::net::Settings> settings = gdr::net::settings_from_environment();
  if (!settings) return settings.error();
  if (settings->pcap_file) {
    const auto file = gdr::net::PcapFile::open(*settings->pcap_file);
    if (!file) return file.error();
  }
  return gdr::net::Counters::check_file();
}

}  // namespace

int main() {
  for (const auto check : {check_devices, check_packets}) {
    const Result<void> right = check();
    if (right) continue;
    std::puts(gdr::printable(right.error().message).c_str());
    return 2;
  }
}
