// Collector: gathers the members of a run, leads them through its rounds, and keeps what they say.
// It has no I/O and no clock: `handle_…` takes what has come, `poll_transmit` gives what is to be
// sent, `next_timeout` says when to call handle_time at the latest. A member that dies, hangs or
// talks nonsense costs its own host.
//
//   Collector collector(options, campaign, listener, report, now());
//   collector.handle_join(3, join, now());
//   while (std::optional<Outgoing> out = collector.poll_transmit()) send(*out);
//   if (collector.has_finished()) ...        // the report is complete
//
// Used by one thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fabric/collector/campaign.h"
#include "fabric/collector/member_set.h"
#include "fabric/collector/roster.h"
#include "fabric/collector/round_run.h"
#include "fabric/output/listener.h"

namespace gdr::fabric {

struct CollectorOptions {
  Settings settings;
  std::vector<ExpectedMember> expected;
  bool processes_as_hosts = false;
  bool ask_doctor = true;
  Nanoseconds join_limit = 60 * kSecond;  // from the start, for everybody
  Nanoseconds open_limit = 60 * kSecond;  // from joining to being ready
  Nanoseconds doctor_limit = 60 * kSecond;
};

// To a member. `is_last`: its connection is closed behind it.
struct Outgoing {
  MemberId member = 0;
  std::uint8_t kind = 0;
  Bytes bytes;
  bool is_last = false;
};

class Collector {
 public:
  // The others outlive it. `report`: hosts, measurements, incidents and findings are filled.
  Collector(const CollectorOptions& options, Campaign& campaign, Listener& listener, Report& report,
            Nanoseconds time);

  void handle_join(MemberId member, const Join& join, Nanoseconds time);
  // It came and was not let in; or what starts it says that it cannot come.
  void handle_refusal(MemberId member, HostState state, const std::string& reason,
                      Nanoseconds time);
  void handle_message(MemberId member, const process::Received& received, Nanoseconds time);
  // Its connection has ended.
  void handle_loss(MemberId member, const std::string& reason, Nanoseconds time);
  void handle_time(Nanoseconds time);
  // The step under way is the last one.
  void interrupt(Nanoseconds time);

  std::optional<Outgoing> poll_transmit();
  Nanoseconds next_timeout() const;
  // Members are still expected, or open their devices.
  bool is_gathering() const { return stage_ == Stage::kGathering; }
  bool has_finished() const { return stage_ == Stage::kFinished; }

 private:
  enum class Stage : std::uint8_t { kGathering, kStep, kExamining, kFinished };

  template <typename Message>
  void send(MemberId member, const Message& message, bool is_last = false);
  void lose(HostIndex host, HostState state, const std::string& problem);
  void take_ready(MemberId member, const process::Received& received);
  void take_step(MemberId member, const process::Received& received);
  void take_examined(MemberId member, const process::Received& received);

  // What follows once nobody is waited for.
  void go_on(Nanoseconds time);
  void end_gathering(Nanoseconds time);
  void begin_next_round(Nanoseconds time);
  void begin_phase(Phase phase, Nanoseconds time);
  void end_round(Nanoseconds time);
  void begin_examination(Nanoseconds time);
  void finish(Nanoseconds time);
  bool is_waiting() const { return !waiting_.is_empty(); }
  Nanoseconds step_limit() const;
  Error nonsense(MemberId member, const Error& error) const;

  const CollectorOptions options_;
  Campaign& campaign_;
  Listener& listener_;
  Report& report_;
  Roster roster_;
  const Nanoseconds start_;

  Stage stage_ = Stage::kGathering;
  Nanoseconds deadline_ = 0;
  std::vector<Nanoseconds> opening_since_;  // of each member; 0: it has not joined
  MemberSet waiting_;                       // that have not answered the step
  std::unique_ptr<RoundRun> run_;
  std::vector<MemberId> taking_part_;  // in the round
  Phase phase_ = Phase::kConnect;
  StepDone answer_;  // the last one: its memory is used again for the next
  bool is_interrupted_ = false;
  std::deque<Outgoing> outgoing_;
};

}  // namespace gdr::fabric
