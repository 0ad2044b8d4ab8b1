#include "fabric/collector/collector.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/collector/examinations.h"
#include "fabric/collector/said.h"
#include "fabric/judge/judge.h"

namespace gdr::fabric {
namespace {

// A member ends its own step in time: what is on top of that is for the way there and back.
constexpr Nanoseconds kSlack = 5 * kSecond;
constexpr std::size_t kMostNotes = 1'000;
constexpr std::size_t kMostExamined = 32;  // hosts that are asked for their doctor's findings

std::uint64_t seconds_of(Nanoseconds time) { return (time + kSecond / 2) / kSecond; }

}  // namespace

Collector::Collector(const CollectorOptions& options, Campaign& campaign, Listener& listener,
                     Report& report, Nanoseconds time)
    : options_(options),
      campaign_(campaign),
      listener_(listener),
      report_(report),
      roster_(options.expected, options.processes_as_hosts, report.hosts),
      start_(time),
      opening_since_(options.expected.size()),
      waiting_(options.expected.size()) {
  deadline_ = time + options.join_limit;
  report_.processes_as_hosts = options.processes_as_hosts;
  report_.proof_bytes = options.settings.proof_bytes;
  report_.message_bytes = options.settings.message_bytes;
}

template <typename Message>
void Collector::send(MemberId member, const Message& message, bool is_last) {
  outgoing_.push_back({member, Talk::number_of<Message>(), process::encode(message), is_last});
}

std::optional<Outgoing> Collector::poll_transmit() {
  if (outgoing_.empty()) return std::nullopt;
  Outgoing next = std::move(outgoing_.front());
  outgoing_.pop_front();
  return next;
}

Nanoseconds Collector::step_limit() const {
  return options_.settings.step_milliseconds * kMillisecond + kSlack;
}

Error Collector::nonsense(MemberId member, const Error& error) const {
  return {EPROTO, fmt::format("rank {} sent what it should not: {}", member, error.message)};
}

void Collector::handle_join(MemberId member, const Join& join, Nanoseconds time) {
  if (stage_ == Stage::kFinished) return;
  if (stage_ != Stage::kGathering || roster_.state(member) == Roster::State::kGone) {
    // It would wait in vain until the run is over.
    return send(member,
                Failure{ETIMEDOUT, "the run goes on without this host; the report says why"}, true);
  }
  std::optional<HostIndex> twin;
  const Result<Begin> begin = roster_.join(member, join, options_.settings, twin);
  const HostIndex host = roster_.host_of(member);
  if (!begin) {
    lose(host, HostState::kLeftOut, begin.error().message);
    if (twin) lose(*twin, HostState::kLeftOut, begin.error().message);
    return go_on(time);
  }
  opening_since_[member] = time;
  listener_.on_host(report_, host);
  send(member, *begin);
}

void Collector::handle_refusal(MemberId member, HostState state, const std::string& reason,
                               Nanoseconds time) {
  if (stage_ == Stage::kFinished) return;
  lose(roster_.host_of(member), state, said(reason));
  go_on(time);
}

void Collector::handle_loss(MemberId member, const std::string& reason, Nanoseconds time) {
  if (stage_ == Stage::kFinished || roster_.state(member) == Roster::State::kGone) return;
  lose(roster_.host_of(member), HostState::kDied, said(reason));
  go_on(time);
}

void Collector::lose(HostIndex host, HostState state, const std::string& problem) {
  if (!roster_.is_there(host)) return;
  for (const MemberId member : roster_.members_of(host)) {
    waiting_.erase(member);
    if (roster_.state(member) != Roster::State::kExpected) send(member, Finish{}, true);
  }
  roster_.lose(host, state, problem);
  // What it said of its rails is nobody's.
  if (stage_ == Stage::kGathering) report_.hosts[host].rails.clear();
  if (run_) {
    report_.hosts[host].lost_in = run_->round().number;
    for (const HostIndex partner : run_->partners_of(host)) {
      if (!roster_.is_there(partner)) continue;
      for (const MemberId member : roster_.members_of(partner)) {
        send(member, Abandon{run_->round().number, host});
      }
    }
  }
  listener_.on_host(report_, host);
}

void Collector::handle_message(MemberId member, const process::Received& received,
                               Nanoseconds time) {
  if (stage_ == Stage::kFinished || roster_.state(member) == Roster::State::kGone) return;
  if (received.kind == Talk::number_of<Failure>()) {
    const Result<Failure> failure = process::decode<Failure>(received.bytes);
    lose(roster_.host_of(member), HostState::kDied,
         failure ? said(failure->text) : nonsense(member, failure.error()).message);
  } else if (received.kind == Talk::number_of<Ready>() ||
             received.kind == Talk::number_of<Unable>()) {
    take_ready(member, received);
  } else if (received.kind == Talk::number_of<StepDone>()) {
    take_step(member, received);
  } else if (received.kind == Talk::number_of<Examined>()) {
    take_examined(member, received);
  } else {
    lose(roster_.host_of(member), HostState::kDied,
         nonsense(member, process::unexpected(received.kind)).message);
  }
  go_on(time);
}

void Collector::take_ready(MemberId member, const process::Received& received) {
  const HostIndex host = roster_.host_of(member);
  if (received.kind == Talk::number_of<Unable>()) {
    const Result<Unable> unable = process::decode<Unable>(received.bytes);
    return lose(host, HostState::kLeftOut,
                unable ? said(unable->reason) : nonsense(member, unable.error()).message);
  }
  const Result<Ready> ready = process::decode<Ready>(received.bytes);
  const Result<void> taken =
      ready ? roster_.make_ready(member, *ready) : Result<void>(ready.error());
  if (taken) {
    for (const std::string& note : ready->notes) {
      if (report_.notes.size() == kMostNotes) break;
      report_.notes.push_back(report_.hosts[host].name + ": " + said(note));
    }
  }
  if (!taken) {
    lose(host, HostState::kLeftOut,
         taken.error().code == ENODEV ? taken.error().message
                                      : nonsense(member, taken.error()).message);
  }
}

void Collector::take_step(MemberId member, const process::Received& received) {
  const HostIndex host = roster_.host_of(member);
  process::Decoder decoder(received.bytes);
  answer_.visit(decoder);
  Result<void> taken;
  if (!decoder.complete()) {
    taken = Error{EBADMSG, "malformed message"};
  } else if (stage_ != Stage::kStep || answer_.phase != phase_ || !waiting_.contains(member)) {
    taken = Error{EPROTO, "it answers what it was not asked"};
  } else {
    taken = run_->take(host, answer_);
  }
  if (!taken) return lose(host, HostState::kDied, nonsense(member, taken.error()).message);
  waiting_.erase(member);
  for (const RoundRun::Deserted& rail : run_->deserted_by(host, answer_)) {
    const MemberId waits = roster_.member_of(rail.host, rail.rail);
    if (!waiting_.contains(waits)) continue;
    send(waits, Abandon{answer_.round, rail.sender, rail.rail});
  }
}

void Collector::take_examined(MemberId member, const process::Received& received) {
  const HostIndex host = roster_.host_of(member);
  Result<Examined> examined = process::decode<Examined>(received.bytes);
  if (!examined || stage_ != Stage::kExamining || !waiting_.erase(member)) {
    lose(host, HostState::kDied,
         nonsense(member, {EPROTO, "it answers what it was not asked"}).message);
    return;
  }
  tidy(&*examined, report_.hosts[host].rails.size());
  add_examination(&report_, host, *examined);
}

void Collector::handle_time(Nanoseconds time) {
  if (stage_ == Stage::kFinished) return;
  if (stage_ == Stage::kGathering) {
    for (MemberId member = 0; member < roster_.members(); ++member) {
      const Roster::State state = roster_.state(member);
      if (state == Roster::State::kExpected && time >= start_ + options_.join_limit) {
        lose(roster_.host_of(member), HostState::kNeverCame,
             fmt::format("rank {} did not join within {} s", member,
                         seconds_of(options_.join_limit)));
      }
      if (state == Roster::State::kOpening &&
          time >= opening_since_[member] + options_.open_limit) {
        lose(roster_.host_of(member), HostState::kHung,
             fmt::format("its devices were not open within {} s", seconds_of(options_.open_limit)));
      }
    }
  } else if (time >= deadline_) {
    for (const MemberId member : waiting_.all()) {
      // Nobody is lost because its doctor takes long.
      if (stage_ == Stage::kExamining) continue;
      lose(roster_.host_of(member), HostState::kHung,
           fmt::format("no answer within {} s in round {}", seconds_of(step_limit()),
                       run_->round().number + 1));
    }
    waiting_.clear();
  }
  go_on(time);
}

void Collector::interrupt(Nanoseconds time) {
  if (is_interrupted_ || stage_ == Stage::kFinished) return;
  is_interrupted_ = report_.is_interrupted = true;
  if (stage_ == Stage::kGathering) return finish(time);
  if (stage_ == Stage::kExamining) waiting_.clear();
  go_on(time);
}

Nanoseconds Collector::next_timeout() const {
  if (stage_ != Stage::kGathering) return deadline_;
  Nanoseconds next = start_ + options_.join_limit;
  bool is_expected = false;
  Nanoseconds opening = UINT64_MAX;
  for (MemberId member = 0; member < roster_.members(); ++member) {
    const Roster::State state = roster_.state(member);
    is_expected |= state == Roster::State::kExpected;
    if (state == Roster::State::kOpening) {
      opening = std::min(opening, opening_since_[member] + options_.open_limit);
    }
  }
  if (!is_expected) next = UINT64_MAX;
  return std::min(next, opening);
}

void Collector::go_on(Nanoseconds time) {
  switch (stage_) {
    case Stage::kGathering:
      if (roster_.is_settled()) end_gathering(time);
      return;
    case Stage::kStep:
      if (is_waiting()) return;
      if (phase_ == Phase::kBandwidth || is_interrupted_) return end_round(time);
      return begin_phase(static_cast<Phase>(static_cast<unsigned>(phase_) + 1), time);
    case Stage::kExamining:
      if (!is_waiting()) finish(time);
      return;
    case Stage::kFinished:
      return;
  }
}

void Collector::end_gathering(Nanoseconds time) {
  std::vector<bool> was_there(report_.hosts.size());
  for (HostIndex i = 0; i < report_.hosts.size(); ++i) was_there[i] = roster_.is_there(i);
  report_.rails = roster_.agree_on_rails();
  for (HostIndex i = 0; i < report_.hosts.size(); ++i) {
    if (was_there[i] == roster_.is_there(i)) continue;
    for (const MemberId member : roster_.members_of(i)) send(member, Finish{}, true);
    listener_.on_host(report_, i);
  }
  campaign_.begin(report_);
  listener_.on_begin(report_);
  begin_next_round(time);
}

void Collector::begin_next_round(Nanoseconds time) {
  while (!is_interrupted_) {
    const std::optional<Round> round = campaign_.next(report_);
    if (!round) break;
    run_ = std::make_unique<RoundRun>(*round, roster_, report_.hosts.size(),
                                      static_cast<std::uint16_t>(report_.rails.size()));
    if (run_->is_empty()) {
      run_.reset();
      ++(round->is_retest ? report_.retest_rounds : report_.rounds_done);
      continue;
    }
    listener_.on_round_begin(report_, *round);
    taking_part_.clear();
    stage_ = Stage::kStep;
    phase_ = Phase::kConnect;
    deadline_ = time + step_limit();
    run_->each_connect([&](MemberId member, const Connect& connect) {
      send(member, connect);
      waiting_.insert(member);
      taking_part_.push_back(member);
    });
    return;
  }
  run_.reset();
  begin_examination(time);
}

void Collector::begin_phase(Phase phase, Nanoseconds time) {
  phase_ = phase;
  deadline_ = time + step_limit();
  for (const MemberId member : taking_part_) {
    if (roster_.state(member) == Roster::State::kGone) continue;
    send(member, Go{run_->round().number, phase});
    waiting_.insert(member);
  }
  if (!is_waiting()) end_round(time);
}

void Collector::end_round(Nanoseconds time) {
  // An interrupted round was not measured to its end.
  if (!is_interrupted_ || phase_ == Phase::kBandwidth) {
    const std::size_t first = report_.measurements.size(), incident = report_.incidents.size();
    run_->finish(report_);
    ++(run_->round().is_retest ? report_.retest_rounds : report_.rounds_done);
    listener_.on_round(report_, run_->round(), std::span(report_.measurements).subspan(first),
                       std::span(report_.incidents).subspan(incident));
  }
  run_.reset();
  begin_next_round(time);
}

void Collector::begin_examination(Nanoseconds time) {
  campaign_.judge(report_);
  stage_ = Stage::kExamining;
  deadline_ = time + options_.doctor_limit;
  if (options_.ask_doctor && !is_interrupted_) {
    for (const HostIndex host : hosts_to_examine(report_, kMostExamined)) {
      const MemberId member = roster_.members_of(host).front();
      send(member, Examine{});
      waiting_.insert(member);
    }
  }
  go_on(time);
}

void Collector::finish(Nanoseconds time) {
  if (stage_ != Stage::kExamining) campaign_.judge(report_);
  stage_ = Stage::kFinished;
  report_.seconds = static_cast<double>(time - start_) / kSecond;
  for (MemberId member = 0; member < roster_.members(); ++member) {
    const Roster::State state = roster_.state(member);
    if (state == Roster::State::kOpening || state == Roster::State::kReady) {
      send(member, Finish{}, true);
    }
  }
  listener_.on_end(report_);
}

}  // namespace gdr::fabric
