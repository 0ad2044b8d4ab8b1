#include "engine/datagram.h"

#include "engine/packet_maker.h"

namespace gdr::engine {
namespace {

constexpr std::uint64_t kHeaderRoom = 40;  // where InfiniBand has a GRH

}  // namespace

void Datagram::build(const Work& work, Transmit* transmit) {
  static const PacketMaker maker(wire::Transport::kUnreliableDatagram, 0);
  maker.request(work, 0, 1, wire::kMostPayload, psn_, transmit);
  transmit->packet.destination_qp = work.destination_qp;
  transmit->packet.deth = {work.qkey, source_qp_};
  transmit->work = 0;
  psn_ = wire::psn_add(psn_, 1);
}

void Datagram::receive(const wire::Packet& packet, std::uint32_t qkey, Owner& owner) {
  if (packet.transport() != wire::Transport::kUnreliableDatagram) {
    return owner.count(Event::kInvalidRequest);
  }
  if (packet.deth.qkey != qkey) return owner.count(Event::kWrongQkey);
  Received received;
  received.has_immediate = packet.info->is(wire::kHasImmediate);
  received.solicited = packet.solicited;
  if (received.has_immediate) received.immediate = packet.immediate;
  received.bytes = kHeaderRoom + packet.payload.size();
  received.source_qp = packet.deth.source_qp;
  received.outcome = owner.begin_receive(0);
  if (received.outcome == Placed::kPlaced && !packet.payload.empty()) {
    received.outcome = owner.place_receive(kHeaderRoom, packet.payload);
  }
  // What comes from anybody must not end a receive with an error: too long a datagram is dropped,
  // and its receive is there for the next.
  switch (received.outcome) {
    case Placed::kPlaced:
    case Placed::kFault:
      return owner.complete_receive(received);
    case Placed::kTooLong:
      return owner.count(Event::kDroppedMessage);
    default:
      return owner.count(Event::kDroppedNoReceive);
  }
}

}  // namespace gdr::engine
