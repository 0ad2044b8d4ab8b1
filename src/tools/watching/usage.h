// Usage: what a program did with the stand-ins, in one line for the end of `gdr run`.
//
//   fputs(usage_line({.soft_nic = true}, take_snapshot(file.ledger()), processes.seen()));
//   // "software NIC: opened soft0, 1 queue pair, 312.5 MiB; loaded libibverbs; software GPU: not
//   // used"
#pragma once

#include <map>
#include <string>

#include "watching/processes.h"
#include "watching/snapshot.h"

namespace gdr::watching {

struct Offered {
  bool soft_nic = false, soft_gpu = false;
  bool has_rpath = false;      // the program looks for libraries elsewhere first
  bool asks_netlink = false;   // the program finds devices by netlink: iproute2's `rdma`
  bool only_loopback = false;  // no other network interface of this host is up
  bool has_places = false;     // its devices have places in the PCI tree
};

std::string usage_line(const Offered& offered, const Snapshot& calls,
                       const std::map<pid_t, SeenProcess>& processes);

}  // namespace gdr::watching
