// Do the interfaces carry packets as large as RDMA can use?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace mtu_check {

// Bytes that the kernel subtracts for headers before it chooses the path MTU (iboe_get_mtu of
// <rdma/ib_addr.h>): global route, UDP, base, XRC and atomic headers, and the CRC.
constexpr long kHeaders = 40 + 8 + 12 + 4 + 28 + 4;
constexpr long kPathMtus[] = {4096, 2048, 1024, 512, 256};

constexpr const char* kExplanation =
    "RDMA over Ethernet sends packets of 256 to 4096 bytes, the largest that fits into the "
    "interface's MTU: 1024 with the usual 1500, 4096 from 4192 on. Small packets waste bandwidth "
    "on headers, and NICs have a limit on packets per second. Set 4200 or 9000 on the interfaces "
    "of all hosts and on all switches between them; if they differ, large packets are lost. On "
    "InfiniBand the subnet manager sets the MTU, which is not visible here.";

long path_mtu_of(long mtu) {
  for (const long path_mtu : kPathMtus) {
    if (mtu - kHeaders >= path_mtu) return path_mtu;
  }
  return 0;
}

Finding judge(const PortOf& port, long mtu) {
  Finding finding;
  finding.subject = subject_of(port);
  finding.evidence = {
      {"/sys/class/net/" + port.port->netdev + "/mtu", std::to_string(mtu) + " bytes"}};
  const long path_mtu = path_mtu_of(mtu);
  if (path_mtu == kPathMtus[0]) {
    finding.summary = "packets of 4096 bytes";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = "MTU " + std::to_string(mtu) + ": packets of " + std::to_string(path_mtu) +
                    " bytes instead of 4096";
  finding.consequence = "Headers waste bandwidth, and NICs may reach their packet rate.";
  finding.fix = {to_type(text::Command::of_each("sudo ip link set dev {} mtu 4200")),
                 to_do("MTU 4200 for {} in the network configuration, on all hosts and switches")};
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("NIC ports");
  for (const PortOf& port : ports_of(host.inventory)) {
    if (!port.is_ethernet() || state_of(port) != "ACTIVE" || port.port->netdev.empty()) continue;
    const auto mtu = host.files.number("sys/class/net/" + port.port->netdev + "/mtu");
    if (mtu && *mtu > 0) gathered.add(judge(port, *mtu), port.port->netdev);
  }
  return gathered.take("no active RoCE port");
}

}  // namespace mtu_check

const Check kMtu{"mtu", Area::kNic,     "MTU of RoCE interfaces", mtu_check::kExplanation,
                 76,    Cost::kPassive, mtu_check::find};

}  // namespace gdr::doctor
