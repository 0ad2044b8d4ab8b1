// Has each RoCE port a routable RoCE v2 GID, and do programs use it?
#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace roce_gid_check {

constexpr const char* kVariable = "NCCL_IB_GID_INDEX";
constexpr std::uint64_t kLargestTable = 65535;

constexpr const char* kExplanation =
    "On Ethernet a port's addresses are its GIDs: one for each IP address of its interface and "
    "each version of RoCE. RoCE v1 does not pass routers, and many switches drop it; a link-local "
    "address (fe80::) does not leave its subnet. So a port needs a GID of RoCE v2 with an IPv4 or "
    "a global IPv6 address. NCCL 2.21 and later find it by themselves. If NCCL_IB_GID_INDEX is "
    "set, it must name such a GID on every NIC, although the numbers may differ between NICs.";

bool is_version_two(const host::Gid& gid) { return gid.type.find("RoCE v2") != std::string::npos; }
bool is_routable(const host::Gid& gid) { return gid.text.rfind("fe80", 0) != 0; }

std::string place_of(const PortOf& port, const host::Gid& gid) {
  return "/" + folder_of(port) + "/gids/" + std::to_string(gid.index);
}

std::string text_of(const host::Gid& gid) {
  return gid.text + ", " + (gid.type.empty() ? "type unknown" : gid.type);
}

Fix assign_address() {
  return {to_type(text::Command::of_each("sudo ip link set dev {} up"),
                  "then give it an address: ip address add ADDRESS/PREFIX dev {}"),
          to_do("give {} an address in the network configuration")};
}

Finding judge(const PortOf& port) {
  const std::vector<host::Gid>& gids = port.port->gids;
  Finding finding;
  finding.subject = subject_of(port);
  const auto good = std::ranges::find_if(
      gids, [](const host::Gid& gid) { return is_version_two(gid) && is_routable(gid); });
  if (good != gids.end()) {
    finding.summary = "has a routable RoCE v2 GID";
    finding.evidence = {{place_of(port, *good), text_of(*good)}};
    return finding;
  }
  for (const host::Gid& gid : gids) finding.evidence.push_back({place_of(port, gid), text_of(gid)});
  if (gids.empty()) finding.evidence = {{"/" + folder_of(port) + "/gids", "all empty"}};
  if (!gids.empty() &&
      std::ranges::all_of(gids, [](const auto& gid) { return gid.type.empty(); })) {
    finding.outcome = Outcome::kUnknown;
    finding.summary = "cannot see the RoCE versions of its GIDs";
  } else if (std::ranges::any_of(gids, is_version_two)) {
    finding.outcome = Outcome::kWarn;
    finding.summary = "only link-local RoCE v2 GIDs";
    finding.consequence = "It reaches only hosts of the same subnet; some programs reach none.";
    finding.fix = assign_address();
  } else {
    finding.outcome = Outcome::kFail;
    finding.summary = gids.empty() ? "no GID at all" : "no RoCE v2 GID";
    finding.consequence = "NCCL, UCX and perftest find no source address.";
    finding.fix = assign_address();
  }
  return finding;
}

Finding judge_index(const PortOf& port, std::uint64_t index) {
  Finding finding;
  finding.subject = subject_of(port);
  const std::string setting = std::string(kVariable) + "=" + std::to_string(index);
  finding.evidence = {{"environment", setting}};
  const auto& gids = port.port->gids;
  const auto named =
      std::ranges::find_if(gids, [&](const host::Gid& gid) { return gid.index == index; });
  if (named != gids.end()) finding.evidence.push_back({place_of(port, *named), text_of(*named)});
  if (named != gids.end() && (is_version_two(*named) || named->type.empty())) {
    finding.summary = setting + " names a RoCE v2 GID";
    return finding;
  }
  finding.outcome = Outcome::kFail;
  finding.summary =
      setting + (named == gids.end() ? " names an empty GID" : " names a RoCE v1 GID");
  finding.consequence = "NCCL's connections from this port fail, or time out at a router.";
  finding.fix.now =
      to_type(text::Command("unset {}", kVariable), "NCCL 2.21 and later find the right one");
  const auto good = std::ranges::find_if(
      gids, [](const host::Gid& gid) { return is_version_two(gid) && is_routable(gid); });
  if (good != gids.end()) {
    finding.fix.now.note += "; earlier releases need export " + std::string(kVariable) + "=" +
                            std::to_string(good->index);
  }
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("NIC ports");
  const auto given = host.environment.find(kVariable);
  // -1 is NCCL's own default.
  const Result<std::uint64_t> index = given == host.environment.end()
                                          ? Result<std::uint64_t>(Error{})
                                          : parse_number(given->second, 0, kLargestTable);
  for (const PortOf& port : ports_of(host.inventory)) {
    if (!port.is_ethernet() || state_of(port) != "ACTIVE") continue;
    gathered.add(judge(port), port.port->netdev);
    if (index) gathered.add(judge_index(port, *index), port.port->netdev);
  }
  return gathered.take("no active RoCE port");
}

}  // namespace roce_gid_check

const Check kGid{"roce-gid",
                 Area::kNic,
                 "RoCE v2 addresses (GIDs) of the NIC ports",
                 roce_gid_check::kExplanation,
                 45,
                 Cost::kPassive,
                 roce_gid_check::find};

}  // namespace gdr::doctor
