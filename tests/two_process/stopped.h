// Stopped: a child that gets no time while this lives.
#pragma once

#include <sys/wait.h>

#include <csignal>

namespace gdr::test {

class Stopped {
 public:
  explicit Stopped(pid_t pid) : pid_(pid) {
    kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  ~Stopped() { kill(pid_, SIGCONT); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  const pid_t pid_;
};

}  // namespace gdr::test
