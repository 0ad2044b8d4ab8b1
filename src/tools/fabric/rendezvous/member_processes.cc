#include "fabric/rendezvous/member_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "fabric/rendezvous/member_socket.h"
#include "process/conversation.h"
#include "process/start.h"

namespace gdr::fabric {
namespace {

constexpr off_t kMostErrors = 64 << 10;
constexpr Nanoseconds kLook = 50 * kMillisecond;  // whether a process has ended
constexpr Nanoseconds kPostMortem = kSecond;
constexpr Nanoseconds kToEnd = 2 * kSecond;
constexpr unsigned kLookMicroseconds = 5'000;

// A file in memory for what a process has to say, which cannot grow: nobody has to read it while
// the process runs, and what comes after the first 64 KiB is refused.
Result<UniqueFd> make_error_file() {
  UniqueFd file(memfd_create("gdr-errors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), kMostErrors) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    return from_errno("cannot make a file in memory");
  }
  return file;
}

// The child's end, which its other descriptions share the place of writing with.
std::string last_line(const UniqueFd& errors) {
  std::string text(static_cast<std::size_t>(kMostErrors), '\0');
  const ssize_t got = pread(errors.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  text.resize(std::min(text.size(), text.find('\0')));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t before = text.find_last_of("\r\n");
  return printable(before == std::string::npos ? text : text.substr(before + 1));
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid;
}

// It leads a group, in which is what it has started itself.
void end_now(pid_t pid) {
  kill(-pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

MemberProcesses::MemberProcesses(std::vector<MemberCommand> commands, Limits limits)
    : commands_(std::move(commands)), limits_(limits), members_(commands_.size()) {}

MemberProcesses::~MemberProcesses() {
  for (Member& member : members_) member.socket.reset();
  const Nanoseconds end = now() + kToEnd;
  for (Member& member : members_) {
    if (member.pid < 0) continue;
    // One that has not come yet is still in ssh's hands, and does not see the end of its input.
    while (member.state == State::kCome && !has_ended(member.pid) && now() < end) {
      usleep(kLookMicroseconds);
    }
    end_now(member.pid);
  }
}

Result<void> MemberProcesses::begin(std::uint32_t rank) {
  Result<std::array<UniqueFd, 2>> sockets = process::Connection::pair();
  if (!sockets) return sockets.error();
  auto& [mine, theirs] = *sockets;
  Result<UniqueFd> errors = make_error_file();
  if (!errors) return errors.error();
  process::Start start;
  start.command = commands_[rank].words;
  // This program, ssh, or what --ssh names.
  const bool is_path = start.command.front().find('/') != std::string::npos;
  start.chosen_by = is_path ? process::ChosenBy::kAccount : process::ChosenBy::kPath;
  start.input = theirs.get();
  start.output = theirs.get();
  start.errors = errors->get();
  start.leads_group = true;  // and so Ctrl-C does not reach it
  const Result<pid_t> pid = process::begin(start);
  if (!pid) return pid.error();
  Member& member = members_[rank];
  member.state = State::kBegun;
  member.pid = *pid;
  member.socket = std::move(mine);
  member.errors = *std::move(errors);
  member.deadline = now() + limits_.patience;
  return {};
}

std::vector<std::uint32_t> MemberProcesses::begun() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < next_; ++rank) {
    if (members_[rank].state == State::kBegun) ranks.push_back(rank);
  }
  return ranks;
}

// It has printed the greeting at last. Nothing behind that is taken: it is the first message.
bool MemberProcesses::has_come(Member& member) {
  std::array<char, 4096> buffer;
  const int socket = member.socket.get();
  const ssize_t got = recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_PEEK);
  if (got <= 0) return false;
  const std::size_t before = member.printed.size();
  member.printed.append(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t at = member.printed.find(kMemberGreeting);
  const bool has_greeted = at != std::string::npos;
  const std::size_t taken =
      has_greeted ? at + kMemberGreeting.size() - before : static_cast<std::size_t>(got);
  if (recv(socket, buffer.data(), taken, MSG_DONTWAIT) != static_cast<ssize_t>(taken)) return false;
  // The greeting may come in pieces.
  const std::size_t kept = std::min(member.printed.size(), kMemberGreeting.size() - 1);
  member.printed.erase(0, member.printed.size() - kept);
  return has_greeted;
}

// The last line of what the process said, or else how it ended.
std::string MemberProcesses::last_words(std::uint32_t rank) const {
  const Member& member = members_[rank];
  std::string line = last_line(member.errors);
  siginfo_t info{};
  const bool ended =
      waitid(P_PID, static_cast<id_t>(member.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == member.pid;
  if (ended && info.si_code != CLD_EXITED) {
    return fmt::format("killed by signal {} ({})", info.si_status, strsignal(info.si_status));
  }
  if (!line.empty()) return line;
  // ssh says why itself, but of a signal that ended what it had started.
  constexpr int kOfSsh = 255;
  if (ended && commands_[rank].is_remote && info.si_status == kOfSsh) {
    return "killed there by a signal";
  }
  if (ended) return fmt::format("ended with status {} and no word", info.si_status);
  return {};
}

Arrival MemberProcesses::failed(std::uint32_t rank, std::string problem) {
  Member& member = members_[rank];
  member.state = State::kEnded;
  member.socket.reset();
  if (member.pid > 0) end_now(std::exchange(member.pid, -1));
  return Arrival{rank, {}, std::move(problem)};
}

Result<Arrival> MemberProcesses::next(Nanoseconds timeout) {
  const Nanoseconds deadline = now() + timeout;
  for (;;) {
    std::vector<std::uint32_t> ranks = begun();
    while (next_ < members_.size() && ranks.size() < limits_.at_once) {
      const std::uint32_t rank = next_++;
      if (Result<void> started = begin(rank); !started) {
        return failed(rank, started.error().message);
      }
      ranks.push_back(rank);
    }
    if (ranks.empty()) return Error{ENODATA, "all members have come or ended"};
    std::vector<pollfd> entries;
    for (const std::uint32_t rank : ranks) {
      entries.push_back({members_[rank].socket.get(), POLLIN, 0});
    }
    const Nanoseconds left = deadline - std::min(deadline, now());
    poll(entries.data(), entries.size(), static_cast<int>(std::min(left, kLook) / kMillisecond));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Member& member = members_[ranks[i]];
      const bool has_said = (entries[i].revents & POLLIN) != 0;
      if (has_said && has_come(member)) {
        member.state = State::kCome;
        return Arrival{ranks[i], std::move(member.socket), {}};
      }
      // The socket may stay open in something that the process left behind.
      if (has_ended(member.pid)) return failed(ranks[i], last_words(ranks[i]));
      if (now() < member.deadline) continue;
      const std::string line = last_words(ranks[i]);
      return failed(ranks[i],
                    fmt::format("did not start within {} s{}{}", limits_.patience / kSecond,
                                line.empty() ? "" : ": ", line));
    }
    if (now() >= deadline) return Error{ETIMEDOUT, "no member has come"};
  }
}

std::string MemberProcesses::end_of(std::uint32_t rank) {
  Member& member = members_[rank];
  if (member.pid < 0) return {};
  for (const Nanoseconds end = now() + kPostMortem; !has_ended(member.pid);) {
    if (now() >= end) return {};
    usleep(kLookMicroseconds);
  }
  return last_words(rank);
}

}  // namespace gdr::fabric
