// UD: one datagram to whichever queue pair its address handle and number name. Nobody answers: what
// cannot be delivered is dropped, as a network drops it.
#include <cstring>

#include "base/bytes.h"
#include "local/datagram_header.h"
#include "local/local_path.h"

namespace gdr::local {
namespace {

constexpr std::size_t kIpv4At = 20;  // of the 40 bytes where a GRH would be (annex A17)
constexpr std::uint32_t kHeadersBehindIpv4 = 8 + 12 + 8 + 4;  // UDP, BTH, DETH; ICRC

std::uint16_t header_checksum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += load_be16(header + i);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

// IPv4 addresses sit in the last four bytes of a mapped GID.
void fill_ipv4_header(const rnic::AddressVector& address, const std::uint8_t (&source)[16],
                      const std::uint8_t (&target)[16], std::uint64_t bytes,
                      std::span<std::uint8_t, rnic::kGrhBytes> header) {
  std::uint8_t* grh = header.data();
  std::memset(grh, 0, header.size());
  std::uint8_t* ip = grh + kIpv4At;
  ip[0] = 0x45;
  ip[1] = address.traffic_class;
  store_be16(ip + 2, static_cast<std::uint16_t>(20 + kHeadersBehindIpv4 + bytes));
  store_be16(ip + 6, 0x4000);  // do not fragment
  ip[8] = address.hop_limit;
  ip[9] = 17;
  std::memcpy(ip + 12, source + 12, 4);
  std::memcpy(ip + 16, target + 12, 4);
  store_be16(ip + 10, header_checksum(ip));
}

Advance LocalPath::datagram(QueuePair& queue_pair, Requester& requester, bool engine) {
  if (requester.to_group) return serve_members(queue_pair, requester, engine);
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  PieceList payload;
  if (!local_pieces(queue_pair, 0, &payload)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kDatagramBytes) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (request.remote_qp == rnic::kMulticastQueuePair) {
    return multicast(queue_pair, requester, engine);
  }
  const Presence presence = find_target(requester, request.remote_qp);
  Target& target = requester.target;
  const auto drop = [&] {
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  };
  if (presence != Presence::kThere) return drop();
  if (!target.try_lock(peers_, kLockSpins)) return busy(requester);
  const rnic::AddressVector& address = request.address;
  std::uint8_t wanted[16];
  std::memcpy(wanted, address.destination_gid.data(), sizeof wanted);
  if (target.readiness(IBV_QPT_UD) != Readiness::kReady || target.qkey() != request.remote_qkey ||
      (address.has_gid && !target.has_gid(wanted))) {
    return drop();
  }
  TakenReceive receive;
  PieceList& room = requester.to;
  if (!target.has_receive() || !target.look_at_receive(&receive, &room)) return drop();
  prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV,
                  request.total_bytes + rnic::kGrhBytes);
  requester.receive.flags |= IBV_WC_GRH;
  requester.receive.service_level = kOverUdp | kIpv4;
  const bool too_short = room.bytes() < request.total_bytes + rnic::kGrhBytes;
  if (receive.protection_error || too_short) {
    requester.receive.status = receive.protection_error ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR;
    target.push_receive(requester.receive, nullptr, true, peers_);
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kInvalid);
  }
  const auto& own_gid = adapter_->segment().header().devices[queue_pair.settings().device].gid;
  fill_ipv4_header(address, own_gid, address.has_gid ? wanted : own_gid, request.total_bytes,
                   requester.grh);
  PieceList& message = requester.from;
  message.clear();
  message.add(plain_piece(requester.grh, rnic::kGrhBytes));
  for (const Piece& piece : payload.pieces()) message.add(piece);
  room.truncate(message.bytes());
  return deliver(queue_pair, requester, engine);
}

}  // namespace gdr::local
