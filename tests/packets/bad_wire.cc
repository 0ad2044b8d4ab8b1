#include "bad_wire.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace gdr::test {
namespace {

constexpr std::size_t kLongest = 65536;
constexpr Nanoseconds kReorderWait = kMillisecond;
constexpr std::size_t kIpv4Bytes = 20, kIpv6Bytes = 40, kUdpBytes = 8;
constexpr std::byte kUdp{17};
constexpr unsigned kCongested = 3;  // both bits of ECN

bool is_ipv4(std::span<const std::byte> packet) {
  return !packet.empty() && std::to_integer<unsigned>(packet[0]) >> 4 == 4;
}

// Where its BTH begins; 0: it is no RoCE packet.
std::size_t roce_at(std::span<const std::byte> packet) {
  const std::size_t ip = is_ipv4(packet) ? kIpv4Bytes : kIpv6Bytes;
  if (packet.size() <= ip + kUdpBytes || packet[is_ipv4(packet) ? 9 : 6] != kUdp) return 0;
  return load_be16(&packet[ip + 2]) == wire::kRocePort ? ip + kUdpBytes : 0;
}

std::uint16_t sum_of(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += load_be16(&bytes[i]);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// As a router does whose queue is long; only what is capable of it (RFC 3168).
void mark(std::span<std::byte> packet) {
  if (!is_ipv4(packet)) {
    if ((std::to_integer<unsigned>(packet[1]) & 0x30) != 0) packet[1] |= std::byte{0x30};
    return;
  }
  if ((std::to_integer<unsigned>(packet[1]) & kCongested) == 0) return;
  packet[1] |= std::byte{kCongested};
  store_be16(&packet[10], 0);
  store_be16(&packet[10], sum_of(packet.first(kIpv4Bytes)));
}

// UDP's checksum would give it away: as RoCE hardware, IPv4 goes without. IPv6 may not; there the
// kernel drops it, as a switch does with a damaged frame.
void corrupt(std::span<std::byte> packet, std::size_t roce, std::uint64_t where) {
  packet[roce + where % (packet.size() - roce)] ^= std::byte{1};
  if (is_ipv4(packet)) store_be16(&packet[roce - 2], 0);
}

}  // namespace

Result<UniqueFd> open_tun(const std::string& name) {
  UniqueFd tun(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun) return from_errno("/dev/net/tun");
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tun.get(), TUNSETIFF, &request) != 0) return from_errno("a tun device");
  return tun;
}

BadWire::BadWire(std::array<UniqueFd, 2> ends, const net::Faults& faults)
    : ends_(std::move(ends)), faults_(faults), random_(faults.seed) {}

void BadWire::run() {
  while (true) {
    pollfd waits[2] = {{ends_[0].get(), POLLIN, 0}, {ends_[1].get(), POLLIN, 0}};
    timespec patience{};
    const Nanoseconds time = now();
    if (!waiting_.empty() && waiting_.top().due > time) {
      const Nanoseconds wait = waiting_.top().due - time;
      patience = {static_cast<time_t>(wait / kSecond), static_cast<long>(wait % kSecond)};
    }
    if (ppoll(waits, 2, waiting_.empty() ? nullptr : &patience, nullptr) < 0) return;
    send_due();
    for (std::size_t end = 0; end < 2; ++end) {
      if ((waits[end].revents & (POLLERR | POLLHUP)) != 0) return;
      // A few from each, so that none waits for the other.
      for (int n = 0; n < 64 && forward_from(end); ++n) {
      }
    }
  }
}

bool BadWire::forward_from(std::size_t end) {
  std::byte bytes[kLongest];
  const ssize_t got = read(ends_[end].get(), bytes, sizeof bytes);
  if (got <= 0) return false;
  const std::span<const std::byte> packet(bytes, static_cast<std::size_t>(got));
  if (roce_at(packet) == 0) {
    send(1 - end, packet);
  } else {
    spoil(1 - end, {packet.begin(), packet.end()});
  }
  return true;
}

void BadWire::spoil(std::size_t to, std::vector<std::byte> bytes) {
  if (happens(faults_.loss)) return;
  if (happens(faults_.corrupt)) corrupt(bytes, roce_at(bytes), random_());
  if (happens(faults_.mark)) mark(bytes);
  const bool twice = happens(faults_.duplicate);
  const bool reorders = happens(faults_.reorder);
  const Nanoseconds due = now() + faults_.delay + (reorders ? kReorderWait : 0);
  for (int i = 0; i < (twice ? 2 : 1); ++i) waiting_.push({due, next_number_++, to, bytes});
  send_due();
}

void BadWire::send_due() {
  while (!waiting_.empty() && waiting_.top().due <= now()) {
    send(waiting_.top().to, waiting_.top().bytes);
    waiting_.pop();
  }
}

// What does not fit any more is lost, as on any wire.
void BadWire::send(std::size_t to, std::span<const std::byte> bytes) {
  [[maybe_unused]] const ssize_t wrote = write(ends_[to].get(), bytes.data(), bytes.size());
}

}  // namespace gdr::test
