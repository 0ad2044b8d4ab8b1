// Socket: what a descriptor of rsocket() stands for; a stream or a datagram socket.
//
// Functions return 0 or more, or a negated errno value. All of them may be called from any thread.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "rsockets/waitable.h"

namespace gdr::rsockets {

class Socket : public Waitable {
 public:
  // The number that stands for it: a real descriptor, so that no other one has it meanwhile.
  virtual int descriptor() const = 0;

  virtual int bind(const sockaddr* address, socklen_t length) = 0;
  virtual int listen(int backlog) = 0;
  virtual int accept(std::shared_ptr<Socket>& accepted) = 0;
  virtual int connect(const sockaddr* address, socklen_t length) = 0;
  virtual int shutdown(int how) = 0;
  // Waits until what was sent has been delivered, as far as SO_LINGER lets it.
  virtual void close() = 0;
  // The same where the process ends: until then, and not at all if a thread is inside.
  virtual void close_until(std::chrono::steady_clock::time_point until) = 0;

  // `told`, unless null: as msg_flags.
  virtual ssize_t receive(std::span<const iovec> into, int flags, sockaddr* from, socklen_t* length,
                          int* told) = 0;
  virtual ssize_t send(std::span<const iovec> bytes, int flags, const sockaddr* to,
                       socklen_t length) = 0;

  virtual int peer_name(sockaddr* address, socklen_t* length) = 0;
  virtual int name(sockaddr* address, socklen_t* length) = 0;
  virtual int set_option(int level, int option, const void* value, socklen_t length) = 0;
  virtual int option(int level, int option, void* value, socklen_t* length) = 0;
  virtual int status_flags() const = 0;
  virtual void set_status_flags(int flags) = 0;

  virtual off_t map(void* buffer, std::size_t length, int protection, off_t offset) = 0;
  virtual int unmap(void* buffer, std::size_t length) = 0;
  virtual ssize_t write_mapped(std::span<const std::uint8_t> bytes, off_t offset, int flags) = 0;
};

}  // namespace gdr::rsockets
