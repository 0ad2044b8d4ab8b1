// Has a subnet manager configured each InfiniBand port?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace subnet_manager_check {

constexpr const char* kExplanation =
    "InfiniBand ports get their address from a subnet manager, which runs once in a subnet: in a "
    "switch, or as opensm on a host. If a port has a link but stays in INIT or ARMED, no subnet "
    "manager has configured it. Two directly connected hosts need one on either of them.";

Finding judge(const Host& host, const PortOf& port) {
  Finding finding;
  const std::string folder = folder_of(port), state = state_of(port);
  finding.subject = subject_of(port);
  finding.evidence = {{"/" + folder + "/state", port.port->state},
                      read_line(host.files, folder + "/sm_lid")};
  if (state == "ACTIVE") {
    finding.summary = "a subnet manager has configured the port";
    return finding;
  }
  finding.outcome = Outcome::kFail;
  finding.summary = "the port has a link but no subnet manager (" + state + ")";
  finding.consequence = "The port has no address, so it sends no packet.";
  finding.fix = {
      to_type("sudo systemctl start opensm", "on one host of the subnet; sminfo verifies it"),
      to_type("sudo systemctl enable opensm",
              "on the same host, or use the subnet manager of the switch")};
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("NIC ports");
  for (const PortOf& port : ports_of(host.inventory)) {
    const std::string state = state_of(port);
    if (!port.is_infiniband()) continue;
    if (state == "ACTIVE" || state == "INIT" || state == "ARMED") {
      gathered.add(judge(host, port), port.nic->pci->address);
    }
  }
  return gathered.take("no InfiniBand port with a link");
}

}  // namespace subnet_manager_check

const Check kSubnetManager{"subnet-manager",
                           Area::kNic,
                           "InfiniBand's subnet manager",
                           subnet_manager_check::kExplanation,
                           36,
                           Cost::kPassive,
                           subnet_manager_check::find};

}  // namespace gdr::doctor
