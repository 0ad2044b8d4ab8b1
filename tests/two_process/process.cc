#include "process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace gdr::test {
namespace {

constexpr unsigned kChildsAlarm = 600;  // seconds
constexpr uid_t kNobody = 65534;

std::pair<UniqueFd, UniqueFd> socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw Failure("socketpair");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

[[noreturn]] void run_child(Wire& wire, const std::function<void(Wire&)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kChildsAlarm);
  int status = 0;
  try {
    body(wire);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "child %d: %s\n", getpid(), failure.what());
    status = 1;
  }
  std::fflush(nullptr);
  _exit(status);
}

#if defined(__SANITIZE_ADDRESS__) && defined(__GNUC__) && __GNUC__ < 14
// The allocator of this address sanitizer knows nothing of forks: a lock of it that another thread
// holds meanwhile stays locked in the child. Threads that begin take such locks, and those that
// sleep hold none.
bool do_other_threads_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);
    const std::size_t name_ends = line.rfind(')');  // proc(5): the state follows the name
    if (name_ends != std::string::npos && line.substr(name_ends, 3) != ") S") return false;
  }
  return true;
}

void await_other_threads() {
  (void)soon([] { return do_other_threads_sleep(); }, 2 * kSecond);
}
#else
void await_other_threads() {}
#endif

}  // namespace

void Wire::send_bytes(const void* bytes, std::size_t count) {
  for (std::size_t sent = 0; sent < count;) {
    const ssize_t now_sent =
        ::send(socket_.get(), static_cast<const char*>(bytes) + sent, count - sent, MSG_NOSIGNAL);
    if (now_sent <= 0) throw Failure("the other process has hung up");
    sent += static_cast<std::size_t>(now_sent);
  }
}

void Wire::receive_bytes(void* bytes, std::size_t count) {
  for (std::size_t got = 0; got < count;) {
    pollfd wait{socket_.get(), POLLIN, 0};
    if (poll(&wait, 1, kLastResortMs) != 1) throw Failure("the other process stays silent");
    const ssize_t now_got = read(socket_.get(), static_cast<char*>(bytes) + got, count - got);
    if (now_got <= 0) throw Failure("the other process has hung up");
    got += static_cast<std::size_t>(now_got);
  }
}

void Wire::meet() {
  send('m');
  require(receive<char>() == 'm', "the other process meets here");
}

Child::Child(const std::function<void(Wire&)>& body) : Child(socket_pair(), body) {}

Child::Child(std::pair<UniqueFd, UniqueFd> sockets, const std::function<void(Wire&)>& body)
    : wire_(std::move(sockets.first)) {
  std::fflush(nullptr);
  await_other_threads();
  pid_ = fork();
  if (pid_ < 0) throw Failure("fork");
  if (pid_ > 0) return;
  wire_ = Wire(std::move(sockets.second));
  run_child(wire_, body);
}

Child::~Child() { kill(); }

void Child::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void Child::finish() {
  int status = 0;
  waitpid(pid_, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "child " << pid_ << " ended with status " << status;
  pid_ = -1;
}

bool enter_network_of_its_own() {
  if (unshare(CLONE_NEWNET) == 0) return true;
  const std::string user = std::to_string(geteuid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  std::ofstream("/proc/self/uid_map") << user << " " << user << " 1\n";
  return true;
}

void run_opaque(const std::function<void()>& test, int error,
                const std::vector<std::uint32_t>& calls) {
  Child child([&](Wire&) {
    if (geteuid() == 0) {
      // In a network of its own, where that is permitted: in this one its datagram queue pairs keep
      // other tests, which are another user's, from the port for packets.
      (void)unshare(CLONE_NEWNET);
      require(setgid(kNobody) == 0 && setuid(kNobody) == 0, "another user");
    }
    require(prctl(PR_SET_DUMPABLE, 1) == 0, "a process like others");  // changing the user ended it
    require(refuse_calls(calls, error), "system calls are filtered");
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // changing the user forgot it
    test();
    require(!testing::Test::HasFailure(), "no expectation failed");
  });
  child.finish();
}

}  // namespace gdr::test
