#include "net/burst_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "net/udp_options.h"

namespace gdr::net {
namespace {

constexpr int kEcnMask = 3;
constexpr int kCongestionExperienced = 3;
constexpr int kSendPatience = 2;  // milliseconds
// Longer packets cost so much by themselves that a control message does not matter.
constexpr std::uint32_t kMostCut = 512;
// A change costs a system call, and the old length's bursts then need their control message.
constexpr std::uint32_t kRepetitions = 16;

void add_traffic_class(const Burst& burst, ControlMessages* control) {
  if (burst.traffic_class == 0 && !burst.congested) return;
  const int tos =
      (burst.traffic_class & ~kEcnMask) | (burst.congested ? kCongestionExperienced : kEcnCapable);
  const bool ipv4 = wire::is_ipv4(burst.destination);
  control->add(ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TOS : IPV6_TCLASS, tos);
}

// In a process with threads the C library's own functions cost two atomic operations more: threads
// may be cancelled in them.
long send_once(int socket, const SocketAddress& to, const Burst& burst, ControlMessages* control) {
  if (control->is_empty() && burst.pieces.size() == 1) {
    const iovec& piece = burst.pieces.front();
    return syscall(SYS_sendto, socket, piece.iov_base, piece.iov_len, MSG_DONTWAIT, to.get(),
                   to.length);
  }
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to.get());
  message.msg_namelen = to.length;
  message.msg_iov = const_cast<iovec*>(burst.pieces.data());
  message.msg_iovlen = burst.pieces.size();
  if (!control->is_empty()) control->attach_to(&message);
  return syscall(SYS_sendmsg, socket, &message, MSG_DONTWAIT);
}

int send_out(int socket, const SocketAddress& to, const Burst& burst, ControlMessages* control) {
  for (int tries = 0;; ++tries) {
    if (send_once(socket, to, burst, control) >= 0) return 0;
    const int error = errno;
    if (error == EINTR) continue;
    // An ICMP answer to an earlier packet, told once: the packet itself has not been tried.
    if (error == ECONNREFUSED && tries < 2) continue;
    if ((error != EAGAIN && error != ENOBUFS) || tries > 0) return error;
    pollfd room{socket, POLLOUT, 0};
    poll(&room, 1, kSendPatience);
  }
}

}  // namespace

// Whether this thread has the socket for itself.
class BurstSocket::Turn {
 public:
  explicit Turn(std::atomic<bool>& taken)
      : taken_(taken), is_mine_(!taken.exchange(true, std::memory_order_acquire)) {}
  ~Turn() {
    if (is_mine_) taken_.store(false, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool is_mine() const { return is_mine_; }

 private:
  std::atomic<bool>& taken_;
  const bool is_mine_;
};

bool BurstSocket::set_cut(std::uint32_t cut) {
  if (!set_option(descriptor_, SOL_UDP, UDP_SEGMENT, static_cast<int>(cut))) return false;
  cut_ = cut;
  return true;
}

// Whether the burst needs not name the length of its packets; perhaps from now on.
bool BurstSocket::cuts_rightly(const Burst& burst, std::uint32_t cut) {
  if (cut == cut_) {
    repetitions_ = 0;
    return true;
  }
  const std::uint32_t wanted = cut <= kMostCut ? cut : 0;
  if (wanted != wanted_) {
    wanted_ = wanted;
    repetitions_ = 0;
  }
  if (++repetitions_ >= kRepetitions && wanted != cut_ && can_cut_) {
    can_cut_ = set_cut(wanted);
    repetitions_ = 0;
  }
  return cut == cut_ || (cut == 0 && burst.bytes <= cut_);
}

int BurstSocket::send(const SocketAddress& to, const Burst& burst) {
  const std::uint32_t cut = burst.bytes > burst.packet_bytes ? burst.packet_bytes : 0;
  const Turn turn(taken_);
  ControlMessages control;
  const bool by_socket = turn.is_mine() && cuts_rightly(burst, cut);
  if (!by_socket) control.add(SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(cut));
  add_traffic_class(burst, &control);
  const int error = send_out(descriptor_, to, burst, &control);
  const bool is_refused = error == EIO || error == EINVAL;
  if (!is_refused || !by_socket || cut_ == 0) return error;
  // Kernels before 6.11 refuse whatever a socket that cuts sends by a device without checksums.
  can_cut_ = false;
  (void)set_cut(0);
  if (cut != 0) control.add(SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(cut));
  return send_out(descriptor_, to, burst, &control);
}

}  // namespace gdr::net
