// Where a server listens: this host alone, unless it is told more.
//
//   Result<Listening> listening = listen_on("", 18600);      // "any", or an address
//   Result<Visitor> visitor = listening->accept(200 * kMillisecond);
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::perf {

struct Visitor {
  UniqueFd fd;
  std::string name;  // its address
};

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

// EINVAL: the address is none of this host's.
Result<Listening> listen_on(const std::string& address, std::uint16_t port);

}  // namespace gdr::perf
