// Where a server listens: this host alone, unless it is told more.
//
//   Result<Listening> listening = listen_on("", 18600);      // "any", or an address
//   Result<Visitor> visitor = listening->accept(200 * kMillisecond);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "text/command.h"

namespace gdr::perf {

struct Visitor {
  UniqueFd fd;
  std::string name;  // its address
};

// A peer whose host has died is noticed, and small messages go out at once.
void keep_alive(int fd);

class Listening {
 public:
  // ETIMEDOUT: nobody has come. Anything else: somebody has, and could not be let in.
  Result<Visitor> accept(Nanoseconds timeout) const;

  // "127.0.0.1 and ::1"
  const std::string& where() const { return where_; }
  // Other hosts reach it.
  bool is_open() const { return open_; }

 private:
  friend Result<Listening> listen_on(const std::string& address, std::uint16_t port);
  std::vector<UniqueFd> sockets_;
  std::string where_;
  bool open_ = false;
};

// How clients reach a server, in one line: "serving mlx5_0 on TCP port 18600 of all addresses;
// client, on the other host: gdr perf node7 --secret FILE".
struct Invitation {
  std::string serves;     // "mlx5_0 port 1"
  text::Command command;  // of a client: gdr perf
  std::string host;       // this one's name
  std::uint16_t port = 0, usual_port = 0;
  bool has_secret = false;
};
std::string text_of(const Invitation& invitation, const Listening& listening);

// EINVAL: the address is none of this host's.
Result<Listening> listen_on(const std::string& address, std::uint16_t port);

}  // namespace gdr::perf
