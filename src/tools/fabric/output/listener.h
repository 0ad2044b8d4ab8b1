// Listener: told what happens during a run, by whoever carries it out, for whoever shows or keeps
// it. Each call has the report as it stands: hosts, rails and measurements so far.
//
//   Live live(stderr, text::Style::of(stderr));
//   JsonLines lines(file, provenance);
//   Listeners both({&live, &lines});
//   both.on_begin(report);
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fabric/report.h"
#include "fabric/round.h"

namespace gdr::fabric {

class Listener {
 public:
  virtual ~Listener() = default;
  // Once, before the first round: the hosts that are expected, the rails and the rounds planned.
  virtual void on_begin(const Report&) {}
  // That host joined, or its state changed. May come before on_begin.
  virtual void on_host(const Report&, HostIndex) {}
  virtual void on_round_begin(const Report&, const Round&) {}
  // What the round that is done found. It is part of the report already.
  virtual void on_round(const Report&, const Round&, std::span<const Measurement>,
                        std::span<const Incident>) {}
  // Who stands out so far.
  virtual void on_judged(const Report&, std::span<const Finding>) {}
  // The suspects are now measured again, in so many rounds.
  virtual void on_retests(const Report&, std::uint32_t) {}
  // Time passes, and nothing has happened: as often as one likes.
  virtual void on_waiting(const Report&) {}
  // Once, also where the run was interrupted. The findings of the report are the final ones.
  virtual void on_end(const Report&) {}
};

class Listeners : public Listener {
 public:
  explicit Listeners(std::vector<Listener*> listeners) : listeners_(std::move(listeners)) {}

  void on_begin(const Report& report) override {
    for (Listener* one : listeners_) one->on_begin(report);
  }
  void on_host(const Report& report, HostIndex host) override {
    for (Listener* one : listeners_) one->on_host(report, host);
  }
  void on_round_begin(const Report& report, const Round& round) override {
    for (Listener* one : listeners_) one->on_round_begin(report, round);
  }
  void on_round(const Report& report, const Round& round, std::span<const Measurement> found,
                std::span<const Incident> incidents) override {
    for (Listener* one : listeners_) one->on_round(report, round, found, incidents);
  }
  void on_judged(const Report& report, std::span<const Finding> suspects) override {
    for (Listener* one : listeners_) one->on_judged(report, suspects);
  }
  void on_retests(const Report& report, std::uint32_t rounds) override {
    for (Listener* one : listeners_) one->on_retests(report, rounds);
  }
  void on_waiting(const Report& report) override {
    for (Listener* one : listeners_) one->on_waiting(report);
  }
  void on_end(const Report& report) override {
    for (Listener* one : listeners_) one->on_end(report);
  }

 private:
  std::vector<Listener*> listeners_;
};

}  // namespace gdr::fabric
