// Channel: whole messages over a socket pair, with a bound on every wait.
//
//   Result<Bytes> reply = channel.receive(5 * kSecond);   // ETIMEDOUT, ECONNRESET when the other
//   end died
#pragma once

#include <array>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/codec.h"

namespace gdr::proof {

constexpr std::size_t kLargestMessage = 64 * 1024;

class Channel {
 public:
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}
  static Result<std::array<UniqueFd, 2>> pair();

  Result<void> send(const process::Bytes& message);
  // `timeout` 0: without end, for a worker, whose parent's death ends the wait.
  Result<process::Bytes> receive(Nanoseconds timeout);
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace gdr::proof
