#include "child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fail.h"
#include "socket.h"

namespace gdr::bench {
namespace {

constexpr int kPatience = 100;  // tenths of a second

// Without its children this process would poll for ever.
extern "C" void on_child_end(int) {
  constexpr char kLine[] = "bench_gpu_path: another of its processes ended\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(1);
}

}  // namespace

Child::Child(const std::function<void(int socket)>& serve) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("socketpair: %s", std::strerror(errno));
  }
  const pid_t parent = getpid();
  signal(SIGCHLD, on_child_end);
  pid_ = fork();
  if (pid_ < 0) fail("fork: %s", std::strerror(errno));
  if (pid_ == 0) {
    // Nothing outlives the measuring process, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    serve(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  socket_ = ends[0];
}

Child::~Child() {
  signal(SIGCHLD, SIG_DFL);
  close(socket_);
  for (int i = 0; i < kPatience; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) return;
    usleep(100'000);
  }
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::uint64_t Child::ask(const Order& order) const {
  send_packet(socket_, &order, sizeof order);
  std::uint64_t answer = 0;
  receive_packet(socket_, &answer, sizeof answer);
  return answer;
}

std::uint64_t fill_or_compare(Memories& memories, const Order& order) {
  if (order.kind == Order::Kind::kFindWrong) {
    return memories.find_wrong(order.memory, order.bytes, order.seed);
  }
  memories.fill(order.memory, order.bytes, order.seed);
  return 0;
}

}  // namespace gdr::bench
