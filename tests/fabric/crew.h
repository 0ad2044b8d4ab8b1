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

  // All of them are ready.
  void begin(const Settings& settings);
  // The rails of both ends of all edges; the results of all that take part are well.
  void connect(std::uint32_t round, const std::vector<Edge>& edges);
  std::vector<RailResult> go(std::uint32_t round, Phase phase,
                             const std::vector<std::uint32_t>& members);

  // The parts of these two.
  void start(std::uint32_t round, Phase phase, const std::vector<std::uint32_t>& members);
  RailResult result(std::uint32_t member, Phase phase);

  Talk& talk(std::uint32_t member) { return *members_.at(member).talk; }
  const MemberRail& rail(std::uint32_t member) const { return members_.at(member).rail; }
  pid_t pid(std::uint32_t member) const { return members_.at(member).worker.pid(); }
  void kill(std::uint32_t member);
  // Closes the collector's end.
  void hang_up(std::uint32_t member) { members_.at(member).talk.reset(); }

 private:
  struct Member {
    process::Worker worker;
    std::unique_ptr<Talk> talk;  // goes first, which asks the process to end
    MemberRail rail;
  };
  std::vector<Member> members_;
};

}  // namespace gdr::fabric::test
