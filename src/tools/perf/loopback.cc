#include "perf/loopback.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/run.h"

namespace gdr::perf {
namespace {

constexpr int kPatience = 400;  // looks of 5 ms until it is killed

// Between fork and exec: only what is safe there.
[[noreturn]] void become_server(const char* program, char* const* arguments, int socket,
                                pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // A terminal's Ctrl-C is for the client, which ends this one in order.
  signal(SIGINT, SIG_IGN);
  const int copy = fcntl(socket, F_DUPFD, 10);
  if (copy < 0 || dup2(copy, kWorkerFd) < 0) _exit(127);
  close(copy);
  // A library that prints must not spoil what is on standard output.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execv(program, arguments);
  _exit(127);
}

}  // namespace

Result<LoopbackServer> LoopbackServer::start(const std::string& program,
                                             const std::vector<std::string>& arguments) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return from_errno("socketpair");
  }
  UniqueFd mine(sockets[0]), theirs(sockets[1]);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return from_errno("fork");
  if (pid == 0) become_server(program.c_str(), argv.data(), theirs.get(), parent);
  return LoopbackServer(pid, std::move(mine));
}

LoopbackServer::~LoopbackServer() {
  if (pid_ <= 0) return;
  socket_.reset();
  for (int i = 0; i < kPatience; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) return;
    usleep(5'000);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace gdr::perf
