// LoopbackServer: the server of a loopback run, a process of its own on the other end of a socket
// pair. Killed by its id and reaped when this goes; the kernel ends it should this process die.
//
//   Result<LoopbackServer> server = LoopbackServer::start("/proc/self/exe", {"perf-worker", ...});
//   Control control(server->take_socket());
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::perf {

class LoopbackServer {
 public:
  static Result<LoopbackServer> start(const std::string& program,
                                      const std::vector<std::string>& arguments);
  LoopbackServer(LoopbackServer&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  LoopbackServer& operator=(LoopbackServer&&) = delete;
  ~LoopbackServer();

  UniqueFd take_socket() { return std::move(socket_); }

 private:
  LoopbackServer(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace gdr::perf
