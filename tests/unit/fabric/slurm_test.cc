#include "fabric/rendezvous/slurm.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <random>

#include "perf/dial.h"
#include "scratch_folder.h"
#include "soon.h"

namespace gdr::fabric {
namespace {

using Variables = std::map<std::string, std::string>;

Environment of(const Variables& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// As srun of Slurm 22.05 sets them for `srun --nodes=4 --ntasks=5`.
const Variables kStep = {{"SLURM_JOB_ID", "17"},
                         {"SLURM_STEP_ID", "2"},
                         {"SLURM_PROCID", "3"},
                         {"SLURM_NTASKS", "5"},
                         {"SLURM_NODEID", "2"},
                         {"SLURM_GTIDS", "3"},
                         {"SLURM_STEP_NODELIST", "n[1-4]"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2,1(x3)"}};

Variables step_with(const std::string& name, const std::string& value) {
  Variables variables = kStep;
  variables[name] = value;
  return variables;
}
Variables step_without(const std::string& name) {
  Variables variables = kStep;
  variables.erase(name);
  return variables;
}

std::vector<std::uint32_t> nodes_of(const SlurmStep& step) {
  std::vector<std::uint32_t> nodes;
  for (const Expected& one : step.job.expected) nodes.push_back(one.node);
  return nodes;
}

std::string error_of(const Variables& variables) {
  const Result<SlurmStep> step = slurm_step(of(variables));
  return step ? "no error" : step.error().message;
}

TEST(FabricSlurm, RanksOfAStepAreKnownWithTheirHosts) {
  const Result<SlurmStep> step = slurm_step(of(kStep));
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->job.rank, 3U);
  EXPECT_EQ(step->job.ranks, 5U);
  EXPECT_EQ(step->job.job_id, "17");
  EXPECT_EQ(step->job.launcher, "srun without PMIx");
  EXPECT_EQ(nodes_of(*step), (std::vector<std::uint32_t>{0, 0, 1, 2, 3}));
  EXPECT_EQ(step->job.expected[3].host, "n3");
  EXPECT_EQ(step->place.host, "n1");
}

TEST(FabricSlurm, ARankThatIsOnAnotherNodeThanInBlocksShowsThatTheyAreDealtOut) {
  // --distribution=cyclic: ranks 0 and 4 are on n1.
  Variables variables = step_with("SLURM_GTIDS", "3");
  variables["SLURM_NODEID"] = "3";
  const Result<SlurmStep> step = slurm_step(of(variables));
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(nodes_of(*step), (std::vector<std::uint32_t>{0, 1, 2, 3, 0}));
}

TEST(FabricSlurm, RanksOfAStepDeriveTheSamePortsAndThoseOfOthersOtherOnes) {
  const auto ports = [](const Variables& variables) {
    return slurm_step(of(variables))->place.ports;
  };
  const std::uint16_t first = kFirstSlurmPort + (17 * 16 + 2) * 4;
  EXPECT_EQ(ports(kStep), (std::vector<std::uint16_t>{first, static_cast<std::uint16_t>(first + 1),
                                                      static_cast<std::uint16_t>(first + 2),
                                                      static_cast<std::uint16_t>(first + 3)}));
  Variables other_rank = step_with("SLURM_PROCID", "0");
  other_rank["SLURM_NODEID"] = "0";
  other_rank["SLURM_GTIDS"] = "0,1";
  EXPECT_EQ(ports(other_rank), ports(kStep));
  EXPECT_GT(ports(step_with("SLURM_STEP_ID", "3")).front(), ports(kStep).back());
  EXPECT_GT(ports(step_with("SLURM_JOB_ID", "18")).front(), ports(kStep).back());
  for (const char* job : {"0", "156", "157", "4294967295"}) {
    for (const std::uint16_t port : ports(step_with("SLURM_JOB_ID", job))) {
      EXPECT_GE(port, kFirstSlurmPort) << job;
      EXPECT_LT(port, kFirstSlurmPort + kSlurmPorts) << job;
    }
  }
}

TEST(FabricSlurm, PortsThatTheClusterReservedAreTaken) {
  const auto ports = [](const char* reserved) {
    return slurm_step(of(step_with("SLURM_STEP_RESV_PORTS", reserved)))->place.ports;
  };
  EXPECT_EQ(ports("12003-12004,12009"), (std::vector<std::uint16_t>{12003, 12004, 12009}));
  EXPECT_EQ(ports("12009"), (std::vector<std::uint16_t>{12009}));
  EXPECT_EQ(ports("12000-12999").size(), kSlurmChoices);
}

TEST(FabricSlurm, VariablesThatAreMissingOrContradictEachOtherAreNamed) {
  for (const char* name : {"SLURM_NTASKS", "SLURM_NODEID", "SLURM_STEP_NODELIST",
                           "SLURM_STEP_TASKS_PER_NODE", "SLURM_JOB_ID"}) {
    EXPECT_TRUE(error_of(step_without(name)).starts_with(std::string(name) + ": not set"))
        << error_of(step_without(name));
  }
  const std::vector<std::pair<std::string, std::string>> kContradictions = {
      {"SLURM_NTASKS", "6"},
      {"SLURM_NTASKS", "0"},
      {"SLURM_PROCID", "5"},
      {"SLURM_PROCID", "-1"},
      {"SLURM_STEP_NODELIST", "n[1-"},
      {"SLURM_STEP_NODELIST", "n[1-3]"},
      {"SLURM_STEP_RESV_PORTS", "70000"}};
  for (const auto& [name, value] : kContradictions) {
    const std::string error = error_of(step_with(name, value));
    EXPECT_NE(error.find("try srun --mpi=pmix"), std::string::npos) << value << ": " << error;
  }
}

TEST(FabricSlurm, TasksPerNodeAreReadStrictly) {
  EXPECT_EQ(*tasks_per_node("2,1(x3)"), (std::vector<std::uint32_t>{2, 1, 1, 1}));
  EXPECT_EQ(*tasks_per_node("4"), (std::vector<std::uint32_t>{4}));
  for (const char* text :
       {"", "2,", "x3", "2(x", "2(x)", "2(x0)", "2(x3", "2(3)", "1(x99999999)", "-1", "2,1(x3) "}) {
    EXPECT_FALSE(tasks_per_node(text)) << text;
  }
}

TEST(FabricSlurm, ABatchScriptAndAShellOfSallocAreNoStep) {
  EXPECT_TRUE(is_slurm_step(of(kStep)));
  EXPECT_FALSE(is_slurm_step(of(step_without("SLURM_STEP_ID"))));
  EXPECT_FALSE(is_slurm_step(of(step_without("SLURM_PROCID"))));
  EXPECT_FALSE(is_slurm_step(of(step_with("SLURM_STEP_ID", "4294967291"))));  // batch
  EXPECT_FALSE(is_slurm_step(of(step_with("SLURM_STEP_ID", "4294967290"))));  // interactive
}

Error found_with(const Variables& variables) {
  FindOptions options;
  options.environment = of(variables);
  const Result<std::unique_ptr<Rendezvous>> found = find_rendezvous(options);
  return found ? Error{0, *found == nullptr ? "none" : (*found)->job().launcher} : found.error();
}

TEST(FabricRendezvous, WhatStartedTheProcessIsFoundByItsVariables) {
  EXPECT_EQ(found_with({}).message, "none");
  EXPECT_EQ(found_with(kStep).message, "srun without PMIx");
  for (const auto& [variable, name] :
       Variables{{"FLUX_TASK_RANK", "Flux"}, {"PALS_RANKID", "PALS"}, {"PMI_RANK", "MPICH"}}) {
    const Error error = found_with({{variable, "0"}});
    EXPECT_EQ(error.code, ENOTSUP) << variable;
    EXPECT_NE(error.message.find(name), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("type: "), std::string::npos) << error.message;
  }
  EXPECT_NE(found_with(step_without("SLURM_STEP_ID")).message.find("type: srun"),
            std::string::npos);
}

std::optional<perf::Secret> secret_of(const std::string& text) {
  const test::ScratchFolder scratch;
  std::ofstream(scratch.at("secret")) << text;
  chmod(scratch.at("secret").c_str(), 0600);
  Result<perf::Secret> secret = perf::Secret::read(scratch.at("secret"));
  EXPECT_TRUE(secret) << secret.error().message;
  return *std::move(secret);
}

// Below those that the kernel gives to who asks for none, so that nobody gets one before it is
// used.
std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::random_device random;
  std::vector<std::uint16_t> found;
  for (auto next = static_cast<std::uint16_t>(20'000 + random() % 10'000); found.size() < count;
       ++next) {
    if (perf::listen_on("any", next)) found.push_back(next);
  }
  return found;
}

// Both sides in this process: the first port is taken, a stranger without the secret serves an
// invitation of its own at the second, and ranks of another step meet at the third.
TEST(FabricRendezvous, RanksPassByOthersThatAreAtTheirPorts) {
  const std::vector<std::uint16_t> ports = free_ports(4);
  const Result<perf::Listening> taken = perf::listen_on("any", ports[0]);
  const Place place{"17.2", "localhost", ports};
  const std::optional<perf::Secret> secret = secret_of("known to few people");
  const Place at_second{"17.2", "localhost", {ports[1]}}, others{"17.1", "localhost", {ports[2]}};
  const auto stranger =
      MeetingPoint::open(at_second, {{"n9"}, 1, ""}, secret_of("known to nobody here"));
  ASSERT_TRUE(stranger) << stranger.error().message;
  const auto other_step = MeetingPoint::open(others, {{"n9"}, 1, ""}, secret);
  ASSERT_TRUE(other_step) << other_step.error().message;
  const auto point = MeetingPoint::open(place, {{"n1"}, 18600, "random"}, secret);
  ASSERT_TRUE(point) << point.error().message;
  EXPECT_EQ((*point)->told().token.size(), 64u) << "the key of the secret";
  const Result<Invitation> told = visit(place, secret, now() + test::kLastResort);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(*told, (Invitation{{"n1"}, 18600, (*point)->told().token}));
}

TEST(FabricRendezvous, WhoDoesNotKnowTheSecretIsToldNothing) {
  const Place place{"17.2", "localhost", free_ports(1)};
  const auto point =
      MeetingPoint::open(place, {{"n1"}, 18600, "random"}, secret_of("known to few people"));
  ASSERT_TRUE(point) << point.error().message;
  EXPECT_EQ(visit(place, secret_of("known to nobody here"), now() + 3 * kSecond).error().code,
            ETIMEDOUT);
  const Result<UniqueFd> stranger =
      perf::connect_within("localhost", place.ports[0], now() + test::kLastResort);
  ASSERT_TRUE(stranger);
  send(stranger->get(), "say it to me\n", 13, MSG_NOSIGNAL);
  std::string said;
  char piece[4096];
  for (ssize_t got; (got = recv(stranger->get(), piece, sizeof piece, 0)) > 0;) {
    said.append(piece, static_cast<std::size_t>(got));
  }
  EXPECT_EQ(said.find("18600"), std::string::npos);
  EXPECT_LT(said.size(), 100u) << "the step and a point";
}

// Longer than whatever is read before a proof.
TEST(FabricRendezvous, WhoKnowsTheSecretIsToldAllAddressesOfAHostThatHasMany) {
  const Place place{"17.2", "localhost", free_ports(1)};
  const std::optional<perf::Secret> secret = secret_of("known to few people");
  const std::vector<std::string> many(200, "2001:db8:1234:5678:abcd:ef01:2345:6789");
  const auto point = MeetingPoint::open(place, {many, 18600, "random"}, secret);
  ASSERT_TRUE(point) << point.error().message;
  const Result<Invitation> told = visit(place, secret, now() + test::kLastResort);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->addresses, many);
}

// The members of the run need them.
TEST(FabricRendezvous, WhoStaySilentAtAMeetingPointLeaveMostDescriptorsToOthers) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Place place{"17.2", "localhost", free_ports(1)};
  const auto point =
      MeetingPoint::open(place, {{"n1"}, 18600, "random"}, secret_of("known to few people"));
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(point) << point.error().message;
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 65; ++i) {
    Result<UniqueFd> connection =
        perf::connect_within("localhost", place.ports[0], now() + test::kLastResort);
    ASSERT_TRUE(connection) << connection.error().message;
    silent.push_back(*std::move(connection));
  }
  // The first one makes room for the last, long before its time is over.
  char piece[4096];
  ssize_t got = 1;
  for (pollfd wait{silent[0].get(), POLLIN, 0};
       got > 0 && poll(&wait, 1, test::kLastResortMs) == 1;) {
    got = recv(silent[0].get(), piece, sizeof piece, 0);
  }
  EXPECT_EQ(got, 0) << "it is still there";
}

TEST(FabricRendezvous, TheSecretThatAUserGaveMakesTheTokenOnBothSides) {
  Result<SlurmStep> step = slurm_step(of(kStep));
  step->place = {"17.2", "localhost", free_ports(2)};
  const std::optional<perf::Secret> secret = secret_of("known to few people");
  const std::unique_ptr<Rendezvous> zero = join_slurm(*step, secret);
  const std::unique_ptr<Rendezvous> other = join_slurm(*step, secret);
  const Result<Invitation> told = zero->publish({{"n1"}, 18600, "another"});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->token.size(), 64u);
  EXPECT_EQ(*other->await(test::kLastResort), *told);
  zero->finish();
  EXPECT_EQ(other->await(kMillisecond).error().code, ETIMEDOUT);
}

TEST(FabricRendezvous, AnInvitationIsReadAsItWasWritten) {
  for (const Invitation& invitation :
       {Invitation{{"10.0.0.1", "fd00::1", "n1"}, 65535, random_token()},
        Invitation{{"n1"}, 1, ""}}) {
    const Result<Invitation> read = invitation_from(to_text(invitation));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, invitation);
  }
  for (const char* text : {"", "gdrf1", "gdrf1 1 - ", "gdrf1 0 - n1", "gdrf1 65536 - n1",
                           "gdrf1 1  n1", "gdrf0 1 - n1", "gdrf1 1 - n1,", "gdrf1 1 - n1 more"}) {
    EXPECT_FALSE(invitation_from(text)) << text;
  }
  EXPECT_NE(random_token(), random_token());
  EXPECT_EQ(random_token().size(), 32U);
}

}  // namespace
}  // namespace gdr::fabric
