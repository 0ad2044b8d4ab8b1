#include "fabric/rendezvous/reach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "perf/dial.h"

namespace gdr::fabric {
namespace {

// For one address, at first: behind a firewall that drops packets another one may answer at once.
constexpr Nanoseconds kFirstPatience = kSecond;
constexpr Nanoseconds kMostPatience = 8 * kSecond;
constexpr unsigned kPauseMicroseconds = 50'000;

std::vector<std::string> in_order(const Invitation& invitation) {
  std::vector<std::string> addresses = invitation.addresses;
  const std::vector<std::string> own = own_addresses();
  std::stable_partition(addresses.begin(), addresses.end(), [&](const std::string& address) {
    return std::ranges::find(own, address) == own.end();
  });
  return addresses;
}

}  // namespace

Result<UniqueFd> reach(const Invitation& invitation, Nanoseconds deadline) {
  const std::vector<std::string> addresses = in_order(invitation);
  if (addresses.empty()) return Error{EINVAL, "rank 0 has no address that other hosts can reach"};
  std::string reasons;
  for (Nanoseconds patience = kFirstPatience;; patience = std::min(2 * patience, kMostPatience)) {
    std::string failed;
    for (const std::string& address : addresses) {
      const Nanoseconds end = std::min(deadline, now() + patience);
      Result<UniqueFd> connection = perf::connect_within(address, invitation.port, end);
      if (connection) return connection;
      failed += fmt::format("{}{} port {}: {}", failed.empty() ? "" : "; ", address,
                            invitation.port, connection.error().message);
      if (now() >= deadline) break;
    }
    // A last pass that ran out of time did not ask every address.
    if (reasons.empty() || now() < deadline) reasons = failed;
    if (now() >= deadline) break;
    usleep(kPauseMicroseconds);
  }
  return Error{ETIMEDOUT, "rank 0 cannot be reached: " + reasons};
}

}  // namespace gdr::fabric
