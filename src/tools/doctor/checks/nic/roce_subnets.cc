// Several RoCE interfaces in one IPv4 subnet: does the kernel answer ARP for the right one?
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace roce_subnets_check {

constexpr const char* kExplanation =
    "Linux answers ARP for any of its addresses on any of its interfaces. If several RoCE "
    "interfaces are in one subnet, peers may learn the MAC address of the wrong NIC. RDMA to that "
    "address then reaches a NIC that does not have it: connections hang or are rejected. "
    "arp_ignore 1 or 2 makes only the right interface answer, arp_announce 2 makes it ask with the "
    "right address, and rp_filter 1 (strict) drops packets that arrive on another interface than "
    "the one their answer would use. The larger value of conf/all and conf/INTERFACE counts. "
    "Source: rdma-core, Documentation/librdmacm.md; libfabric's wiki, Verbs Provider on Multi-NIC "
    "Systems; the kernel's Documentation/networking/ip-sysctl.rst. A subnet per NIC, or routing by "
    "source address, also works but is not judged here. The check reads the interfaces of RoCE "
    "GIDs, /proc/net/route and /proc/sys/net/ipv4/conf.";

// Names of RoCE interfaces with an IPv4 address.
std::set<std::string> interfaces_of(const Host& host) {
  std::set<std::string> names;
  for (const PortOf& port : ports_of(host.inventory)) {
    if (!port.is_ethernet()) continue;
    for (const host::Gid& gid : port.port->gids) {
      const bool ipv4 = gid.text.rfind("0000:0000:0000:0000:0000:ffff:", 0) == 0;
      if (ipv4 && text::is_plain_name(gid.netdev)) names.insert(gid.netdev);
    }
  }
  return names;
}

// The subnets that /proc/net/route shows as directly connected, and which of `interfaces` each has.
// "eth0	0000A8C0	00000000	0001	0	0	100	00FFFFFF	0
// 0 0"
std::map<std::string, std::set<std::string>> subnets_of(const host::Files& files,
                                                        const std::set<std::string>& interfaces) {
  std::map<std::string, std::set<std::string>> subnets;
  std::istringstream lines(files.text("proc/self/net/route"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, destination, gateway, flags, references, uses, metric, mask;
    fields >> name >> destination >> gateway >> flags >> references >> uses >> metric >> mask;
    if (!fields || !interfaces.contains(name)) continue;
    if (gateway == "00000000" && mask != "00000000" && mask != "FFFFFFFF") {
      subnets[destination + "/" + mask].insert(name);
    }
  }
  return subnets;
}

// The larger one of conf/all and conf/INTERFACE; nothing: not shown.
std::optional<long> setting(const host::Files& files, const std::string& interface,
                            const std::string& name) {
  const std::string folder = "proc/sys/net/ipv4/conf/";
  const auto all = files.number(folder + "all/" + name);
  const auto own = files.number(folder + interface + "/" + name);
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

struct Settings {
  bool known = true, answers_elsewhere = false, asks_wrongly = false, drops = false;
  Evidences evidence;
};

Settings settings_of(const host::Files& files, const std::set<std::string>& names) {
  Settings found;
  for (const std::string& name : names) {
    const auto ignore = setting(files, name, "arp_ignore");
    const auto announce = setting(files, name, "arp_announce");
    const auto filter = setting(files, name, "rp_filter");
    if (!ignore || !announce || !filter) {
      found.known = false;
      continue;
    }
    found.answers_elsewhere |= *ignore == 0;
    found.asks_wrongly |= *announce < 2;
    found.drops |= *filter == 1;
    found.evidence.push_back({"/proc/sys/net/ipv4/conf/" + name + " or all",
                              "arp_ignore " + std::to_string(*ignore) + ", arp_announce " +
                                  std::to_string(*announce) + ", rp_filter " +
                                  std::to_string(*filter)});
  }
  return found;
}

std::string list_of(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Finding judge(const host::Files& files, const std::set<std::string>& names) {
  Settings settings = settings_of(files, names);
  const std::string subject = list_of(names);
  if (!settings.known && !settings.answers_elsewhere && !settings.drops) {
    return unknown(subject, "in one subnet; cannot see how they answer ARP",
                   std::move(settings.evidence),
                   to_type("sysctl -ar 'net.ipv4.conf.*.(arp_ignore|arp_announce|rp_filter)'"));
  }
  if (!settings.answers_elsewhere && !settings.drops) {
    return ok(subject, "in one subnet, and each answers ARP for itself",
              std::move(settings.evidence));
  }
  std::string what;
  std::vector<std::string> words;
  const auto add = [&](const char* name, const char* value, bool wrong) {
    if (!wrong) return;
    what += (what.empty() ? "" : ", ") + std::string(name);
    // Not conf/all, which would change every interface. With slashes, since an interface's name may
    // have a dot.
    for (const std::string& interface : names) {
      words.push_back("net/ipv4/conf/" + interface + "/" + name + "=" + value);
    }
  };
  add("arp_ignore", "1", settings.answers_elsewhere);
  add("arp_announce", "2", settings.asks_wrongly);
  add("rp_filter", "2", settings.drops);
  return warn(
      subject, "in one subnet, but not configured for it: " + what, std::move(settings.evidence),
      "Peers may learn the MAC address of another NIC: RDMA connections hang or are "
      "rejected.",
      {to_type(text::Command("sudo sysctl -w {}", words)),
       to_type(text::Command("printf '%s\\n' {} | sudo tee /etc/sysctl.d/95-roce.conf", words))});
}

Findings find(const Host& host) {
  const std::set<std::string> interfaces = interfaces_of(host);
  if (interfaces.size() < 2) {
    return does_not_apply("fewer than two RoCE interfaces with an IPv4 address");
  }
  if (!host.files.exists("proc/self/net/route")) {
    return {unknown("", "cannot see the subnets of the RoCE interfaces",
                    {{"/proc/net/route", "not there"}}, to_type("ip -4 address"))};
  }
  Findings findings;
  for (const auto& [subnet, names] : subnets_of(host.files, interfaces)) {
    if (names.size() > 1) findings.push_back(judge(host.files, names));
  }
  if (findings.empty()) {
    return {ok("", "each RoCE interface has a subnet of its own",
               {{"/proc/net/route", std::to_string(interfaces.size()) + " interfaces"}})};
  }
  return findings;
}

}  // namespace roce_subnets_check

const Check kRoceSubnets{"roce-subnets",
                         Area::kNic,
                         "Several RoCE interfaces in one subnet",
                         roce_subnets_check::kExplanation,
                         49,
                         Cost::kPassive,
                         roce_subnets_check::find};

}  // namespace gdr::doctor
