#include "fabric_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gdr::fabric {
namespace {

constexpr Nanoseconds kJoining = 500 * kMillisecond;  // everybody joins within this time
constexpr Nanoseconds kOpening = 200 * kMillisecond;
// As the collector's settings have it: then a member gives a step up.
constexpr Nanoseconds kStepLimit = 10 * kSecond;
constexpr Nanoseconds kJitter = 3 * kMillisecond;  // between the first and the last answer
// So many answers are put together before the collector sees them.
constexpr std::size_t kBatch = 256;

Nanoseconds length_of(Phase phase) {
  switch (phase) {
    case Phase::kConnect:
      return 5 * kMillisecond;
    case Phase::kProve:
      return 10 * kMillisecond;
    case Phase::kLatency:
      return 20 * kMillisecond;
    case Phase::kBandwidth:
      return 100 * kMillisecond;
  }
  return 0;
}

template <typename Message>
process::Received message(const Message& content) {
  return {Talk::number_of<Message>(), process::encode(content)};
}

Flow sent_by(const Part& part) { return {part.self, part.to, part.rail, part.far_rail}; }
Flow received_by(const Part& part) { return {part.from, part.self, part.near_rail, part.rail}; }

}  // namespace

FabricRun::FabricRun(const FabricModel& model, PlanOptions options)
    : fabric(model),
      plan(std::move(options)),
      model_(model),
      members_(model.hosts),
      random_(model.seed * 31 + 5) {
  plan.seed = model.seed;
  plan.topology.topology_conf = fabric.topology_conf();
}

void FabricRun::run() {
  Listener nobody;
  Plan own(plan, nobody);
  Meter none;
  run(own, nobody, none);
}

void FabricRun::run(Campaign& campaign, Listener& listener, Meter& meter) {
  CollectorOptions options;
  for (HostIndex host = 0; host < model_.hosts; ++host) {
    options.expected.push_back({fabric.name_of(host), host});
    const bool comes = std::ranges::none_of(losses, [&](const LossOfMember& loss) {
      return loss.host == host && loss.how == HostState::kNeverCame;
    });
    if (comes) schedule(host, What::kJoin, random_.below(kJoining));
  }
  for (Member& member : members_) member.connect.parts.reserve(model_.rails);
  report.launcher = "srun, PMIx 4.2.2";
  meter.enter();
  std::optional<Collector> collector;
  collector.emplace(options, campaign, listener, report, time_);
  meter.leave();
  std::vector<Outgoing> sent;
  while (!collector->has_finished()) {
    feed(&*collector, meter);
    meter.enter();
    while (std::optional<Outgoing> out = collector->poll_transmit())
      sent.push_back(*std::move(out));
    meter.leave();
    for (const Outgoing& out : sent) deliver(out);
    sent.clear();
  }
}

// What comes next: some messages, a loss, or a time that is over.
void FabricRun::feed(Collector* collector, Meter& meter) {
  std::vector<std::pair<Event, process::Received>> arrived;
  meter.enter();
  const Nanoseconds limit = collector->next_timeout();
  meter.leave();
  while (arrived.size() < kBatch && !events_.empty() && events_.top().time <= limit) {
    const Event event = events_.top();
    events_.pop();
    if (is_stale(event)) continue;
    if (waits_in_vain(event)) {
      Event later = event;
      later.time = members_[event.member].step_began + kStepLimit;
      events_.push(later);
      continue;
    }
    arrived.emplace_back(event, say(event));
  }
  meter.enter();
  if (arrived.empty()) {
    time_ = limit;
    collector->handle_time(time_);
  }
  for (const auto& [event, received] : arrived) {
    time_ = event.time;
    if (event.what == What::kLoss) {
      collector->handle_loss(event.member, "killed by signal 9 (Killed)", time_);
    } else if (event.what == What::kJoin) {
      Join join;
      join.host = fabric.name_of(event.member);
      join.machine = "machine of " + join.host;
      collector->handle_join(event.member, join, time_);
    } else {
      collector->handle_message(event.member, received, time_);
    }
  }
  meter.leave();
}

void FabricRun::schedule(MemberId member, What what, Nanoseconds after, Phase phase) {
  events_.push(
      {time_ + after, events_made_++, member, what, members_[member].connect.round, phase});
}

void FabricRun::deliver(const Outgoing& out) {
  Member& member = members_[out.member];
  if (member.is_silent) return;
  if (out.kind == Talk::number_of<Begin>()) {
    schedule(out.member, What::kReady, kOpening + random_.below(kOpening));
  } else if (out.kind == Talk::number_of<Connect>()) {
    member.connect = *process::decode<Connect>(out.bytes);
    member.abandoned.clear();
    begin_step(out.member, Phase::kConnect);
  } else if (out.kind == Talk::number_of<Go>()) {
    begin_step(out.member, process::decode<Go>(out.bytes)->phase);
  } else if (out.kind == Talk::number_of<Abandon>()) {
    member.abandoned.push_back(process::decode<Abandon>(out.bytes)->host);
    // It may have waited for that host.
    if (member.answering) schedule(out.member, What::kStep, kMillisecond, *member.answering);
  } else if (out.kind == Talk::number_of<Examine>()) {
    schedule(out.member, What::kExamined, kSecond);
  } else if (out.kind == Talk::number_of<Finish>()) {
    member.answering.reset();
  }
}

void FabricRun::begin_step(MemberId id, Phase phase) {
  Member& member = members_[id];
  member.answering = phase;
  member.step_began = time_;
  if (const LossOfMember* loss = loss_of(id, member.connect.round, phase)) {
    member.is_silent = true;
    member.answering.reset();
    if (loss->how == HostState::kDied) schedule(id, What::kLoss, length_of(phase) / 2);
    return;
  }
  schedule(id, What::kStep, length_of(phase) + random_.below(kJitter), phase);
}

const LossOfMember* FabricRun::loss_of(MemberId member, std::uint32_t round, Phase phase) const {
  const auto found = std::ranges::find_if(losses, [&](const LossOfMember& loss) {
    return loss.host == member && loss.how != HostState::kNeverCame &&
           (round > loss.round || (round == loss.round && phase >= loss.phase));
  });
  return found == losses.end() ? nullptr : &*found;
}

// Whoever waits for a silent member gives up when the time of the step is over, or when the
// collector says that the other side is lost.
bool FabricRun::waits_in_vain(const Event& event) const {
  const Member& member = members_[event.member];
  if (event.what != What::kStep || event.phase == Phase::kConnect) return false;
  if (event.time >= member.step_began + kStepLimit) return false;
  const auto is_missing = [&](HostIndex host) {
    return members_[host].is_silent &&
           std::ranges::find(member.abandoned, host) == member.abandoned.end();
  };
  return std::ranges::any_of(member.connect.parts, [&](const Part& part) {
    return (part.has_to && is_missing(part.to)) || (part.has_from && is_missing(part.from));
  });
}

bool FabricRun::is_stale(const Event& event) const {
  const Member& member = members_[event.member];
  return event.what == What::kStep &&
         (member.answering != event.phase || member.connect.round != event.round);
}

process::Received FabricRun::say(const Event& event) {
  switch (event.what) {
    case What::kReady:
      return message(ready_of(event.member));
    case What::kStep:
      return message(step_of(event.member, event.phase));
    case What::kExamined:
      return message(Examined{});
    case What::kJoin:
    case What::kLoss:
      break;
  }
  return {};
}

Ready FabricRun::ready_of(MemberId member) const {
  Ready ready;
  for (std::uint16_t rail = 0; rail < model_.rails; ++rail) {
    MemberRail one;
    one.rail = rail;
    one.nic = fmt::format("mlx5_{}", rail);
    one.gpu = fmt::format("GPU {}", rail);
    one.link_bits_per_second = model_.link;
    one.gid = fmt::format("fe80::{:x}:{:x}", member, rail);
    one.address.outgoing = member * 64 + rail;
    one.address.rkey = member;
    ready.rails.push_back(std::move(one));
  }
  return ready;
}

// The flows of a round are known when all have been told whom they meet.
void FabricRun::share_links(std::uint32_t round) {
  fabric.begin_round(round);
  for (const Member& member : members_) {
    if (member.connect.round != round) continue;
    for (const Part& part : member.connect.parts) {
      if (part.has_to) fabric.add(sent_by(part));
    }
  }
}

StepDone FabricRun::step_of(MemberId id, Phase phase) {
  Member& member = members_[id];
  if (shared_in_ != member.connect.round && phase != Phase::kConnect) {
    shared_in_ = member.connect.round;
    share_links(*shared_in_);
  }
  member.answering.reset();
  StepDone done;
  done.round = member.connect.round;
  done.phase = phase;
  done.results.reserve(member.connect.parts.size());
  for (const Part& part : member.connect.parts)
    done.results.push_back(result_of(member, part, phase));
  return done;
}

RailResult FabricRun::result_of(const Member& member, const Part& part, Phase phase) const {
  RailResult result;
  result.rail = part.rail;
  if (phase == Phase::kConnect) return result;
  const auto is_lost = [&](HostIndex host) { return members_[host].is_silent; };
  if (part.has_to && is_lost(part.to)) {
    const bool was_told = std::ranges::find(member.abandoned, part.to) != member.abandoned.end();
    result.code = was_told ? ECONNRESET : ETIMEDOUT;
    result.problem = "the other side is lost";
  } else if (part.has_to) {
    const Measurement m = fabric.measure(sent_by(part));
    if (m.outcome == Outcome::kFailed && phase == Phase::kProve) {
      result.code = EIO;
      result.problem = "transport retry counter exceeded";
    }
    if (phase == Phase::kLatency) result.value = static_cast<double>(m.latency);
    if (phase == Phase::kBandwidth) result.value = static_cast<double>(m.bytes_per_second);
  }
  if (!part.has_from || phase != Phase::kProve) return result;
  if (is_lost(part.from)) {
    result.received_code = ECONNRESET;
    result.received_problem = "the other side is lost";
  } else if (fabric.measure(received_by(part)).outcome == Outcome::kWrongBytes) {
    result.damage.kind = participants::Damage::Kind::kBitFlipped;
    result.damage.length = 4U << 20;
    result.damage.offset = 17;
  }
  return result;
}

}  // namespace gdr::fabric
