// Worker: this program again, in a process of its own at the other end of a socket pair, so that a
// library that crashes or hangs is a finding and not the end. It is asked to end, or killed by its
// id, and reaped when this object goes; the kernel ends it should this process die.
//
//   Result<Worker> worker = Worker::start("/proc/self/exe", {"prove-worker"});
//   Conversation<Messages> talk(worker->take_socket());
//
//   Result<UniqueFd> socket = Worker::own_socket();  // in the worker
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::process {

class Worker {
 public:
  static Result<Worker> start(const std::string& program,
                              const std::vector<std::string>& arguments);
  Worker(Worker&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  Worker& operator=(Worker&&) = delete;
  // Once this socket is closed the worker gives back what it holds, and ends.
  ~Worker();

  UniqueFd take_socket() { return std::move(socket_); }
  pid_t pid() const { return pid_; }

  // How the process `pid` has ended ("killed by signal 11 (...)"); empty: it has not, a second
  // later.
  static std::string post_mortem(pid_t pid);

  // The end that a started process has. EBADF: it was not started as a worker.
  static Result<UniqueFd> own_socket();

 private:
  Worker(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace gdr::process
