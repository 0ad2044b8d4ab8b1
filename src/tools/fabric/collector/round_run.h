// RoundRun: a round that is under way: what each member is told, and what becomes of the answers.
//
//   RoundRun run(round, roster, rails);
//   run.each_connect([&](MemberId member, const Connect& connect) { send(member, connect); });
//   run.take(host, done);                      // a member's answer to a step
//   run.finish(report);                        // its measurements and incidents
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/collector/roster.h"

namespace gdr::fabric {

class RoundRun {
 public:
  // Edges of hosts that are not there are left out.
  RoundRun(const Round& round, const Roster& roster, std::size_t hosts, std::uint16_t rails);

  const Round& round() const { return round_; }
  bool is_empty() const { return ways_.empty(); }
  // The first step of each member, host by host.
  void each_connect(const std::function<void(MemberId, const Connect&)>& tell) const;
  // Those whose transfers end at that host, or begin there.
  std::vector<HostIndex> partners_of(HostIndex host) const;

  // Rails that would wait in vain: what was to come to them was not sent, as `done` says.
  struct Deserted {
    HostIndex host = 0, sender = 0;
    std::uint16_t rail = 0;
  };
  std::vector<Deserted> deserted_by(HostIndex sender, const StepDone& done) const;

  // An error: it tells of what it was not asked.
  Result<void> take(HostIndex host, const StepDone& done);

  // In the order of the edges, a rail after the other. Where a side was lost meanwhile, the
  // direction is abandoned.
  void finish(Report& report) const;

 private:
  // One direction of one rail. Of a large run there are many, each of which is looked at in each
  // step: it is small, and what went wrong is kept apart.
  struct Way {
    Edge edge;
    std::uint16_t rail = 0, far_rail = 0;
    bool was_examined = false;
    Outcome outcome = Outcome::kProved;
    float bytes_per_second = 0, latency = 0;
  };

  // The first thing that went wrong stays.
  void note_failure(std::size_t way, std::string why);
  Part part_of(HostIndex host, std::uint16_t rail) const;
  void take_sent(std::size_t way, Phase phase, const RailResult& result);
  void take_received(std::size_t way, const RailResult& result);
  std::int32_t sent_by(HostIndex host, std::uint16_t rail) const {
    return sends_[host * rails_ + rail];
  }
  std::int32_t& sent_by(HostIndex host, std::uint16_t rail) { return sends_[host * rails_ + rail]; }
  std::int32_t received_by(HostIndex host, std::uint16_t rail) const {
    return receives_[host * rails_ + rail];
  }
  std::int32_t& received_by(HostIndex host, std::uint16_t rail) {
    return receives_[host * rails_ + rail];
  }

  const Round round_;
  const Roster& roster_;
  const std::uint16_t rails_;
  std::vector<Way> ways_;
  std::unordered_map<std::size_t, std::string> problems_;  // by the place in ways_
  // By host and rail: the place in ways_; -1: none.
  std::vector<std::int32_t> sends_, receives_;
};

}  // namespace gdr::fabric
