// Crew: processes that own rails (fabric/worker/serve.h), each standing for a host with one rail,
// and the collector's part of the conversation with them.
//
//   Crew crew(3);
//   crew.begin(settings);
//   crew.connect(0, {{0, 1}, {1, 0}});
//   std::vector<RailResult> results = crew.go(0, Phase::kProve, {0, 1});
//
// Every wait is bounded; what is not as it should be throws, which fails the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/messages.h"
#include "fabric/round.h"
#include "process/worker.h"

namespace gdr::fabric::test {

class Crew {
 public:
  // `faulty`: the one process that has this fault (GDR_FAULT), and which.
  explicit Crew(std::uint32_t count, int faulty = -1, const std::string& fault = "");

  // All of them are ready, each with its share of the machine's ports.
  void begin(const Settings& settings);
  // One of them, alone.
  void begin(std::uint32_t member, const Begin& begin);
  // Rail r of a host with rail r of the other, at both ends of all edges. All that take part are
  // well.
  void connect(std::uint32_t round, const std::vector<Edge>& edges);
  // Of members with one rail.
  std::vector<RailResult> go(std::uint32_t round, Phase phase,
                             const std::vector<std::uint32_t>& members);

  // The two halves of it.
  void start(std::uint32_t round, Phase phase, const std::vector<std::uint32_t>& members);
  RailResult result(std::uint32_t member, Phase phase);
  std::vector<RailResult> results(std::uint32_t member, Phase phase);

  Talk& talk(std::uint32_t member) { return *members_.at(member).talk; }
  const std::vector<MemberRail>& rails(std::uint32_t member) const {
    return members_.at(member).rails;
  }
  pid_t pid(std::uint32_t member) const { return members_.at(member).worker.pid(); }
  void kill(std::uint32_t member);
  // Closes the collector's end.
  void hang_up(std::uint32_t member) { members_.at(member).talk.reset(); }

 private:
  struct Member {
    process::Worker worker;
    std::unique_ptr<Talk> talk;  // goes first, which asks the process to end
    std::vector<MemberRail> rails;
  };
  void await_ready(std::uint32_t member);
  std::vector<Part> parts_of(std::uint32_t member, const std::vector<Edge>& edges) const;

  std::vector<Member> members_;
};

}  // namespace gdr::fabric::test
