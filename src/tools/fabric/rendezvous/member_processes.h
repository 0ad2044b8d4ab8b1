// MemberProcesses: the members of a run that this process starts itself: over ssh on other hosts,
// or on this host in place of others. Each is at the other end of a socket pair, which is its
// standard input and output: there is no port, and nobody else can come. They end with this
// process.
//
//   MemberProcesses members(over_ssh(hosts, "ssh", "/usr/bin/gdr", {"fabric-member"}));
//   for (;;) {
//     Result<Arrival> arrival = members.next(200 * kMillisecond);
//     if (!arrival && arrival.error().code == ENODATA) break;    // all have come, or will not
//     if (!arrival) continue;                                    // ETIMEDOUT: not yet
//     if (arrival->socket) meet(std::move(arrival->socket)); else say(arrival->problem);
//   }
//
// The other end is member_socket.h's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::fabric {

struct MemberCommand {
  std::string host;
  std::vector<std::string> words;
  bool is_remote = false;  // the words start a remote shell, which starts the member
};

// On each host: `program` with the arguments, and "--rank=" and its place in `hosts`. `ssh` is the
// remote shell with its options, words with spaces between them; "ssh" alone gets options so that
// it never asks and gives up soon.
std::vector<MemberCommand> over_ssh(const std::vector<std::string>& hosts, const std::string& ssh,
                                    const std::string& program,
                                    const std::vector<std::string>& arguments);

// Processes of this host called "p0", "p1", ..., as if each were a host.
std::vector<MemberCommand> on_this_host(std::uint32_t count, const std::string& program,
                                        const std::vector<std::string>& arguments);

struct Arrival {
  std::uint32_t rank = 0;
  UniqueFd socket;      // none: it did not start
  std::string problem;  // then: "ssh: connect to host n07 port 22: No route to host"
};

class MemberProcesses {
 public:
  struct Limits {
    std::uint32_t at_once = 64;           // that have begun and neither come nor ended
    Nanoseconds patience = 60 * kSecond;  // with each
  };

  explicit MemberProcesses(std::vector<MemberCommand> commands)
      : MemberProcesses(std::move(commands), Limits()) {}
  MemberProcesses(std::vector<MemberCommand> commands, Limits limits);
  MemberProcesses(const MemberProcesses&) = delete;
  MemberProcesses& operator=(const MemberProcesses&) = delete;
  // Once all its sockets are closed, also those that were handed out, each process may take two
  // seconds to end; then its process group is killed.
  ~MemberProcesses();

  // Begins as many as may begin, and waits until one has come or ended. ETIMEDOUT: none has.
  // ENODATA: there are no more. To be called by one thread that lives as long as the members.
  Result<Arrival> next(Nanoseconds timeout);

  // How one that had come ended, in one line: "killed by signal 9 (Killed)", "ssh: Connection to
  // n07 closed by remote host". Waits a second for its end. Empty: it is still there.
  std::string end_of(std::uint32_t rank);

 private:
  enum class State : std::uint8_t { kNotBegun, kBegun, kCome, kEnded };
  struct Member {
    State state = State::kNotBegun;
    pid_t pid = -1;
    UniqueFd socket, errors;
    std::string printed;  // the end of what login scripts and it have printed so far
    Nanoseconds deadline = 0;
  };

  Result<void> begin(std::uint32_t rank);
  std::vector<std::uint32_t> begun() const;
  bool has_come(Member& member);
  Arrival failed(std::uint32_t rank, std::string problem);
  std::string last_words(std::uint32_t rank) const;

  std::vector<MemberCommand> commands_;
  Limits limits_;
  std::vector<Member> members_;
  std::uint32_t next_ = 0;  // to begin
};

}  // namespace gdr::fabric
