#include "net/account_ports.h"

#include <algorithm>
#include <mutex>

namespace gdr::net {

void AccountPorts::see(const wire::Address& address, std::span<const std::uint16_t> ports,
                       Nanoseconds time) {
  if (ports.empty()) return;
  const std::lock_guard guard(lock_);
  if (addresses_.size() < kMostAddresses) addresses_.insert(address);
  for (const std::uint16_t port : ports) note(address, port, time);
}

// In the place of the same port, else of what was seen longest ago.
void AccountPorts::note(const wire::Address& address, std::uint16_t port, Nanoseconds time) {
  Seen* place = seen_.data();
  for (Seen& one : seen_) {
    if (one.port == port && one.address == address) {
      place = &one;
      break;
    }
    if (one.at < place->at) place = &one;
  }
  *place = {address, port, time};
}

bool AccountPorts::had(const wire::Address& address, std::uint16_t port, Nanoseconds time) {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(seen_, [&](const Seen& one) {
    return one.at != 0 && one.port == port && one.address == address && time - one.at < kRemembered;
  });
}

std::vector<wire::Address> AccountPorts::addresses() {
  const std::lock_guard guard(lock_);
  return {addresses_.begin(), addresses_.end()};
}

}  // namespace gdr::net
