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
      ways_.push_back(std::move(way));
    }
  }
}

std::map<MemberId, Connect> RoundRun::connects() const {
  std::map<MemberId, Connect> all;
  for (std::size_t at = 0; at < sends_.size(); ++at) {
    if (sends_[at] < 0 && receives_[at] < 0) continue;
    Part part;
    part.self = static_cast<HostIndex>(at / rails_);
    part.rail = static_cast<std::uint16_t>(at % rails_);
    if (sends_[at] >= 0) {
      const Way& way = ways_[static_cast<std::size_t>(sends_[at])];
      part.has_to = true;
      part.to = way.edge.to;
      part.far_rail = way.far_rail;
      part.to_address = roster_.address_of(way.edge.to, way.far_rail);
    }
    if (receives_[at] >= 0) {
      const Way& way = ways_[static_cast<std::size_t>(receives_[at])];
      part.has_from = true;
      part.from = way.edge.from;
      part.near_rail = way.rail;
      part.from_address = roster_.address_of(way.edge.from, way.rail);
    }
    Connect& connect = all[roster_.member_of(part.self, part.rail)];
    connect.round = round_.number;
    connect.parts.push_back(part);
  }
  return all;
}

std::vector<HostIndex> RoundRun::partners_of(HostIndex host) const {
  std::vector<HostIndex> partners;
  for (const Edge& edge : round_.edges) {
    if (edge.from == host) partners.push_back(edge.to);
    if (edge.to == host) partners.push_back(edge.from);
  }
  std::ranges::sort(partners);
  partners.erase(std::ranges::unique(partners).begin(), partners.end());
  return partners;
}

void RoundRun::take_sent(Way& way, Phase phase, const RailResult& result) {
  if (result.code != 0) {
    way.note(Outcome::kFailed, fmt::format("{}: {}", step_text(phase), said(result.problem)));
    return;
  }
  // No speed and no latency is as large as that; a larger one does not fit into a float.
  if (!std::isfinite(result.value) || result.value < 0 || result.value > 1e18) return;
  if (phase == Phase::kLatency) way.latency = static_cast<float>(result.value);
  if (phase == Phase::kBandwidth) way.bytes_per_second = static_cast<float>(result.value);
}

void RoundRun::take_received(Way& way, const RailResult& result) {
  using Kind = participants::Damage::Kind;
  if (result.received_code != 0) {
    way.note(Outcome::kFailed, "proof: " + said(result.received_problem));
    return;
  }
  way.was_examined = true;
  if (result.damage.kind != Kind::kIntact) {
    // Whatever the sender says besides: bytes that are wrong are the worst.
    way.outcome = Outcome::kWrongBytes;
    way.problem = participants::describe(result.damage);
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
    if (sent >= 0) take_sent(ways_[static_cast<std::size_t>(sent)], done.phase, result);
    if (received < 0) continue;
    Way& way = ways_[static_cast<std::size_t>(received)];
    if (done.phase == Phase::kProve) take_received(way, result);
    // A receiver that could not connect: its sender cannot know why.
    if (done.phase == Phase::kConnect && result.received_code != 0) {
      way.note(Outcome::kFailed, "connecting: " + said(result.received_problem));
    }
  }
  return {};
}

void RoundRun::finish(Report& report) const {
  for (const Way& way : ways_) {
    Measurement measurement;
    measurement.from = way.edge.from;
    measurement.to = way.edge.to;
    measurement.round = round_.number;
    measurement.rail = way.rail;
    measurement.far_rail = way.far_rail;
    measurement.is_retest = round_.is_retest;
    measurement.outcome = way.outcome;
    std::string problem = way.problem;
    const bool lost = !roster_.is_there(way.edge.from) || !roster_.is_there(way.edge.to);
    if (lost && way.outcome != Outcome::kWrongBytes) {
      measurement.outcome = Outcome::kAbandoned;
    } else if (!lost && way.outcome == Outcome::kProved && !way.was_examined) {
      measurement.outcome = Outcome::kFailed;
      problem = "proof: the receiver has not compared the bytes";
    }
    if (measurement.outcome == Outcome::kProved) {
      measurement.bytes_per_second = way.bytes_per_second;
      measurement.latency = way.latency;
    } else if (measurement.outcome != Outcome::kAbandoned) {
      report.incidents.push_back(
          {way.edge.from, way.edge.to, round_.number, way.rail, std::move(problem)});
    }
    report.measurements.push_back(measurement);
  }
}

}  // namespace gdr::fabric
