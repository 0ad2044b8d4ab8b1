// One direction, as RC writes of `size` bytes go: packets of prefix, payload where it lies, and CRC
// over both; on the other side checked and copied to their place in a buffer of `size` bytes.
//
// With even lengths all packets have the longest headers of a write, so that segmentation offload
// takes as many together as fit. Of a real write only the first packet has them, and a burst's
// packets must be of one length but for a shorter last one: two bursts for each write, at least.
//
// The CRC is src/stand_ins/wire's: what is measured is the limit of moving such packets through the
// kernel, given that each byte has to be summed up once on either side.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "bare_measure.h"
#include "base/clock.h"
#include "wire/icrc.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kMostBurstBytes = 65'000;  // one IP packet
constexpr std::size_t kMostPackets = 60;         // UDP_MAX_SEGMENTS is 64
constexpr std::size_t kRoom = 65536;
constexpr std::size_t kShortPrefixBytes = 12;  // of packets behind a write's first

// Begins with the packet's number, counted from 0; the rest says nothing.
using Prefix = std::array<std::byte, kPrefixBytes>;

std::uint32_t crc_of(std::span<const std::byte> prefix, std::span<const std::byte> payload) {
  return wire::crc_update(wire::crc_update(~0u, prefix.data(), prefix.size()), payload.data(),
                          payload.size());
}

class Sender {
 public:
  explicit Sender(const BarePair& pair)
      : pair_(pair),
        packet_(pair.options().packet),
        wire_bytes_(kPrefixBytes + packet_ + kCrcBytes),
        packets_(pair.options().count * (pair.options().size / packet_)),
        in_message_(pair.options().size / packet_),
        burst_(!pair.options().segmentation ? 1
               : pair.options().even        ? std::min(kMostPackets, kMostBurstBytes / wire_bytes_)
                                            : std::min(kMostPackets, in_message_)),
        window_(std::max<std::uint64_t>(pair.options().window / wire_bytes_,
                                        burst_ + pair.options().size / packet_)),
        bytes_(pair.options().size, std::byte{0x5a}) {}

  Result<void> run() {
    const Nanoseconds began = now();
    while (acknowledged_ < packets_) {
      if (!take_acknowledgement(sent_ < packets_ && sent_ + burst_ <= acknowledged_ + window_)) {
        return Error{ETIMEDOUT, "packets were lost"};
      }
      const std::uint64_t until = std::min(packets_, acknowledged_ + window_);
      // A burst less than full only at the end: crumbs would make every next one a crumb.
      if (until - sent_ < burst_ && until < packets_) continue;
      if (sent_ < until && !send_packets(std::min(until - sent_, burst_))) {
        return from_errno("sendmsg");
      }
    }
    const auto seconds = static_cast<double>(now() - began) / static_cast<double>(kSecond);
    const auto delivered = static_cast<double>(packets_ * packet_);
    std::printf("%zu bytes in packets of %zu: %.1f MB/s\n", bytes_.size(), packet_,
                delivered / seconds / 1e6);
    return {};
  }

 private:
  bool send_packets(std::size_t count) {
    const std::uint64_t end = sent_ + count;
    while (sent_ < end) {
      if (!send_burst(end)) return false;
    }
    return true;
  }

  // As many of those before `end` as go together.
  bool send_burst(std::uint64_t end) {
    const std::size_t longest = prefix_bytes(sent_);
    const std::size_t most =
        std::min({burst_, kMostBurstBytes / (longest + packet_ + kCrcBytes), end - sent_});
    std::size_t count = 0;
    for (bool ended = false; count < most && !ended && prefix_bytes(sent_) <= longest; ++count) {
      ended = prefix_bytes(sent_) < longest;
      append(count, sent_++);
    }
    const std::size_t segment = longest + packet_ + kCrcBytes;
    return pair_.send(pieces_.data(), 3 * count,
                      count > 1 ? static_cast<std::uint16_t>(segment) : std::uint16_t{0});
  }

  std::size_t prefix_bytes(std::uint64_t number) const {
    return pair_.options().even || number % in_message_ == 0 ? kPrefixBytes : kShortPrefixBytes;
  }

  void append(std::size_t place, std::uint64_t number) {
    const std::span<std::byte> prefix(prefixes_[place].data(), prefix_bytes(number));
    const std::span<std::byte> payload(bytes_.data() + number % in_message_ * packet_, packet_);
    std::memcpy(prefix.data(), &number, sizeof number);
    crcs_[place] = crc_of(prefix, payload);
    pieces_[3 * place] = {prefix.data(), prefix.size()};
    pieces_[3 * place + 1] = {payload.data(), payload.size()};
    pieces_[3 * place + 2] = {&crcs_[place], kCrcBytes};
  }

  // False: it had to come and did not.
  bool take_acknowledgement(bool may_send) {
    std::uint32_t segment = 0;
    std::array<std::uint64_t, 8> counts;  // several when they were received as one
    const ssize_t got = may_send ? pair_.receive_now(counts.data(), sizeof counts, &segment)
                                 : pair_.receive(counts.data(), sizeof counts, &segment);
    const auto whole = static_cast<std::size_t>(std::max<ssize_t>(got, 0)) / sizeof counts[0];
    if (whole > 0) acknowledged_ = std::max(acknowledged_, counts[whole - 1]);
    return may_send || got >= 0;
  }

  const BarePair& pair_;
  const std::size_t packet_, wire_bytes_;
  const std::uint64_t packets_, in_message_, burst_, window_;
  std::vector<std::byte> bytes_;
  std::uint64_t sent_ = 0, acknowledged_ = 0;
  std::array<Prefix, kMostPackets> prefixes_{};
  std::array<std::uint32_t, kMostPackets> crcs_;
  std::array<iovec, 3 * kMostPackets> pieces_;
};

class Receiver {
 public:
  explicit Receiver(const BarePair& pair)
      : pair_(pair),
        packet_(pair.options().packet),
        in_message_(pair.options().size / packet_),
        packets_(pair.options().count * in_message_),
        room_(kRoom),
        bytes_(pair.options().size) {}

  Result<void> run() {
    while (taken_ < packets_) {
      std::uint32_t segment = 0;
      const ssize_t got = pair_.receive(room_.data(), kRoom, &segment);
      if (got < 0) return Error{ETIMEDOUT, "packets were lost"};
      const std::uint64_t messages = taken_ / in_message_;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got); at += segment) {
        const std::size_t bytes =
            std::min<std::size_t>(segment, static_cast<std::size_t>(got) - at);
        if (!take({room_.data() + at, bytes})) return Error{EPROTO, "packets were lost or broken"};
      }
      // As a responder answers: where a message has ended.
      if (taken_ / in_message_ == messages) continue;
      const iovec piece{&taken_, sizeof taken_};
      if (!pair_.send(&piece, 1, 0)) return from_errno("sendmsg");
    }
    return {};
  }

 private:
  bool take(std::span<const std::byte> packet) {
    if (packet.size() < kShortPrefixBytes + packet_ + kCrcBytes) return false;
    const auto payload = packet.last(packet_ + kCrcBytes).first(packet_);
    const auto prefix = packet.first(packet.size() - packet_ - kCrcBytes);
    std::uint64_t number = 0;
    std::memcpy(&number, prefix.data(), sizeof number);
    std::uint32_t crc = 0;
    std::memcpy(&crc, payload.data() + packet_, kCrcBytes);
    if (number != taken_ || crc != crc_of(prefix, payload)) return false;
    std::memcpy(bytes_.data() + taken_ % in_message_ * packet_, payload.data(), packet_);
    ++taken_;
    return true;
  }

  const BarePair& pair_;
  const std::size_t packet_, in_message_;
  const std::uint64_t packets_;
  std::uint64_t taken_ = 0;
  std::vector<std::byte> room_, bytes_;
};

}  // namespace

Result<void> send_stream(const BarePair& pair) { return std::make_unique<Sender>(pair)->run(); }

Result<void> receive_stream(const BarePair& pair) {
  return std::make_unique<Receiver>(pair)->run();
}

}  // namespace gdr::bench
