// FabricRun: the collector of `gdr fabric` with its plan, its messages and its judgement, and
// members that are simulated: they decode what they are told and answer in virtual time with what
// a simulated fabric measures. Members die, hang and stay away where that is asked for.
//
//   FabricRun run({.hosts = 64, .seed = 1}, {});
//   run.fabric.faults.push_back(slow_host(7, 0.85));
//   run.losses.push_back({.host = 4, .round = 3, .phase = Phase::kLatency});
//   run.run();
//   run.report ...
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "fabric/collector/collector.h"
#include "fabric/collector/plan.h"
#include "simulated_fabric.h"

namespace gdr::fabric {

struct LossOfMember {
  HostIndex host = 0;
  std::uint32_t round = 0;
  Phase phase = Phase::kProve;
  HostState how = HostState::kDied;  // or kHung, kNeverCame
};

// Told before and after calls of the collector, so that what it takes is told from what the
// members take.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual void enter() {}
  virtual void leave() {}
};

class FabricRun {
 public:
  FabricRun(const FabricModel& model, PlanOptions plan);

  // Until the collector has finished.
  void run(Campaign& campaign, Listener& listener, Meter& meter);
  void run();

  SimulatedFabric fabric;
  std::vector<LossOfMember> losses;
  PlanOptions plan;
  Report report;

 private:
  enum class What : std::uint8_t { kJoin, kReady, kStep, kExamined, kLoss };
  struct Event {
    Nanoseconds time = 0;
    std::uint64_t number = 0;  // equal times: in the order in which they were made
    MemberId member = 0;
    What what = What::kJoin;
    std::uint32_t round = 0;
    Phase phase = Phase::kConnect;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  struct Member {
    Connect connect;
    std::optional<Phase> answering;    // the step that it has not answered
    std::vector<HostIndex> abandoned;  // in this round
    Nanoseconds step_began = 0;
    bool is_silent = false;  // it died or hangs
  };

  void schedule(MemberId member, What what, Nanoseconds after, Phase phase = Phase::kConnect);
  void deliver(const Outgoing& out);
  void begin_step(MemberId member, Phase phase);
  void share_links(std::uint32_t round);
  const LossOfMember* loss_of(MemberId member, std::uint32_t round, Phase phase) const;
  bool waits_in_vain(const Event& event) const;
  bool is_stale(const Event& event) const;
  process::Received say(const Event& event);
  Ready ready_of(MemberId member) const;
  StepDone step_of(MemberId member, Phase phase);
  RailResult result_of(const Member& member, const Part& part, Phase phase) const;
  void feed(Collector* collector, Meter& meter);

  const FabricModel model_;
  Nanoseconds time_ = kSecond;
  std::uint64_t events_made_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Member> members_;
  std::optional<std::uint32_t> shared_in_;  // the round whose flows the fabric knows
  Random random_;
};

}  // namespace gdr::fabric
