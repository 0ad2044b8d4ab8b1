// Are packets lost or damaged?
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace port_errors_check {

constexpr const char* kExplanation =
    "The driver counts lost, repeated and damaged packets since it was loaded. A few are normal: "
    "somebody pulled a cable, a host restarted. The check warns if their share of all packets is "
    "more than one in a million. One reading shows the past, not the present: read them again "
    "after a run (gdr perf shows which moved). packet_seq_err and local_ack_timeout_err mean that "
    "the network loses packets; out_of_buffer and rnr_nak_retry_err that a receiver was late; "
    "symbol_error and port_rcv_errors a bad cable or transceiver.";

constexpr double kMostShare = 1e-6;

struct Error {
  const char* folder;
  const char* name;
};
constexpr Error kErrors[] = {{"hw_counters", "packet_seq_err"},
                             {"hw_counters", "out_of_sequence"},
                             {"hw_counters", "local_ack_timeout_err"},
                             {"hw_counters", "rnr_nak_retry_err"},
                             {"hw_counters", "out_of_buffer"},
                             {"hw_counters", "rx_icrc_encapsulated"},
                             {"counters", "symbol_error"},
                             {"counters", "port_rcv_errors"},
                             {"counters", "port_xmit_discards"}};

long packets_of(const Host& host, const std::string& folder) {
  const long received = host.files.number(folder + "/counters/port_rcv_packets").value_or(0);
  const long sent = host.files.number(folder + "/counters/port_xmit_packets").value_or(0);
  return std::max(received, 0L) / 2 + std::max(sent, 0L) / 2;
}

Finding judge(const Host& host, const PortOf& port) {
  const std::string folder = folder_of(port);
  const long packets = packets_of(host, folder);
  Finding finding;
  finding.subject = subject_of(port);
  std::string worst;
  long most = 0;
  for (const Error& error : kErrors) {
    const std::string path = folder + "/" + error.folder + "/" + error.name;
    const auto count = host.files.number(path);
    if (!count || *count <= 0) continue;
    finding.evidence.push_back({"/" + path, std::to_string(*count)});
    if (*count > most) {
      most = *count;
      worst = error.name;
    }
  }
  const double share =
      packets > 0 ? static_cast<double>(most) / (2.0 * static_cast<double>(packets)) : 0;
  if (most == 0 || share <= kMostShare) {
    finding.summary = "no more errors than usual";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary =
      fmt::format("{}: {} of {:.2g} packets", worst, most, 2.0 * static_cast<double>(packets));
  finding.consequence = "Each lost packet stops its connection until it is sent again.";
  finding.fix = {to_type(text::Command::of_each("sudo mlxlink -d {} -c -e")),
                 to_do("check cables, and PFC and ECN on NICs and switches")};
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("NIC ports");
  for (const PortOf& port : ports_of(host.inventory)) {
    const std::string folder = folder_of(port);
    if (!host.files.number(folder + "/counters/port_rcv_packets") &&
        !host.files.number(folder + "/hw_counters/packet_seq_err")) {
      continue;
    }
    gathered.add(judge(host, port), port.nic->pci->address);
  }
  return gathered.take(host.inventory.nics.empty() ? "no RDMA NIC" : "no counters visible");
}

}  // namespace port_errors_check

const Check kPortErrors{"port-errors",
                        Area::kNic,
                        "Lost and damaged packets",
                        port_errors_check::kExplanation,
                        82,
                        Cost::kPassive,
                        port_errors_check::find};

}  // namespace gdr::doctor
