// The processes of a run find each other, and rank 0 prints who came and who did not:
//
//   srun rendezvous_program PATIENCE [sleeps=RANK] [dies=RANK] [secret=FILE]
//   rendezvous_program PATIENCE hosts=n[1-3] ssh=COMMAND [sleeps=RANK] [dies=RANK]
//   rendezvous_program PATIENCE local=4 [waits] [hangs]
//
// Rank `sleeps` begins no rendezvous for longer than rank 0 waits. Rank `dies` kills itself once it
// has come; each of the others says a little later that it is still there. With `waits`, members
// stay until rank 0 is gone; with `hangs`, they do not even notice that.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/environment.h"
#include "fabric/rendezvous/member_processes.h"
#include "fabric/rendezvous/member_socket.h"
#include "fabric/rendezvous/reach.h"
#include "fabric/rendezvous/rendezvous.h"
#include "fabric/rendezvous/ssh_hosts.h"
#include "perf/listen.h"
#include "process/codec.h"
#include "process/conversation.h"

namespace gdr::fabric {
namespace {

struct Here {
  std::uint32_t rank = 0;
  std::string host, token;
  GDR_FIELDS(rank, host, token)
};
using Talk = process::Conversation<std::tuple<process::Failure, Here>>;

constexpr Nanoseconds kPause = 500 * kMillisecond;
constexpr std::uint32_t kNobody = 1 << 30;

struct Options {
  Nanoseconds patience = 0;
  std::uint32_t sleeps = kNobody, dies = kNobody, local = 0;
  std::string secret, hosts, ssh, self;
  bool is_member = false, waits = false, hangs = false;
  std::uint32_t rank = 0;  // of a member
};

int fail(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  return 1;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

bool take_number(std::string_view word, std::string_view name, std::uint32_t& number) {
  if (!word.starts_with(name)) return false;
  number = static_cast<std::uint32_t>(*parse_number(word.substr(name.size()), 0, kNobody));
  return true;
}
bool take_text(std::string_view word, std::string_view name, std::string& text) {
  if (!word.starts_with(name)) return false;
  text = word.substr(name.size());
  return true;
}

Options read_options(int count, char** words) {
  Options options;
  options.self = words[0];
  options.patience = *parse_number(words[1], 1, 60) * kSecond;
  for (int i = 2; i < count; ++i) {
    const std::string_view word = words[i];
    options.is_member |= word == "member";
    options.waits |= word == "waits";
    options.hangs |= word == "hangs";
    if (word != "member" && word != "waits" && word != "hangs" &&
        !take_number(word, "sleeps=", options.sleeps) &&
        !take_number(word, "dies=", options.dies) && !take_number(word, "local=", options.local) &&
        !take_number(word, "--rank=", options.rank) &&
        !take_text(word, "secret=", options.secret) && !take_text(word, "hosts=", options.hosts) &&
        !take_text(word, "ssh=", options.ssh)) {
      std::exit(fail(fmt::format("not known: {}", word)));
    }
  }
  return options;
}

// What rank 0 knows of the others.
class Roll {
 public:
  explicit Roll(const Options& options) : options_(options) {}

  void add(UniqueFd socket, const std::string& token) {
    Talk talk(std::move(socket));
    const Result<Here> here = talk.receive<Here>(kSecond);
    if (!here || here->token != token) return;
    fmt::print("came {} {}\n", here->rank, here->host);
    talks_.emplace(here->rank, std::move(talk));
  }
  std::size_t count() const { return talks_.size(); }
  bool has(std::uint32_t rank) const { return talks_.contains(rank); }

  // Each of them says it again, later.
  void ask_again() {
    for (auto& [rank, talk] : talks_) {
      const Result<Here> here = talk.receive<Here>(2 * kSecond);
      fmt::print("{} {}\n", here ? "still" : "lost", rank);
    }
    talks_.clear();
  }

 private:
  const Options& options_;
  std::map<std::uint32_t, Talk> talks_;
};

int take_part(UniqueFd socket, const Options& options, const Here& here) {
  Talk talk(std::move(socket));
  if (Result<void> sent = talk.send(here); !sent) return fail(sent.error().message);
  if (options.hangs) sleep(60);
  if (options.waits) return talk.receive<Here>(60 * kSecond) ? 1 : 0;
  usleep(kPause / kMicrosecond);
  if (options.dies == here.rank) kill(getpid(), SIGKILL);
  if (options.dies == kNobody) return 0;
  usleep(kPause / kMicrosecond);
  if (Result<void> sent = talk.send(here); !sent) return fail(sent.error().message);
  return 0;
}

void sleep_long(const Options& options) {
  usleep(static_cast<unsigned>((options.patience + 2 * kSecond) / kMicrosecond));
}

int gather(Rendezvous& rendezvous, const Options& options) {
  // Steps that run at the same time have other ports, and nobody else is there.
  const auto port = static_cast<std::uint16_t>(18000 + getpid() % 1000);
  Result<perf::Listening> listening = perf::listen_on("any", port);
  if (!listening) return fail(listening.error().message);
  const Result<Invitation> told = rendezvous.publish({own_addresses(), port, random_token()});
  if (!told) return fail(told.error().message);
  const Job& job = rendezvous.job();
  fmt::print("launcher {}\ntoken {}\n", job.launcher,
             told->token.empty()        ? "none"
             : told->token.size() == 64 ? "secret"
                                        : "random");
  for (const Expected& one : job.expected) {
    fmt::print("expected {} {} {}\n", one.rank, one.node, one.host);
  }
  Roll roll(options);
  for (const Nanoseconds end = now() + options.patience;
       now() < end && roll.count() + 1 < job.ranks;) {
    Result<perf::Visitor> visitor = listening->accept(100 * kMillisecond);
    if (visitor) roll.add(std::move(visitor->fd), told->token);
  }
  for (const Expected& one : job.expected) {
    if (one.rank != 0 && !roll.has(one.rank)) fmt::print("missing {} {}\n", one.rank, one.host);
  }
  rendezvous.finish();
  if (options.dies != kNobody) roll.ask_again();
  return 0;
}

int run_under_launcher(const Options& options) {
  for (const char* name : {"PMIX_RANK", "SLURM_PROCID"}) {
    const std::optional<std::string> rank = environment(name);
    if (!rank || *rank != std::to_string(options.sleeps)) continue;
    sleep_long(options);
    return 0;
  }
  FindOptions find;
  find.environment = environment;
  Result<std::optional<perf::Secret>> secret = perf::Secret::read_given(
      options.secret.empty() ? std::nullopt : std::optional(options.secret));
  if (!secret) return fail(secret.error().message);
  find.secret = *std::move(secret);
  Result<std::unique_ptr<Rendezvous>> found = find_rendezvous(find);
  if (!found) return fail(found.error().message);
  if (*found == nullptr) return fail("no launcher");
  Rendezvous& rendezvous = **found;
  const std::uint32_t rank = rendezvous.job().rank;
  if (rank == 0) return gather(rendezvous, options);
  const Nanoseconds deadline = now() + options.patience;
  const Result<Invitation> invitation = rendezvous.await(options.patience);
  rendezvous.finish();
  if (!invitation) return fail(fmt::format("rank {}: {}", rank, invitation.error().message));
  Result<UniqueFd> socket = reach(*invitation, deadline);
  if (!socket) return fail(fmt::format("rank {}: {}", rank, socket.error().message));
  return take_part(*std::move(socket), options, {rank, host_name(), invitation->token});
}

int run_members(const Options& options) {
  std::vector<std::string> words{std::to_string(options.patience / kSecond), "member"};
  if (options.sleeps != kNobody) words.push_back(fmt::format("sleeps={}", options.sleeps));
  if (options.dies != kNobody) words.push_back(fmt::format("dies={}", options.dies));
  if (options.waits) words.emplace_back("waits");
  if (options.hangs) words.emplace_back("hangs");
  std::vector<MemberCommand> commands;
  if (options.hosts.empty()) {
    commands = on_this_host(options.local, options.self, words);
  } else {
    const Result<std::vector<std::string>> hosts = read_hosts(options.hosts);
    if (!hosts) return fail(hosts.error().message);
    commands = over_ssh(*hosts, options.ssh, options.self, words);
  }
  std::vector<std::string> names;
  for (const MemberCommand& command : commands) names.push_back(command.host);
  MemberProcesses members(std::move(commands), {.at_once = 2, .patience = options.patience});
  Roll roll(options);
  for (;;) {
    Result<Arrival> arrival = members.next(100 * kMillisecond);
    if (!arrival && arrival.error().code == ENODATA) break;
    if (!arrival) continue;
    if (arrival->socket) roll.add(std::move(arrival->socket), {});
    if (!arrival->problem.empty()) {
      fmt::print("missing {} {}: {}\n", arrival->rank, names[arrival->rank], arrival->problem);
    }
  }
  if (options.waits || options.hangs) sleep(60);
  if (options.dies == kNobody) return 0;
  roll.ask_again();
  fmt::print("end of {}: {}\n", options.dies, members.end_of(options.dies));
  return 0;
}

int run_member(const Options& options) {
  if (options.sleeps == options.rank) {
    sleep_long(options);
    return 0;
  }
  Result<UniqueFd> socket = take_member_socket();
  if (!socket) return fail(socket.error().message);
  return take_part(*std::move(socket), options, {options.rank, host_name(), {}});
}

int run(int count, char** words) {
  if (count < 2) return fail("how long rank 0 waits is missing");
  setlinebuf(stdout);
  const Options options = read_options(count, words);
  if (options.is_member) return run_member(options);
  return options.hosts.empty() && options.local == 0 ? run_under_launcher(options)
                                                     : run_members(options);
}

}  // namespace
}  // namespace gdr::fabric

int main(int count, char** words) { return gdr::fabric::run(count, words); }
