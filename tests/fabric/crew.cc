#include "crew.h"

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <stdexcept>

#include "soon.h"

namespace gdr::fabric::test {
namespace {

constexpr Nanoseconds kPatience = gdr::test::kLastResort;

template <typename T>
T require(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + result.error().message);
  return *std::move(result);
}
void require(const Result<void>& result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + result.error().message);
}

}  // namespace

Crew::Crew(std::uint32_t count, int faulty, const std::string& fault) {
  members_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (static_cast<int>(i) == faulty) setenv("GDR_FAULT", fault.c_str(), 1);
    process::Worker worker =
        require(process::Worker::start("/proc/self/exe", {"fabric-worker"}), "start");
    unsetenv("GDR_FAULT");
    auto talk = std::make_unique<Talk>(worker.take_socket());
    members_.push_back({std::move(worker), std::move(talk), {}});
  }
}

void Crew::begin(const Settings& settings) {
  const auto count = static_cast<std::uint32_t>(members_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    require(talk(i).send(Begin{settings, i, count, /*is_whole_host=*/false}), "begin");
  }
  for (std::uint32_t i = 0; i < count; ++i) await_ready(i);
}

void Crew::begin(std::uint32_t member, const Begin& begin) {
  require(talk(member).send(begin), "begin");
  await_ready(member);
}

void Crew::await_ready(std::uint32_t member) {
  const process::Received received = require(talk(member).receive_any(kPatience), "ready");
  if (received.kind == Talk::number_of<Unable>()) {
    throw std::runtime_error(require(Talk::take<Unable>(received), "unable").reason);
  }
  members_.at(member).rails = require(Talk::take<Ready>(received), "ready").rails;
}

std::vector<Part> Crew::parts_of(std::uint32_t member, const std::vector<Edge>& edges) const {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < rails(member).size(); ++i) {
    Part part;
    part.rail = part.near_rail = part.far_rail = rails(member)[i].rail;
    part.self = member;
    for (const Edge& edge : edges) {
      if (edge.from == member) {
        part.has_to = true;
        part.to = edge.to;
        part.to_address = rails(edge.to).at(i).address;
      }
      if (edge.to == member) {
        part.has_from = true;
        part.from = edge.from;
        part.from_address = rails(edge.from).at(i).address;
      }
    }
    if (part.has_to || part.has_from) parts.push_back(part);
  }
  return parts;
}

void Crew::connect(std::uint32_t round, const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> taking_part;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const std::vector<Part> parts = parts_of(i, edges);
    if (parts.empty()) continue;
    taking_part.push_back(i);
    require(talk(i).send(Connect{round, parts}), "connect");
  }
  for (const std::uint32_t member : taking_part) {
    for (const RailResult& connected : results(member, Phase::kConnect)) {
      if (connected.code != 0) throw std::runtime_error("connect: " + connected.problem);
    }
  }
}

void Crew::start(std::uint32_t round, Phase phase, const std::vector<std::uint32_t>& members) {
  for (const std::uint32_t member : members) require(talk(member).send(Go{round, phase}), "go");
}

std::vector<RailResult> Crew::results(std::uint32_t member, Phase phase) {
  StepDone done = require(talk(member).receive<StepDone>(kPatience), "step");
  if (done.phase != phase) throw std::runtime_error("the answer is of another step");
  return std::move(done.results);
}

RailResult Crew::result(std::uint32_t member, Phase phase) {
  const std::vector<RailResult> all = results(member, phase);
  if (all.size() != 1) throw std::runtime_error("not the result of one rail");
  return all.front();
}

std::vector<RailResult> Crew::go(std::uint32_t round, Phase phase,
                                 const std::vector<std::uint32_t>& members) {
  start(round, phase, members);
  std::vector<RailResult> results;
  for (const std::uint32_t member : members) results.push_back(result(member, phase));
  return results;
}

void Crew::kill(std::uint32_t member) { ::kill(members_.at(member).worker.pid(), SIGKILL); }

}  // namespace gdr::fabric::test
