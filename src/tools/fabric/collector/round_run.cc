#include "fabric/collector/round_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fabric/collector/said.h"

namespace gdr::fabric {
namespace {

std::string_view step_text(Phase phase) {
  switch (phase) {
    case Phase::kConnect:
      return "connecting";
    case Phase::kProve:
      return "proof";
    case Phase::kLatency:
      return "latency";
    case Phase::kBandwidth:
      return "bandwidth";
  }
  return "";
}

// For all planned rounds at once: growing step by step would copy them all, and keep both copies.
void make_room(std::size_t more, Report& report) {
  std::vector<Measurement>& all = report.measurements;
  if (all.capacity() - all.size() >= more) return;
  const std::size_t left =
      report.rounds_planned - std::min(report.rounds_planned, report.rounds_done);
  constexpr std::size_t kMost = 4'000'000;  // of a longer run, later
  all.reserve(all.size() + std::max(more, std::min(more * left, kMost)));
}

}  // namespace

RoundRun::RoundRun(const Round& round, const Roster& roster, std::size_t hosts, std::uint16_t rails)
    : round_(round),
      roster_(roster),
      rails_(rails),
      sends_(hosts * rails, -1),
      receives_(hosts * rails, -1) {
  ways_.reserve(round.edges.size() * (round.only_rail ? 1u : rails));
  for (const Edge& edge : round.edges) {
    if (!roster.is_there(edge.from) || !roster.is_there(edge.to)) continue;
    for (std::uint16_t rail = 0; rail < rails; ++rail) {
      if (round.only_rail && rail != *round.only_rail) continue;
      const auto far = static_cast<std::uint16_t>((rail + round.rail_shift) % rails);
      sent_by(edge.from, rail) = received_by(edge.to, far) =
          static_cast<std::int32_t>(ways_.size());
      Way way;
      way.edge = edge;
      way.rail = rail;
      way.far_rail = far;
      ways_.push_back(way);
    }
  }
}

Part RoundRun::part_of(HostIndex host, std::uint16_t rail) const {
  Part part;
  part.self = host;
  part.rail = rail;
  if (const std::int32_t sent = sent_by(host, rail); sent >= 0) {
    const Way& way = ways_[static_cast<std::size_t>(sent)];
    part.has_to = true;
    part.to = way.edge.to;
    part.far_rail = way.far_rail;
    part.to_address = roster_.address_of(way.edge.to, way.far_rail);
  }
  if (const std::int32_t received = received_by(host, rail); received >= 0) {
    const Way& way = ways_[static_cast<std::size_t>(received)];
    part.has_from = true;
    part.from = way.edge.from;
    part.near_rail = way.rail;
    part.from_address = roster_.address_of(way.edge.from, way.rail);
  }
  return part;
}

void RoundRun::each_connect(const std::function<void(MemberId, const Connect&)>& tell) const {
  Connect connect;  // one for all, so that its memory is taken once
  connect.round = round_.number;
  const auto hosts = static_cast<HostIndex>(sends_.size() / rails_);
  for (HostIndex host = 0; host < hosts; ++host) {
    for (const MemberId member : roster_.members_of(host)) {
      connect.parts.clear();
      for (std::uint16_t rail = 0; rail < rails_; ++rail) {
        if (sent_by(host, rail) < 0 && received_by(host, rail) < 0) continue;
        if (roster_.member_of(host, rail) == member) connect.parts.push_back(part_of(host, rail));
      }
      if (!connect.parts.empty()) tell(member, connect);
    }
  }
}

std::vector<HostIndex> RoundRun::partners_of(HostIndex host) const {
  std::vector<HostIndex> partners;
  for (const Edge& edge : round_.edges) {
    if (edge.from == host) partners.push_back(edge.to);
    if (edge.to == host) partners.push_back(edge.from);
  }
  std::ranges::sort(partners);
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

void RoundRun::note_failure(std::size_t way, std::string why) {
  if (ways_[way].outcome != Outcome::kProved) return;
  ways_[way].outcome = Outcome::kFailed;
  problems_[way] = std::move(why);
}

void RoundRun::take_sent(std::size_t way, Phase phase, const RailResult& result) {
  if (result.code != 0) {
    return note_failure(way, fmt::format("{}: {}", step_text(phase), said(result.problem)));
  }
  // No speed and no latency is as large as that; a larger one does not fit into a float.
  if (!std::isfinite(result.value) || result.value < 0 || result.value > 1e18) return;
  if (phase == Phase::kLatency) ways_[way].latency = static_cast<float>(result.value);
  if (phase == Phase::kBandwidth) ways_[way].bytes_per_second = static_cast<float>(result.value);
}

void RoundRun::take_received(std::size_t way, const RailResult& result) {
  using Kind = participants::Damage::Kind;
  if (result.received_code != 0) {
    return note_failure(way, "proof: " + said(result.received_problem));
  }
  ways_[way].was_examined = true;
  if (result.damage.kind != Kind::kIntact) {
    // Whatever the sender says besides: bytes that are wrong are the worst.
    ways_[way].outcome = Outcome::kWrongBytes;
    problems_[way] = participants::describe(result.damage);
  }
}

std::vector<RoundRun::Deserted> RoundRun::deserted_by(HostIndex sender,
                                                      const StepDone& done) const {
  std::vector<Deserted> all;
  if (done.phase != Phase::kProve) return all;  // nobody waits for the other side in other steps
  for (const RailResult& result : done.results) {
    const std::int32_t sent = sent_by(sender, result.rail);
    if (result.code == 0 || sent < 0) continue;
    const Way& way = ways_[static_cast<std::size_t>(sent)];
    all.push_back({way.edge.to, sender, way.far_rail});
  }
  return all;
}

Result<void> RoundRun::take(HostIndex host, const StepDone& done) {
  for (const RailResult& result : done.results) {
    if (result.rail >= rails_ || done.round != round_.number) {
      return Error{EPROTO, "it answers what it was not asked"};
    }
    const std::int32_t sent = sent_by(host, result.rail), received = received_by(host, result.rail);
    if (sent >= 0) take_sent(static_cast<std::size_t>(sent), done.phase, result);
    if (received < 0) continue;
    const auto way = static_cast<std::size_t>(received);
    if (done.phase == Phase::kProve) take_received(way, result);
    // A receiver that could not connect: its sender cannot know why.
    if (done.phase == Phase::kConnect && result.received_code != 0) {
      note_failure(way, "connecting: " + said(result.received_problem));
    }
  }
  return {};
}

void RoundRun::finish(Report& report) const {
  make_room(ways_.size(), report);
  for (std::size_t place = 0; place < ways_.size(); ++place) {
    const Way& way = ways_[place];
    Measurement measurement;
    measurement.from = way.edge.from;
    measurement.to = way.edge.to;
    measurement.round = round_.number;
    measurement.rail = way.rail;
    measurement.far_rail = way.far_rail;
    measurement.is_retest = round_.is_retest;
    measurement.outcome = way.outcome;
    const bool lost = !roster_.is_there(way.edge.from) || !roster_.is_there(way.edge.to);
    if (lost && way.outcome != Outcome::kWrongBytes) {
      measurement.outcome = Outcome::kAbandoned;
    } else if (!lost && way.outcome == Outcome::kProved && !way.was_examined) {
      measurement.outcome = Outcome::kFailed;
    }
    if (measurement.outcome == Outcome::kProved) {
      measurement.bytes_per_second = way.bytes_per_second;
      measurement.latency = way.latency;
    } else if (measurement.outcome != Outcome::kAbandoned) {
      const auto problem = problems_.find(place);
      report.incidents.push_back({way.edge.from, way.edge.to, round_.number, way.rail,
                                  problem == problems_.end()
                                      ? "proof: the receiver has not compared the bytes"
                                      : problem->second});
    }
    report.measurements.push_back(measurement);
  }
}

}  // namespace gdr::fabric
