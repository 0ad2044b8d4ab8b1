// WorkerProcess: a worker in a process of its own. It is killed by its id and reaped when this
// object goes, when a signal ends this program, and by the kernel should this program be killed.
//
//   Result<std::array<WorkerProcess, 2>> sides = start_workers("/proc/self/exe", {"prove-worker"});
//   (*sides)[0].client().call(...);
#pragma once

#include <sys/types.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "proof/client.h"

namespace gdr::proof {

// Where a started worker finds its two sockets.
constexpr int kControlFd = 3;
constexpr int kLinkFd = 4;

class WorkerProcess {
 public:
  WorkerProcess(std::string name, UniqueFd control, pid_t pid);
  WorkerProcess(WorkerProcess&&) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  Client& client() { return *client_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::unique_ptr<Client> client_;
};

// Two workers, joined by a link: the one that sends first.
Result<std::array<WorkerProcess, 2>> start_workers(const std::string& program,
                                                   const std::vector<std::string>& arguments);

// What the started process does: serves on kControlFd. Returns its exit status.
int worker_main();

}  // namespace gdr::proof
