#include "other_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "give_up.h"

namespace gdr::bench {
namespace {

// Without the other process its parent would poll for ever.
extern "C" void on_other_end(int) {
  constexpr char kLine[] = ": the other process ended\n";
  const char* name = program_invocation_short_name;
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, name, std::strlen(name));
  written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(1);
}

}  // namespace

OtherProcess::OtherProcess(int type, const char* role) {
  int ends[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
    give_up("socketpair: {}", std::strerror(errno));
  }
  const std::string socket = std::to_string(ends[1]);
  const pid_t parent = getpid();
  signal(SIGCHLD, on_other_end);
  pid_ = fork();
  if (pid_ < 0) give_up("fork: {}", std::strerror(errno));
  if (pid_ == 0) {
    // Nothing outlives the parent, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    fcntl(ends[1], F_SETFD, 0);
    execl("/proc/self/exe", program_invocation_short_name, role, socket.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
}

OtherProcess::~OtherProcess() {
  signal(SIGCHLD, SIG_DFL);
  close(socket_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace gdr::bench
