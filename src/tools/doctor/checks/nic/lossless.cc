// Is the NIC configured for a lossless RoCE network?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/checks/pairs.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace lossless_check {

constexpr unsigned kPriorities = 8;

constexpr const char* kExplanation =
    "RoCE is fast only if few packets are lost. Networks avoid loss by pausing one priority (PFC), "
    "by marking packets under congestion so that NICs slow down (ECN), or both; they recognise "
    "RoCE by the DSCP field of its packets. NIC and switches must agree on all of it, so gdr "
    "changes nothing; it shows the NIC's settings: trust (dscp or pcp), ECN for each priority as "
    "notification point (roce_np) and reaction point (roce_rp), and the default traffic class. "
    "These files come with NVIDIA's DOCA-OFED; for PFC use mlnx_qos -i INTERFACE or dcb pfc show "
    "dev INTERFACE. A common choice is DSCP 26 on priority 3: mlnx_qos -i INTERFACE --trust dscp "
    "--pfc 0,0,0,1,0,0,0,0; echo 106 > /sys/class/infiniband/NIC/tc/1/traffic_class.";

struct Settings {
  std::string trust, traffic_class;
  bool ecn_shown = false;
  std::string ecn;  // the priorities for which both points are on: "3"
};

Settings read_settings(const Host& host, const PortOf& port) {
  const std::string net = "sys/class/net/" + port.port->netdev;
  Settings settings;
  settings.trust = host.files.line(net + "/qos/trust");
  settings.traffic_class = host.files.line("sys/class/infiniband/" + port.nic->name + "/tc/" +
                                           std::to_string(port.port->number) + "/traffic_class");
  for (unsigned i = 0; i < kPriorities; ++i) {
    const std::string number = std::to_string(i);
    const std::string notify = host.files.line(net + "/ecn/roce_np/enable/" + number);
    const std::string react = host.files.line(net + "/ecn/roce_rp/enable/" + number);
    settings.ecn_shown |= !notify.empty() && !react.empty();
    if (notify == "1" && react == "1") settings.ecn += (settings.ecn.empty() ? "" : ",") + number;
  }
  return settings;
}

Finding judge(const PortOf& port, const Settings& settings) {
  const std::string net = "/sys/class/net/" + port.port->netdev;
  const auto shown = [](const std::string& value) { return value.empty() ? "not there" : value; };
  Finding finding;
  finding.subject = subject_of(port);
  finding.evidence = {
      {net + "/qos/trust", shown(settings.trust)},
      {net + "/ecn/roce_{np,rp}/enable/*", !settings.ecn_shown    ? "not there"
                                           : settings.ecn.empty() ? "no priority"
                                                                  : "priority " + settings.ecn},
      {"/sys/class/infiniband/" + port.nic->name + "/tc/" + std::to_string(port.port->number) +
           "/traffic_class",
       shown(settings.traffic_class)}};
  if (settings.trust.empty() && !settings.ecn_shown) {
    finding.outcome = Outcome::kUnknown;
    finding.summary = "cannot tell from here whether this RoCE network is lossless (PFC/ECN)";
    finding.consequence = "Lost packets cost RoCE most of its rate.";
    finding.fix.now = to_type(text::Command::of_each("mlnx_qos -i {}")
                                  .then(text::Command::of_each("dcb pfc show dev {}")),
                              "DOCA-OFED has the first command, iproute2 the second");
    return finding;
  }
  const bool marked = settings.trust.empty() || settings.trust.find("dscp") != std::string::npos;
  const bool ecn = !settings.ecn_shown || !settings.ecn.empty();
  if (marked && ecn) {
    finding.summary = "the NIC reacts to ECN and trusts DSCP; check PFC and the switches yourself";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = !marked ? "the NIC trusts " + settings.trust +
                                  ", not DSCP: routed RoCE packets have no priority"
                            : "ECN is off for every priority";
  finding.consequence =
      "Under congestion packets are lost, which costs RoCE most of its rate. The switches need the "
      "same settings.";
  finding.fix.now = to_type(
      !marked ? text::Command::of_each("sudo mlnx_qos -i {} --trust dscp")
              : text::Command::of_each("echo 1 | sudo tee /sys/class/net/{}/ecn/roce_np/enable/3 "
                                       "/sys/class/net/{}/ecn/roce_rp/enable/3"),
      "gdr fix roce prints the usual settings");
  finding.fix.for_good =
      to_do("run the same commands in a systemd unit that starts after the network");
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("NIC ports");
  for (const PortOf& port : ports_of(host.inventory)) {
    if (!port.is_ethernet() || state_of(port) != "ACTIVE" || port.port->netdev.empty()) continue;
    gathered.add(judge(port, read_settings(host, port)), port.port->netdev);
  }
  return gathered.take("no active RoCE port");
}

}  // namespace lossless_check

const Check kLossless{"lossless",
                      Area::kNic,
                      "Lossless RoCE: DSCP, ECN and PFC",
                      lossless_check::kExplanation,
                      85,
                      Cost::kPassive,
                      lossless_check::find};

}  // namespace gdr::doctor
