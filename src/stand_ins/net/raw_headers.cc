#include "net/raw_headers.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/system_calls.h"

namespace gdr::net {
namespace {

constexpr std::size_t kIpBytes = 20, kUdpBytes = 8;
constexpr std::size_t kHeaders = kIpBytes + kUdpBytes + wire::kBthBytes;
constexpr std::size_t kMostSources = 64;  // a filter names each
constexpr std::size_t kMostSeen = 1024;
constexpr int kSocketBuffer = 8 << 20;

std::uint32_t ipv4_of(const wire::Address& address) { return load_be32(address.data() + 12); }

}  // namespace

void RawHeaders::watch(const wire::Address& source) {
  if (std::find(sources_.begin(), sources_.end(), source) != sources_.end()) return;
  if (!tried_) open();
  if (!socket_ || sources_.size() == kMostSources) return;
  sources_.push_back(source);
  install_filter();
}

void RawHeaders::open() {
  tried_ = true;
  socket_.reset(system_socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
  if (!socket_) return;
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBuffer, sizeof kSocketBuffer) !=
      0) {
    (void)setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &kSocketBuffer, sizeof kSocketBuffer);
  }
}

// Headers without options, to port 4791, from one of the sources.
void RawHeaders::install_filter() {
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x45, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kIpBytes + 2),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kRocePort, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 12),
  };
  for (const wire::Address& source : sources_) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ipv4_of(source), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kHeaders));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    socket_.reset();
  }
}

void RawHeaders::read_all() {
  std::array<std::byte, kHeaders> bytes;
  while (recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size())) {
    Seen seen{};
    seen.source[10] = seen.source[11] = 0xff;
    std::memcpy(seen.source.data() + 12, bytes.data() + 12, 4);
    seen.identification = load_be16(bytes.data() + 4);
    std::copy_n(bytes.begin() + kIpBytes + kUdpBytes, seen.bth.size(), seen.bth.begin());
    seen_.push_back(seen);
    if (seen_.size() > kMostSeen) seen_.pop_front();
  }
}

void RawHeaders::begin(const wire::Address& source, std::span<const std::byte> first) {
  if (!socket_ || first.size() < first_bth_.size()) return;
  first_source_ = source;
  std::copy_n(first.begin(), first_bth_.size(), first_bth_.begin());
}

std::optional<bool> RawHeaders::allow(std::uint16_t identification, std::uint16_t place) {
  if (!socket_) return std::nullopt;
  read_all();
  std::optional<bool> allowed;
  const auto wanted = static_cast<std::uint16_t>(identification - place);
  for (auto seen = seen_.begin(); seen != seen_.end(); ++seen) {
    if (seen->source != first_source_ || seen->bth != first_bth_) continue;
    allowed = seen->identification == wanted;
    if (!*allowed) continue;
    // What came before it was for others, or lost to the UDP socket.
    seen_.erase(seen_.begin(), seen);
    break;
  }
  return allowed;
}

}  // namespace gdr::net
