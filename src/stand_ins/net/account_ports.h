// AccountPorts: the private ports (private_socket.h) that processes of this account on this host
// were seen to have, when their segments were last looked at.
//
//   ports.see(address, found, now());               // each time that they are looked at
//   if (ports.had(address, port, now())) ...        // a moment ago: its process may have ended
//   for (const wire::Address& one : ports.addresses()) ...  // which addresses are this account's
//
// A process may end before its last words are read. What they come from is known from here.
// Threads: any. Cold.
#pragma once

#include <array>
#include <set>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/spin_lock.h"
#include "wire/icrc.h"

namespace gdr::net {

class AccountPorts {
 public:
  // Another account may take the port of a process that has ended: so not for long.
  static constexpr Nanoseconds kRemembered = 2 * kSecond;

  void see(const wire::Address& address, std::span<const std::uint16_t> ports, Nanoseconds time);
  bool had(const wire::Address& address, std::uint16_t port, Nanoseconds time);
  // For good: no other account gets a process's address while one of this account has it.
  std::vector<wire::Address> addresses();

 private:
  static constexpr std::size_t kMostAddresses = 256;

  struct Seen {
    wire::Address address{};
    std::uint16_t port = 0;
    Nanoseconds at = 0;  // 0: nothing is here
  };
  void note(const wire::Address& address, std::uint16_t port, Nanoseconds time);

  SpinLock lock_;
  std::array<Seen, 256> seen_{};
  std::set<wire::Address> addresses_;
};

}  // namespace gdr::net
