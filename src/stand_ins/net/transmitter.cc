#include "net/transmitter.h"

#include <array>
#include <cstring>

#include "memory/fault_guard.h"
#include "net/port_counts.h"
#include "rnic/multicast.h"

namespace gdr::net {
namespace {

constexpr std::uint32_t kMostPieces = 1024;  // UIO_MAXIOV
constexpr std::uint32_t kMostPad = 3;
// Payload that is copied behind its headers: a packet in one piece costs the kernel, and the CRC,
// less than the copy.
constexpr std::uint32_t kShortPayload = 256;
constexpr std::uint32_t kTailBytes = kMostPad + wire::kIcrcBytes;
// In place of a payload that is gone.
constexpr std::array<std::byte, wire::kMostPayload> kNoBytes{};

// One packet that is to be sent: where its parts lie.
struct Prepared {
  std::uint32_t header_bytes, payload_bytes, bytes;
  std::uint32_t first_piece, pieces;  // its payload's
  std::uint8_t pad;
  bool acknowledges;  // and carries nothing
  // The engine has to be told these if the payload is gone.
  engine::Source source;
  std::uint32_t work, psn, xrc_srq, rkey;
  std::uint64_t address;
};

bool is_unreliable(const engine::Transmit& transmit) {
  const wire::Transport transport = transmit.packet.transport();
  return transport == wire::Transport::kUnreliableConnection ||
         transport == wire::Transport::kUnreliableDatagram;
}

// The packets of one pump, on the stack. Nothing is cleared: it is large, and mostly unused.
class Batch {
 public:
  Batch(Port& port, ports::Port& counted, const wire::Address& destination,
        std::uint16_t source_port, std::uint8_t traffic_class, Counters& counters)
      : port_(port),
        counted_(counted),
        destination_(destination),
        source_port_(source_port),
        traffic_class_(traffic_class),
        counters_(counters) {}

  bool full() const {
    return count_ == kMostPackets || payload_room_.room() < wire::kMostPayload ||
           used_pieces_ > kMostPieces - kPiecesOfPacket;
  }

  // False: its payload is not there.
  bool add(PacketQueuePair& queue_pair, const engine::Transmit& transmit) {
    Prepared& packet = prepared_[count_];
    const std::optional<std::uint32_t> pieces = queue_pair.gather(
        transmit, std::span(payload_).subspan(used_pieces_, kPiecesOfPacket), payload_room_);
    if (!pieces) return false;
    // A long packet's payload is looked at as its checksum is made: looking here, too, would fetch
    // it twice. But of an unreliable message the engine has to know before it goes on.
    const bool looks = transmit.payload_bytes <= kShortPayload || is_unreliable(transmit);
    if (looks && !are_there(used_pieces_, *pieces)) return false;
    packet.header_bytes =
        static_cast<std::uint32_t>(wire::write_headers(transmit.packet, headers_[count_].data()));
    packet.payload_bytes = transmit.payload_bytes;
    packet.pad = transmit.packet.pad;
    if (transmit.packet.opcode == wire::kCongestionNotification) {
      counted_.add(ports::PortCount::kCnpSent);
    }
    packet.acknowledges = transmit.packet.operation() == wire::Operation::kAcknowledge;
    packet.first_piece = used_pieces_;
    packet.pieces = *pieces;
    packet.bytes = packet.header_bytes + transmit.payload_bytes + packet.pad + wire::kIcrcBytes;
    packet.source = transmit.source;
    packet.work = transmit.work;
    packet.psn = transmit.packet.psn;
    packet.xrc_srq = transmit.packet.xrc_srq;
    packet.rkey = transmit.rkey;
    packet.address = transmit.address;
    used_pieces_ += *pieces;
    ++count_;
    return true;
  }

  // The first packet whose payload was found to be gone as it was sent, for payload_unavailable().
  std::optional<engine::Transmit> missing() const {
    if (!missing_) return std::nullopt;
    const Prepared& packet = prepared_[*missing_];
    engine::Transmit transmit{};
    transmit.packet.psn = packet.psn;
    transmit.packet.xrc_srq = packet.xrc_srq;
    transmit.source = packet.source;
    transmit.payload_bytes = packet.payload_bytes;
    transmit.work = packet.work;
    transmit.rkey = packet.rkey;
    transmit.address = packet.address;
    return transmit;
  }

  // In as few bursts as the kernel's segmentation permits: packets of one length, the last may be
  // shorter. An acknowledge in front goes behind the requests: it is shorter, and that order does
  // not matter.
  int send() {
    std::uint32_t next = 0;
    std::optional<std::uint32_t> held;
    if (count_ > 1 && prepared_[0].acknowledges) held = next++;
    int error = 0;
    while (next < count_) {
      begin_burst(prepared_[next].bytes);
      while (next < count_ && fits(prepared_[next])) append(next++);
      if (held && fits(prepared_[*held])) append(*std::exchange(held, std::nullopt));
      if (const int failed = send_burst()) error = failed;
    }
    if (held) {
      begin_burst(prepared_[*held].bytes);
      append(*held);
      if (const int failed = send_burst()) error = failed;
    }
    return error;
  }

 private:
  static constexpr std::uint32_t kPiecesOfPacket = rnic::kMaxSegments + 1;

  std::span<const iovec> payload_at(std::uint32_t first, std::uint32_t count) const {
    return {&payload_[first], count};
  }

  // The program may have unmapped what it has registered.
  bool are_there(std::uint32_t first, std::uint32_t count) const {
    for (const iovec& piece : payload_at(first, count)) {
      if (!memory::is_there(piece.iov_base, piece.iov_len)) return false;
    }
    return true;
  }

  void begin_burst(std::uint32_t packet_bytes) {
    burst_pieces_ = burst_packets_ = burst_bytes_ = 0;
    packet_bytes_ = packet_bytes;
    ended_ = false;
    free_ = {};
  }

  bool fits(const Prepared& packet) const {
    return !ended_ && packet.bytes <= packet_bytes_ &&
           burst_bytes_ + packet.bytes <= kMostBurstBytes &&
           burst_pieces_ + packet.pieces + 2 <= kMostPieces;
  }

  void append(std::uint32_t index) {
    const Prepared& packet = prepared_[index];
    ended_ = packet.bytes < packet_bytes_;
    const std::span<const iovec> payload = payload_at(packet.first_piece, packet.pieces);
    const bool in_one_piece = packet.payload_bytes <= kShortPayload;
    // Short packets share a piece: one that is all of a burst can be sent without a message header.
    const bool joins = in_one_piece && free_.size() >= packet.bytes + kMostPad;
    std::byte* bytes = headers_[index].data();
    if (joins) {
      std::memcpy(free_.data(), bytes, packet.header_bytes);
      bytes = free_.data();
    }
    std::byte* end = bytes + packet.header_bytes;
    // False: the receiver is to drop the packet.
    bool is_whole = true;
    if (in_one_piece) {
      is_whole = copy_payload(payload, end);
      if (!is_whole) std::memset(end, 0, packet.payload_bytes);
      end += packet.payload_bytes;
    }
    wire::Icrc icrc =
        wire::icrc_begin({port_.address(), destination_, source_port_, wire::kRocePort},
                         static_cast<std::uint16_t>(burst_packets_), packet.bytes, {bytes, end});
    if (!in_one_piece) {
      pieces_[burst_pieces_++] = {bytes, packet.header_bytes};
      is_whole = add_payload(payload, icrc);
      if (is_whole) {
        for (const iovec& piece : payload) pieces_[burst_pieces_++] = piece;
      } else {
        pieces_[burst_pieces_++] = {const_cast<std::byte*>(kNoBytes.data()), packet.payload_bytes};
      }
      bytes = end;  // the rest lies behind the headers, where no payload is
    }
    if (!is_whole && !missing_) missing_ = index;
    std::memset(end, 0, kMostPad);
    icrc.add({end, packet.pad});
    end += packet.pad;
    const std::uint32_t value = is_whole ? icrc.value() : ~icrc.value();
    std::memcpy(end, &value, sizeof value);
    end += sizeof value;
    if (joins) {
      pieces_[burst_pieces_ - 1].iov_len += packet.bytes;
      free_ = free_.subspan(packet.bytes);
    } else {
      pieces_[burst_pieces_++] = {bytes, static_cast<std::size_t>(end - bytes)};
      const std::span<std::byte> own(headers_[index]);
      free_ = in_one_piece ? own.subspan(packet.bytes) : std::span<std::byte>();
    }
    burst_bytes_ += packet.bytes;
    ++burst_packets_;
  }

  // False, for both: some of it is not there.
  static bool copy_payload(std::span<const iovec> payload, std::byte* to) {
    for (const iovec& piece : payload) {
      if (!memory::copy_if_there(to, piece.iov_base, piece.iov_len)) return false;
      to += piece.iov_len;
    }
    return true;
  }
  static bool add_payload(std::span<const iovec> payload, wire::Icrc& icrc) {
    return memory::without_fault([&] {
      for (const iovec& piece : payload) {
        icrc.add({static_cast<const std::byte*>(piece.iov_base), piece.iov_len});
      }
    });
  }

  int send_burst() {
    const int error = port_.send({.destination = destination_,
                                  .source_port = source_port_,
                                  .traffic_class = traffic_class_,
                                  .pieces = {pieces_.data(), burst_pieces_},
                                  .packet_bytes = packet_bytes_,
                                  .bytes = burst_bytes_});
    if (error != 0) {
      counters_.add(Counter::kNotSent, burst_packets_);
      counted_.add(ports::PortCount::kXmitDiscards, burst_packets_);
    } else {
      if (rnic::is_multicast(destination_)) {
        counted_.add(ports::PortCount::kXmitMulticast, burst_packets_);
      }
      count_sent(counted_, port_.address(), burst_packets_, burst_bytes_);
      counters_.add(Counter::kPacketsSent, burst_packets_);
      counters_.add(Counter::kBytesSent, burst_bytes_);
    }
    return error;
  }

  Port& port_;
  ports::Port& counted_;
  const wire::Address& destination_;
  const std::uint16_t source_port_;
  const std::uint8_t traffic_class_;
  Counters& counters_;
  PayloadRoom payload_room_;
  std::uint32_t count_ = 0, used_pieces_ = 0;
  std::optional<std::uint32_t> missing_;
  std::array<Prepared, kMostPackets> prepared_;
  using Headers = std::array<std::byte, wire::kMostHeaderBytes + kShortPayload + kTailBytes + 1>;
  std::array<Headers, kMostPackets> headers_;
  std::array<iovec, kMostPieces> payload_;
  // The burst that is being built.
  std::uint32_t burst_pieces_ = 0, burst_packets_ = 0, burst_bytes_ = 0, packet_bytes_ = 0;
  bool ended_ = false;
  std::span<std::byte> free_;  // behind the last piece
  std::array<iovec, kMostPieces> pieces_;
};

}  // namespace

bool Transmitter::pump(PacketQueuePair& queue_pair, Port& port, Nanoseconds time,
                       std::uint32_t most_bursts) {
  engine::Connection& connection = *queue_pair.connection();
  engine::Transmit transmit;
  queue_pair.begin_polling();
  for (std::uint32_t bursts = 0; bursts < most_bursts; ++bursts) {
    if (!connection.poll_transmit(time, &transmit)) return true;
    Batch batch(port, queue_pair.queue_pair().port(), queue_pair.peer_address(),
                queue_pair.source_port(), queue_pair.traffic_class(), counters_);
    do {
      if (!batch.add(queue_pair, transmit)) connection.payload_unavailable(transmit, time);
    } while (!batch.full() && connection.poll_transmit(time, &transmit));
    // What the kernel would not take is lost, as on a network: it is sent again.
    (void)batch.send();
    if (const auto missing = batch.missing()) connection.payload_unavailable(*missing, time);
    queue_pair.packets_have_left();
    connection.sent();
  }
  return false;
}

void Transmitter::answer(PacketQueuePair& queue_pair, Port& port, Nanoseconds time) {
  engine::Connection& connection = *queue_pair.connection();
  engine::Transmit transmit;
  Batch batch(port, queue_pair.queue_pair().port(), queue_pair.peer_address(),
              queue_pair.source_port(), queue_pair.traffic_class(), counters_);
  while (!batch.full() && connection.poll_answer(&transmit)) {
    if (!batch.add(queue_pair, transmit)) connection.payload_unavailable(transmit, time);
  }
  (void)batch.send();
  if (const auto missing = batch.missing()) connection.payload_unavailable(*missing, time);
  queue_pair.packets_have_left();
}

int Transmitter::datagram(PacketQueuePair& queue_pair, Port& port, const wire::Address& destination,
                          std::uint8_t traffic_class) {
  engine::Transmit transmit;
  queue_pair.build_datagram(&transmit);
  Batch batch(port, queue_pair.queue_pair().port(), destination, wire::kRocePort, traffic_class,
              counters_);
  if (!batch.add(queue_pair, transmit)) return EFAULT;
  (void)batch.send();
  return 0;
}

}  // namespace gdr::net
