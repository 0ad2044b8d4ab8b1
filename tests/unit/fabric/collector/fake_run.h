// FakeRun: a collector with members made up by a test: no sockets, no devices, a clock that stands
// still until the test moves it.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "fabric/collector/collector.h"

namespace gdr::fabric {

// A list of rounds, and no judgement of its own.
class FakeCampaign : public Campaign {
 public:
  explicit FakeCampaign(std::vector<Round> rounds) : rounds_(std::move(rounds)) {}
  void begin(Report& report) override {
    report.rounds_planned = static_cast<std::uint32_t>(rounds_.size());
  }
  std::optional<Round> next(Report&) override {
    if (at_ == rounds_.size()) return std::nullopt;
    return rounds_[at_++];
  }
  void judge(Report& report) override {
    ++judged;
    report.findings = findings;
  }

  int judged = 0;
  std::vector<Finding> findings;

 private:
  std::vector<Round> rounds_;
  std::size_t at_ = 0;
};

inline Round pairs(std::uint32_t number, std::vector<Edge> edges) {
  Round round;
  round.number = number;
  round.edges = std::move(edges);
  return round;
}

class FakeRun {
 public:
  FakeRun(std::vector<std::string> hosts, std::vector<Round> rounds,
          bool processes_as_hosts = false)
      : campaign(std::move(rounds)) {
    for (std::uint32_t i = 0; i < hosts.size(); ++i) options.expected.push_back({hosts[i], i});
    options.processes_as_hosts = processes_as_hosts;
  }

  void start() { collector.emplace(options, campaign, listener, report, time); }

  Join join_of(MemberId member) const {
    Join join;
    join.host = options.expected[member].host;
    join.machine = "machine " + std::to_string(member);
    return join;
  }
  void join(MemberId member) { collector->handle_join(member, join_of(member), time); }
  void join_all() {
    for (MemberId member = 0; member < options.expected.size(); ++member) join(member);
  }

  template <typename Message>
  void say(MemberId member, const Message& message) {
    collector->handle_message(member, {Talk::number_of<Message>(), process::encode(message)}, time);
  }

  // What has been sent, message by message; each is answered as a good member does, but by those
  // in `silent`.
  void exchange() {
    while (std::optional<Outgoing> out = collector->poll_transmit()) {
      sent.push_back(*out);
      if (silent.contains(out->member)) continue;
      if (out->kind == Talk::number_of<Begin>()) {
        say(out->member, ready_of(out->member));
      } else if (out->kind == Talk::number_of<Connect>()) {
        connects[out->member] = *process::decode<Connect>(out->bytes);
        answer(out->member, connects[out->member].round, Phase::kConnect);
      } else if (out->kind == Talk::number_of<Go>()) {
        const Go go = *process::decode<Go>(out->bytes);
        answer(out->member, go.round, go.phase);
      } else if (out->kind == Talk::number_of<Examine>()) {
        say(out->member, examined);
      }
    }
  }
  Ready ready_of(MemberId member) const {
    Ready ready;
    for (std::uint16_t rail = 0; rail < rails; ++rail) {
      MemberRail one;
      one.rail = rail;
      one.nic = "mlx5_" + std::to_string(rail);
      one.address.rkey = member * 100 + rail;
      ready.rails.push_back(one);
    }
    return ready;
  }
  void answer(MemberId member, std::uint32_t round, Phase phase) {
    StepDone done;
    done.round = round;
    done.phase = phase;
    for (const Part& part : connects[member].parts) {
      RailResult result;
      result.rail = part.rail;
      if (phase == Phase::kLatency) result.value = 2000;
      if (phase == Phase::kBandwidth) result.value = 1e9;
      if (on_answer) on_answer(member, phase, result);
      done.results.push_back(result);
    }
    say(member, done);
  }

  std::size_t count_sent(MemberId member, std::uint8_t kind) const {
    std::size_t count = 0;
    for (const Outgoing& one : sent) count += one.member == member && one.kind == kind;
    return count;
  }

  CollectorOptions options;
  FakeCampaign campaign;
  Listener listener;
  Report report;
  Nanoseconds time = 1000 * kSecond;
  std::uint16_t rails = 1;
  std::set<MemberId> silent;
  std::function<void(MemberId, Phase, RailResult&)> on_answer;
  Examined examined;
  std::map<MemberId, Connect> connects;
  std::vector<Outgoing> sent;
  std::optional<Collector> collector;
};

}  // namespace gdr::fabric
