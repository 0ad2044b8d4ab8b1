#include "session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "give_up.h"

namespace gdr::bench {
namespace {

// Without its target the initiator would poll for ever.
extern "C" void on_target_end(int) {
  constexpr char kLine[] = "bench_local_path: the target process ended\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(1);
}

}  // namespace

TargetProcess::TargetProcess() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    give_up("socketpair: {}", std::strerror(errno));
  }
  const std::string flag = kTargetFlag + std::to_string(ends[1]);
  const pid_t parent = getpid();
  signal(SIGCHLD, on_target_end);
  pid_ = fork();
  if (pid_ < 0) give_up("fork: {}", std::strerror(errno));
  if (pid_ == 0) {
    // Nothing outlives the initiator, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    fcntl(ends[1], F_SETFD, 0);
    execl("/proc/self/exe", "bench_local_path", flag.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
}

TargetProcess::~TargetProcess() {
  signal(SIGCHLD, SIG_DFL);
  close(socket_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Session::Session() {
  receive_struct(target_.socket(), &other_, sizeof other_);
  endpoint_.emplace();
  own_ = endpoint_->introduction();
  own_.bare_events = bare_events_.numbers();
  send_struct(target_.socket(), &own_, sizeof own_);
  endpoint_->connect(other_);
  receive_struct(target_.socket(), &other_, sizeof other_);
}

void Session::bare_write(BufferId id, std::size_t length) {
  const iovec here{endpoint_->buffer(id).data(), length};
  const iovec there{reinterpret_cast<void*>(other_.buffers[id].address), length};
  if (process_vm_writev(target_.pid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(length)) {
    give_up("process_vm_writev: {}", std::strerror(errno));
  }
}

void Session::bare_read(BufferId id, std::size_t length) {
  const iovec here{endpoint_->buffer(id).data(), length};
  const iovec there{reinterpret_cast<void*>(other_.buffers[id].address), length};
  if (process_vm_readv(target_.pid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(length)) {
    give_up("process_vm_readv: {}", std::strerror(errno));
  }
}

Message Session::order(Order order, BufferId buffer, std::uint64_t count) {
  const Message message{order, buffer, count, 0};
  send_struct(target_.socket(), &message, sizeof message);
  Message answer;
  receive_struct(target_.socket(), &answer, sizeof answer);
  return answer;
}

void Session::compare(std::uint64_t found, std::uint64_t expected, std::size_t length) const {
  if (found != expected) give_up("{} bytes arrived other than they were sent", length);
}

bool Session::is_huge(BufferId id) const {
  const std::size_t size = endpoint_->buffer(id).size();
  return own_.buffers[id].huge_bytes >= size && other_.buffers[id].huge_bytes >= size;
}

}  // namespace gdr::bench
