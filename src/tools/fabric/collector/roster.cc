#include "fabric/collector/roster.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/collector/said.h"
#include "text/format.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostRails = 64;

// What has to be the same on every host for its rails to be compared.
std::string kind_of(const Host& host) {
  std::string kind = text::plural(host.rails.size(), "rail");
  if (host.rails.empty()) return kind;
  const Rail& first = host.rails.front();
  if (first.software_nic) kind += " of the software NIC";
  kind += first.gpu.empty()    ? " with host memory"
          : first.software_gpu ? " with the software GPU"
                               : " with GPUs";
  return kind;
}

// Neither NaN nor infinite, nor what no link has.
bool is_speed(double bits_per_second) { return bits_per_second >= 0 && bits_per_second < 1e15; }

std::string rail_name(const Rail& rail) {
  return rail.gpu.empty() ? rail.nic : rail.nic + " with " + rail.gpu;
}

}  // namespace

Roster::Roster(const std::vector<ExpectedMember>& expected, bool processes_as_hosts,
               std::vector<Host>& hosts)
    : processes_as_hosts_(processes_as_hosts), hosts_(&hosts), members_(expected.size()) {
  std::map<std::uint32_t, HostIndex> nodes;
  std::map<std::string, unsigned> of_name, named;
  for (const ExpectedMember& one : expected) ++of_name[one.host];
  for (MemberId id = 0; id < expected.size(); ++id) {
    const ExpectedMember& one = expected[id];
    const auto [place, is_new] =
        nodes.try_emplace(processes_as_hosts ? id : one.node, static_cast<HostIndex>(hosts.size()));
    if (is_new) {
      Host host;
      host.name = said(one.host, kMostName);
      if (processes_as_hosts && of_name[one.host] > 1) {
        host.name += fmt::format("/{}", named[one.host]++);
      }
      hosts.push_back(std::move(host));
      of_host_.emplace_back();
      named_by_launcher_.push_back(!one.host.empty());
    }
    members_[id].host = place->second;
    members_[id].share = static_cast<std::uint32_t>(of_host_[place->second].size());
    of_host_[place->second].push_back(id);
  }
  rails_.resize(hosts.size());
  unsettled_ = hosts.size();
}

// Whoever comes first has no right to what it says: it may be the one that is wrong.
Result<void> Roster::compare(HostIndex index, const Join& join, std::optional<HostIndex>& twin) {
  if (processes_as_hosts_) return {};
  const std::string& name = (*hosts_)[index].name;
  const auto [machine, new_machine] = machines_.try_emplace(join.machine, index);
  if (!new_machine && machine->second != index) {
    twin = machine->second;
    const std::string& other = (*hosts_)[*twin].name;
    return Error{EINVAL,
                 fmt::format("{} and {} say that they are the same machine, and either may be "
                             "wrong; name it once, or let its processes count as hosts: "
                             "--processes-as-hosts",
                             other, name)};
  }
  const auto [named, new_name] = names_.try_emplace(name, index);
  if (!new_name && named->second != index) {
    twin = named->second;
    return Error{EINVAL, fmt::format("two machines call themselves {}, and either may be wrong; "
                                     "give each a name of its own: hostnamectl hostname NAME",
                                     name)};
  }
  return {};
}

Result<Begin> Roster::join(MemberId id, const Join& join, const Settings& settings,
                           std::optional<HostIndex>& twin) {
  Member& member = members_[id];
  Host& host = (*hosts_)[member.host];
  if (member.state != State::kExpected) {
    return Error{EEXIST, fmt::format("a second process says that it is rank {}", id)};
  }
  member.state = State::kOpening;
  if (!named_by_launcher_[member.host]) host.name = said(join.host, kMostName);
  if (Result<void> own = compare(member.host, join, twin); !own) return own.error();
  Begin begin;
  begin.settings = settings;
  begin.share = member.share;
  begin.shares = static_cast<std::uint32_t>(of_host_[member.host].size());
  if (processes_as_hosts_) {
    begin.share = id;
    begin.shares = static_cast<std::uint32_t>(members_.size());
  }
  begin.is_whole_host = !processes_as_hosts_;
  return begin;
}

Result<void> Roster::make_ready(MemberId id, const Ready& ready) {
  Member& member = members_[id];
  if (member.state != State::kOpening) return Error{EPROTO, "it says twice that it is ready"};
  Host& host = (*hosts_)[member.host];
  std::vector<KnownRail>& known = rails_[member.host];
  for (const MemberRail& rail : ready.rails) {
    if (rail.rail >= kMostRails) {
      return Error{EPROTO,
                   fmt::format("it has a rail {}; at most {} are possible", rail.rail, kMostRails)};
    }
    if (host.rails.size() <= rail.rail) {
      host.rails.resize(rail.rail + 1u);
      known.resize(rail.rail + 1u);
    }
    Rail& shown = host.rails[rail.rail];
    if (!shown.nic.empty()) {
      return Error{EPROTO, fmt::format("two of its processes have rail {}", rail.rail)};
    }
    shown.nic = said(rail.nic, kMostName);
    shown.gpu = said(rail.gpu, kMostName);
    shown.software_nic = rail.software_nic;
    shown.software_gpu = rail.software_gpu;
    shown.link_bits_per_second =
        is_speed(rail.link_bits_per_second) ? rail.link_bits_per_second : 0;
    shown.gid = said(rail.gid, kMostName);
    shown.leaf = said(rail.leaf, kMostName);
    shown.leaf_port = said(rail.leaf_port, kMostName);
    known[rail.rail] = {id, rail.address};
  }
  member.state = State::kReady;
  if (!is_ready(member.host)) return {};
  --unsettled_;
  for (const Rail& rail : host.rails) {
    if (rail.nic.empty()) return Error{EPROTO, "a rail of it has no process"};
  }
  if (host.rails.empty()) return Error{ENODEV, "it has no rail"};
  return {};
}

void Roster::lose(HostIndex index, HostState state, const std::string& problem) {
  Host& host = (*hosts_)[index];
  if (host.state != HostState::kThere) return;
  if (!is_ready(index)) --unsettled_;
  host.state = state;
  host.problem = problem;
  for (const MemberId id : of_host_[index]) members_[id].state = State::kGone;
}

bool Roster::is_ready(HostIndex host) const {
  return std::ranges::all_of(of_host_[host],
                             [&](MemberId id) { return members_[id].state == State::kReady; });
}

std::vector<std::string> Roster::agree_on_rails() {
  std::map<std::string, std::size_t> kinds;
  for (HostIndex i = 0; i < hosts_->size(); ++i) {
    if (is_there(i)) ++kinds[kind_of((*hosts_)[i])];
  }
  if (kinds.empty()) return {};
  const auto most = std::ranges::max_element(
      kinds, [](const auto& one, const auto& other) { return one.second < other.second; });
  std::vector<std::map<std::string, std::size_t>> names;
  for (HostIndex i = 0; i < hosts_->size(); ++i) {
    const Host& host = (*hosts_)[i];
    if (!is_there(i)) continue;
    if (kind_of(host) != most->first) {
      lose(i, HostState::kLeftOut,
           fmt::format("it has {}, where {} of {} hosts have {}; name the rails that all have "
                       "with --nics",
                       kind_of(host), most->second, hosts_->size(), most->first));
      continue;
    }
    names.resize(host.rails.size());
    for (std::size_t r = 0; r < host.rails.size(); ++r) ++names[r][rail_name(host.rails[r])];
  }
  std::vector<std::string> usual;
  for (const auto& rail : names) {
    usual.push_back(std::ranges::max_element(rail, [](const auto& one, const auto& other) {
                      return one.second < other.second;
                    })->first);
  }
  return usual;
}

}  // namespace gdr::fabric
