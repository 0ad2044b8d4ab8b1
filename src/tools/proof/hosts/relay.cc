#include "proof/hosts/relay.h"

#include <poll.h>

namespace gdr::proof {
namespace {

constexpr int kLookMilliseconds = 200;

// False: one side has ended.
bool carry(process::Connection& from, process::Connection& to) {
  const Result<process::Received> received = from.receive_any(0);
  if (!received) return received.error().code == ETIMEDOUT;  // not whole yet
  return static_cast<bool>(to.send_raw(received->kind, received->bytes));
}

}  // namespace

void relay(process::Connection& one, process::Connection& other,
           const std::function<bool()>& goes_on) {
  while (goes_on()) {
    pollfd entries[2] = {{one.descriptor(), POLLIN, 0}, {other.descriptor(), POLLIN, 0}};
    if (poll(entries, 2, kLookMilliseconds) <= 0) continue;
    if (entries[0].revents != 0 && !carry(one, other)) return;
    if (entries[1].revents != 0 && !carry(other, one)) return;
  }
}

}  // namespace gdr::proof
