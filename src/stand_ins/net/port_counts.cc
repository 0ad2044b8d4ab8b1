#include "net/port_counts.h"

namespace gdr::net {
namespace {

using enum ports::PortCount;

constexpr auto kManagementClass = std::byte{7};  // communication management

std::uint64_t frame_bytes(const wire::Address& own) {
  return wire::is_ipv4(own) ? ports::kFrameBytesOnIpv4 : ports::kFrameBytesOnIpv6;
}

}  // namespace

void count_sent(ports::Port& port, const wire::Address& own, std::uint64_t packets,
                std::uint64_t bytes) {
  port.add(kXmitPackets, packets);
  port.add(kXmitBytes, bytes + packets * frame_bytes(own));
}

void count_received(ports::Port& port, const wire::Address& own, std::uint64_t packets,
                    std::uint64_t bytes) {
  port.add(kRcvPackets, packets);
  port.add(kRcvBytes, bytes + packets * frame_bytes(own));
}

void count_event(ports::Port& port, engine::Event event) {
  switch (event) {
    case engine::Event::kDuplicateRequest:
      return port.add(kDuplicateRequest);
    case engine::Event::kOutOfSequenceRequest:
      return port.add(kOutOfSequence);
    case engine::Event::kSequenceNakReceived:
      return port.add(kSequenceNakReceived);
    case engine::Event::kRnrNakSent:
      port.add(kOutOfBuffer);
      return port.add(kRnrNakSent);
    case engine::Event::kRnrNakReceived:
      return port.add(kRnrNakReceived);
    case engine::Event::kTimeout:
      return port.add(kAckTimeout);
    case engine::Event::kRemoteAccessRefused:
      return port.add(kResponderAccessErrors);
    case engine::Event::kDroppedNoReceive:
      return port.add(kOutOfBuffer);
    case engine::Event::kCongestionNotified:
      return port.add(kCnpHandled);
    case engine::Event::kWrongQkey:
    case engine::Event::kImpossibleRequest:
      return port.add(kRcvErrors);
    case engine::Event::kSequenceNakSent:
    case engine::Event::kRetransmittedPacket:
    case engine::Event::kInvalidRequest:
    case engine::Event::kDroppedMessage:
    case engine::Event::kUnexpectedResponse:
      return;
  }
}

// InfiniBand Architecture Specification 13.4.3: the class is byte 1, the attribute's number bytes
// 16 and 17.
void count_mad(ports::Port& port, std::uint32_t first, const Mad& mad) {
  const auto attribute = std::to_integer<std::uint32_t>(mad.bytes[16]) << 8 |
                         std::to_integer<std::uint32_t>(mad.bytes[17]);
  if (mad.bytes[1] != kManagementClass || attribute < ports::kFirstCmAttribute ||
      attribute >= ports::kFirstCmAttribute + ports::kCmMessages) {
    return;
  }
  port.add(first + attribute - ports::kFirstCmAttribute);
}

}  // namespace gdr::net
