#include "net/doorbell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace gdr::net {

Result<void> Doorbell::open() {
  descriptor_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!descriptor_) return from_errno("eventfd");
  return {};
}

void Doorbell::write_ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(descriptor_.get(), &one, sizeof one);
}

void Doorbell::empty() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t got = read(descriptor_.get(), &rings, sizeof rings);
}

}  // namespace gdr::net
