#include "net/pcap_port.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/own_file.h"
#include "net/identification.h"
#include "rnic/ip_header.h"

namespace gdr::net {
namespace {

// libpcap's file format, version 2.4, in the host's byte order, with nanoseconds.
struct FileHeader {
  std::uint32_t magic = 0xa1b2'3c4d;
  std::uint16_t major = 2, minor = 4;
  std::int32_t zone = 0;
  std::uint32_t accuracy = 0;
  std::uint32_t longest = 65535;
  std::uint32_t link_type = 101;  // LINKTYPE_RAW: begins with an IP header
};
struct PacketHeader {
  std::uint32_t seconds, nanoseconds, captured, original;
};
static_assert(sizeof(FileHeader) == 24 && sizeof(PacketHeader) == 16);

std::atomic<void (*)(int error)> told_when_full = nullptr;

constexpr std::size_t kUdpBytes = 8;
constexpr std::uint8_t kHops = 64;

}  // namespace

Result<std::unique_ptr<PcapFile>> PcapFile::open(const std::string& path) {
  Result<UniqueFd> opened = open_own_file(path, O_RDWR | O_APPEND);
  if (!opened) {
    return Error{opened.error().code, "GDR_SOFT_PCAP=" + opened.error().message};
  }
  UniqueFd file = *std::move(opened);
  FileHeader wanted, found;
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return from_errno("GDR_SOFT_PCAP=" + path);
  if (sizeof wanted > most_bytes_of_file()) {
    errno = EFBIG;
    return from_errno("GDR_SOFT_PCAP=" + path);
  }
  if (status.st_size == 0 && !write_first_bytes(file.get(), std::as_bytes(std::span(&wanted, 1)))) {
    return from_errno("GDR_SOFT_PCAP=" + path);
  }
  const bool usable = pread(file.get(), &found, sizeof found, 0) == sizeof found &&
                      std::memcmp(&found, &wanted, sizeof found) == 0;
  flock(file.get(), LOCK_UN);
  if (!usable) {
    return Error{
        EINVAL,
        "GDR_SOFT_PCAP=" + path +
            ": the file exists but is not a capture of gdrkit's; remove it or name another"};
  }
  return std::unique_ptr<PcapFile>(new PcapFile(std::move(file)));
}

PcapFile::PcapFile(UniqueFd file) : file_(std::move(file)), limit_(most_bytes_of_file()) {}

void PcapFile::when_full(void (*told)(int error)) { told_when_full = told; }

void PcapFile::write(const wire::Flow& flow, std::span<const std::byte> packet,
                     std::uint16_t guess) {
  if (is_full_.load(std::memory_order_relaxed)) return;
  const std::uint16_t identification = find_identification(flow, packet, guess).value_or(guess);
  std::array<std::uint8_t, rnic::kIpv6Bytes> ip;
  const std::size_t ip_bytes = rnic::write_ip_header({.source = flow.source,
                                                      .target = flow.destination,
                                                      .hop_limit = kHops,
                                                      .identification = identification,
                                                      .behind = kUdpBytes + packet.size()},
                                                     ip);
  std::array<std::uint8_t, kUdpBytes> udp{};
  store_be16(&udp[0], flow.source_port);
  store_be16(&udp[2], flow.destination_port);
  store_be16(&udp[4], static_cast<std::uint16_t>(kUdpBytes + packet.size()));
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const auto length = static_cast<std::uint32_t>(ip_bytes + udp.size() + packet.size());
  PacketHeader header{static_cast<std::uint32_t>(time.tv_sec),
                      static_cast<std::uint32_t>(time.tv_nsec), length, length};
  // One call: the file is open for appending, and others write to it, too.
  const iovec parts[] = {{&header, sizeof header},
                         {ip.data(), ip_bytes},
                         {udp.data(), udp.size()},
                         {const_cast<std::byte*>(packet.data()), packet.size()}};
  const std::size_t bytes = sizeof header + length;
  const std::lock_guard guard(mutex_);
  if (is_full_.load(std::memory_order_relaxed)) return;
  const ssize_t wrote = append(parts, bytes);
  if (wrote < 0) return end(0, errno);
  // A part is written without an error.
  if (static_cast<std::size_t>(wrote) != bytes) end(wrote, ENOSPC);
}

ssize_t PcapFile::append(std::span<const iovec> parts, std::size_t bytes) {
  struct stat status {};
  if (limit_ != RLIM_INFINITY && fstat(file_.get(), &status) == 0 &&
      static_cast<std::uint64_t>(status.st_size) + bytes > limit_) {
    errno = EFBIG;
    return -1;
  }
  return writev(file_.get(), parts.data(), static_cast<int>(parts.size()));
}

// The half packet goes, and what others have appended behind it: whoever comes after must follow a
// whole one. Another process may have cut the file off before that, so it is only made shorter.
void PcapFile::end(off_t half, int error) {
  is_full_.store(true, std::memory_order_relaxed);
  if (half > 0 && lock_own_file(file_.get(), "")) {
    const off_t start = lseek(file_.get(), 0, SEEK_CUR) - half;
    struct stat status {};
    if (fstat(file_.get(), &status) == 0 && status.st_size > start) {
      static_cast<void>(ftruncate(file_.get(), start));
    }
    flock(file_.get(), LOCK_UN);
  }
  if (const auto told = told_when_full.load()) told(error);
}

void PcapFile::write_all(const wire::Flow& flow, std::span<const std::byte> packets,
                         std::size_t packet_bytes) {
  std::uint16_t place = 0;
  while (!packets.empty()) {
    const std::size_t bytes = std::min(packet_bytes, packets.size());
    write(flow, packets.first(bytes), place++);
    packets = packets.subspan(bytes);
  }
}

PcapPort::PcapPort(std::unique_ptr<Port> inner, std::shared_ptr<PcapFile> file)
    : inner_(std::move(inner)), file_(std::move(file)) {}

int PcapPort::send(const Burst& burst) {
  const wire::Flow flow{address(), burst.destination, burst.source_port, wire::kRocePort};
  file_->write_all(flow, bytes_of(burst), burst.packet_bytes);
  return inner_->send(burst);
}

bool PcapPort::receive(Arrival* arrival) {
  if (!inner_->receive(arrival)) return false;
  const wire::Flow flow{arrival->source, address(), arrival->source_port, wire::kRocePort};
  file_->write_all(flow, arrival->bytes, arrival->packet_bytes);
  return true;
}

}  // namespace gdr::net
