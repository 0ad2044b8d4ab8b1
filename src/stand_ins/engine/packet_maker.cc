#include "engine/packet_maker.h"

#include <algorithm>

namespace gdr::engine {
namespace {

using wire::Operation;

bool is_write(WorkKind kind) {
  return kind == WorkKind::kWrite || kind == WorkKind::kWriteImmediate;
}

Operation last_of(WorkKind kind, bool only) {
  switch (kind) {
    case WorkKind::kSendImmediate:
      return only ? Operation::kSendOnlyImmediate : Operation::kSendLastImmediate;
    case WorkKind::kSendInvalidate:
      return only ? Operation::kSendOnlyInvalidate : Operation::kSendLastInvalidate;
    case WorkKind::kWrite:
      return only ? Operation::kWriteOnly : Operation::kWriteLast;
    case WorkKind::kWriteImmediate:
      return only ? Operation::kWriteOnlyImmediate : Operation::kWriteLastImmediate;
    default:
      return only ? Operation::kSendOnly : Operation::kSendLast;
  }
}

Operation operation_for(WorkKind kind, bool first, bool last) {
  if (last) return last_of(kind, first);
  if (is_write(kind)) return first ? Operation::kWriteFirst : Operation::kWriteMiddle;
  return first ? Operation::kSendFirst : Operation::kSendMiddle;
}

}  // namespace

PacketMaker::PacketMaker(wire::Transport transport, std::uint32_t destination_qp)
    : transport_(transport), destination_qp_(destination_qp) {
  for (unsigned operation = 0; operation < infos_.size(); ++operation) {
    infos_[operation] = wire::find_opcode(wire::make_opcode(transport, Operation(operation)));
  }
}

void PacketMaker::begin(Operation operation, std::uint32_t psn, Transmit* transmit) const {
  wire::Packet& packet = transmit->packet;
  packet.info = infos_[static_cast<unsigned>(operation)];
  packet.opcode = wire::make_opcode(transport_, operation);
  packet.solicited = false;
  packet.migrated = true;  // no alternate path: the migrated state is where it rests (17.2.8)
  packet.ack_request = false;
  packet.fecn = false;
  packet.becn = false;
  packet.pad = 0;
  packet.partition_key = wire::kDefaultPartitionKey;
  packet.destination_qp = destination_qp_;
  packet.psn = psn;
  packet.payload = {};
  transmit->source = Source::kNone;
  transmit->payload_bytes = 0;
  transmit->retransmitted = false;
}

void PacketMaker::set_payload(Source source, std::uint32_t bytes, Transmit* transmit) {
  if (bytes == 0) return;
  transmit->source = source;
  transmit->payload_bytes = bytes;
  transmit->packet.pad = static_cast<std::uint8_t>(-bytes & 3);
}

void PacketMaker::request(const Work& work, std::uint32_t index, std::uint32_t packets,
                          std::uint32_t path_mtu, std::uint32_t psn, Transmit* transmit) const {
  const bool first = index == 0;
  const bool last = index + 1 == packets;
  begin(operation_for(work.kind, first, last), psn, transmit);
  wire::Packet& packet = transmit->packet;
  const std::uint64_t offset = std::uint64_t{index} * path_mtu;
  const auto bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(path_mtu, work.length - offset));
  transmit->offset = offset;
  set_payload(Source::kWork, bytes, transmit);
  packet.xrc_srq = work.xrc_srq;
  if (first && is_write(work.kind)) {
    packet.reth = {work.remote_address, work.rkey, static_cast<std::uint32_t>(work.length)};
  }
  if (last) {  // the solicited event bit stands in the last packet only
    packet.solicited = work.solicited && work.kind != WorkKind::kWrite;
    packet.immediate = work.immediate;
    packet.invalidate_key = work.immediate;
  }
}

}  // namespace gdr::engine
