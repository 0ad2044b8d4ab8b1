// Roster: who is expected in a run, who has come, and which hosts they are. A host has one member
// or several, each with a share of its rails; it takes part when all of them are ready.
//
//   Roster roster(expected, /*processes_as_hosts=*/false, report.hosts);
//   if (Result<Begin> begin = roster.join(3, join, settings); !begin) leave_out(3, begin.error());
//   roster.make_ready(3, ready);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/messages.h"
#include "fabric/report.h"

namespace gdr::fabric {

// A process of the run, by its rank.
using MemberId = std::uint32_t;

struct ExpectedMember {
  std::string host;  // as the launcher calls it; empty: as it will call itself
  std::uint32_t node = 0;
};

class Roster {
 public:
  enum class State : std::uint8_t { kExpected, kOpening, kReady, kGone };

  // The hosts are made in `hosts`, which outlives it.
  Roster(const std::vector<ExpectedMember>& expected, bool processes_as_hosts,
         std::vector<Host>& hosts);

  std::size_t members() const { return members_.size(); }
  State state(MemberId member) const { return members_[member].state; }
  HostIndex host_of(MemberId member) const { return members_[member].host; }
  const std::vector<MemberId>& members_of(HostIndex host) const { return of_host_[host]; }
  // The member with that rail. It is there, as is its address, where the host is ready.
  MemberId member_of(HostIndex host, std::uint16_t rail) const { return rails_[host][rail].member; }
  const RailAddress& address_of(HostIndex host, std::uint16_t rail) const {
    return rails_[host][rail].address;
  }

  // What it is to be told. An error: why its host cannot take part. `twin`: nor can that one, which
  // says the same of itself; which of them is right is not known.
  Result<Begin> join(MemberId member, const Join& join, const Settings& settings,
                     std::optional<HostIndex>& twin);
  Result<void> make_ready(MemberId member, const Ready& ready);
  // All of the host's members are gone with it.
  void lose(HostIndex host, HostState state, const std::string& problem);
  bool is_there(HostIndex host) const { return (*hosts_)[host].state == HostState::kThere; }
  bool is_ready(HostIndex host) const;
  // Nobody is waited for.
  bool is_settled() const { return unsettled_ == 0; }

  // Rails that differ from those of most hosts: such hosts are left out. The names of the rails.
  std::vector<std::string> agree_on_rails();

 private:
  Result<void> compare(HostIndex host, const Join& join, std::optional<HostIndex>& twin);

  struct Member {
    State state = State::kExpected;
    HostIndex host = 0;
    std::uint32_t share = 0;
  };
  struct KnownRail {
    MemberId member = 0;
    RailAddress address;
  };

  const bool processes_as_hosts_;
  std::vector<Host>* const hosts_;
  std::vector<Member> members_;
  std::vector<std::vector<MemberId>> of_host_;
  std::vector<std::vector<KnownRail>> rails_;  // of each host, in their order
  std::vector<bool> named_by_launcher_;
  std::map<std::string, HostIndex> machines_, names_;  // of hosts that have joined
  std::size_t unsettled_ = 0;                          // hosts neither ready nor lost
};

}  // namespace gdr::fabric
