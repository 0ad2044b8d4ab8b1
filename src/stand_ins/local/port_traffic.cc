#include "local/port_traffic.h"

#include <algorithm>

#include "local/requester.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace gdr::local {
namespace {

using ports::Port;
using enum ports::PortCount;

struct Packets {
  std::uint64_t count = 0, bytes = 0;
  void operator+=(const Packets& more) { count += more.count, bytes += more.bytes; }
};

// Binary logarithms of what a packet carries.
constexpr std::uint32_t kDatagramShift = 12;
static_assert(1u << kDatagramShift == rnic::kDatagramBytes);
std::uint32_t path_mtu_shift(const Requester& requester) {
  const auto code = static_cast<std::uint32_t>(requester.queue_pair.attributes().path_mtu);
  return 7 + std::clamp(code, 1u, 5u);  // IBV_MTU_256: 1
}

bool is_on_ipv4(const Requester& requester) {
  const std::uint8_t* gid = requester.queue_pair.type() == IBV_QPT_UD
                                ? requester.request().address.destination_gid.data()
                                : requester.queue_pair.attributes().ah_attr.grh.dgid.raw;
  wire::Address address;
  std::copy_n(gid, address.size(), address.begin());
  return wire::is_ipv4(address);
}

std::uint32_t frame_bytes(bool on_ipv4) {
  return on_ipv4 ? ports::kFrameBytesOnIpv4 : ports::kFrameBytesOnIpv6;
}

bool is_write(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

// Headers that one packet of the message has beyond those of all.
std::uint32_t extended_bytes(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      return wire::kRethBytes;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return wire::kRethBytes + wire::kImmDtBytes;
    case IBV_WR_SEND_WITH_IMM:
      return wire::kImmDtBytes;
    case IBV_WR_SEND_WITH_INV:
      return wire::kIethBytes;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return wire::kAtomicEthBytes;
    default:
      return 0;
  }
}

Packets packets_of(std::uint64_t payload, std::uint32_t mtu_shift, std::uint32_t each,
                   std::uint32_t extended) {
  const std::uint64_t most = (std::uint64_t{1} << mtu_shift) - 1;
  const std::uint64_t count = std::max<std::uint64_t>((payload + most) >> mtu_shift, 1);
  return {count, padded(payload) + count * each + extended};
}

Packets request_of(const Requester& requester, const rnic::SendRequest& request, bool on_ipv4) {
  const ibv_qp_type type = requester.queue_pair.type();
  std::uint32_t each = frame_bytes(on_ipv4) + wire::kBthBytes + wire::kIcrcBytes;
  if (rnic::is_xrc(type)) each += wire::kXrcethBytes;
  if (type == IBV_QPT_UD) each += wire::kDethBytes;
  const bool asks = request.opcode == IBV_WR_RDMA_READ || rnic::is_atomic(request.opcode);
  return packets_of(asks ? 0 : request.total_bytes,
                    type == IBV_QPT_UD ? kDatagramShift : path_mtu_shift(requester), each,
                    extended_bytes(request.opcode));
}

// Nothing where the transport has none.
Packets answer_of(const Requester& requester, const rnic::SendRequest& request, bool on_ipv4,
                  Arrived arrived) {
  if (!requester.is_reliable()) return {};
  const std::uint32_t each = frame_bytes(on_ipv4) + wire::kBthBytes + wire::kIcrcBytes;
  if (arrived == Arrived::kYes && request.opcode == IBV_WR_RDMA_READ) {
    Packets answer =
        packets_of(request.total_bytes, path_mtu_shift(requester), each, wire::kAethBytes);
    if (answer.count > 1) answer.bytes += wire::kAethBytes;  // the first and the last have it
    return answer;
  }
  const bool is_atomic = arrived == Arrived::kYes && rnic::is_atomic(request.opcode);
  return {1, each + wire::kAethBytes + (is_atomic ? wire::kAtomicAckEthBytes : 0)};
}

void add_sent(Port& port, const Packets& packets) {
  if (packets.count == 0) return;
  port.add(kXmitPackets, packets.count);
  port.add(kXmitBytes, packets.bytes);
}

void add_taken(Port& port, const Packets& packets) {
  if (packets.count == 0) return;
  port.add(kRcvPackets, packets.count);
  port.add(kRcvBytes, packets.bytes);
}

// Requests from one port to another, and their answers.
void add_exchange(Port& own, Port& there, const Packets& requests, const Packets& answers) {
  add_sent(own, requests);
  add_taken(there, requests);
  add_sent(there, answers);
  add_taken(own, answers);
}

// Most messages are such: two additions for each port, sooner or later.
void count_exchanges(Requester& requester, Port& there, bool writes, std::uint32_t messages,
                     const Packets& requests) {
  UncountedTraffic& uncounted = requester.uncounted;
  if (uncounted.there != &there || uncounted.writes != writes) {
    add_uncounted(requester);
    uncounted.there = &there;
    uncounted.writes = writes;
  }
  uncounted.messages += messages;
  uncounted.bytes += requests.bytes;
  uncounted.more_packets += requests.count - messages;
}

void count_kind(Port& own, Port& there, ibv_wr_opcode opcode) {
  if (opcode == IBV_WR_RDMA_READ) return there.add(kReadRequests);
  if (rnic::is_atomic(opcode)) return there.add(kAtomicRequests);
  if (is_write(opcode)) return there.add(kMoreWriteRequests);
  own.add(kMoreSends);
  there.add(kMoreReceives);
}

}  // namespace

void count_traffic(Requester& requester, Arrived arrived) {
  Port& own = requester.queue_pair.port();
  const rnic::SendRequest& request = requester.request();
  // Frames are no packets of RDMA, and windows change without one.
  if (!own.counts() || requester.queue_pair.type() == IBV_QPT_RAW_PACKET ||
      rnic::is_window_request(request.opcode)) {
    return;
  }
  const bool on_ipv4 = is_on_ipv4(requester);
  const Packets packets = request_of(requester, request, on_ipv4);
  if (arrived == Arrived::kNo || !requester.target) return add_sent(own, packets);
  Port& there = requester.target.port(requester.known_port);
  const bool asks = request.opcode == IBV_WR_RDMA_READ || rnic::is_atomic(request.opcode);
  if (arrived == Arrived::kYes && on_ipv4 && requester.is_reliable() && !asks && there.counts())
      [[likely]] {
    return count_exchanges(requester, there, is_write(request.opcode), 1, packets);
  }
  const Packets answer = answer_of(requester, request, on_ipv4, arrived);
  add_exchange(own, there, packets, answer);
  if (arrived == Arrived::kYes) count_kind(own, there, request.opcode);
}

void count_moved(Requester& requester, std::uint32_t requests) {
  Port& own = requester.queue_pair.port();
  if (!own.counts()) return;
  rnic::SendRing& ring = requester.queue_pair.send_ring();
  const bool on_ipv4 = is_on_ipv4(requester), writes = is_write(ring.front().opcode);
  Port& there = requester.target.port(requester.known_port);
  const bool is_usual = writes && on_ipv4 && requester.is_reliable() && there.counts();
  Packets asked, answered;
  for (std::uint32_t i = 0; i < requests; ++i) {
    asked += request_of(requester, ring.peek(i), on_ipv4);
    if (is_usual) continue;
    answered += answer_of(requester, ring.peek(i), on_ipv4, Arrived::kYes);
  }
  if (is_usual) return count_exchanges(requester, there, true, requests, asked);
  add_exchange(own, there, asked, answered);
  there.add(writes ? kMoreWriteRequests : kReadRequests, requests);
}

void count_short_sends(Requester& requester, std::uint32_t messages, std::uint64_t payload) {
  static_assert(rnic::kCarriedBytes <= 256);  // IBV_MTU_256
  Port& own = requester.queue_pair.port();
  if (!own.counts()) return;
  Port& there = requester.target.port(requester.known_port);
  const bool on_ipv4 = is_on_ipv4(requester);
  const std::uint64_t each = frame_bytes(on_ipv4) + wire::kBthBytes + wire::kIcrcBytes;
  const Packets requests{messages, payload + messages * each};
  if (on_ipv4 && there.counts()) {
    return count_exchanges(requester, there, false, messages, requests);
  }
  const Packets answers{messages, messages * (each + wire::kAethBytes)};
  add_exchange(own, there, requests, answers);
  own.add(kMoreSends, messages);
  there.add(kMoreReceives, messages);
}

void add_uncounted(Requester& requester) {
  UncountedTraffic& uncounted = requester.uncounted;
  if (uncounted.messages == 0) return;
  Port& own = requester.queue_pair.port();
  Port& there = *uncounted.there;
  own.add(uncounted.writes ? kSentWrites : kSentSends, uncounted.messages);
  own.add(kXmitBytes, uncounted.bytes);
  there.add(uncounted.writes ? kTakenWrites : kTakenSends, uncounted.messages);
  there.add(kRcvBytes, uncounted.bytes);
  if (uncounted.more_packets != 0) {
    own.add(kXmitPackets, uncounted.more_packets);
    there.add(kRcvPackets, uncounted.more_packets);
  }
  uncounted = {};
}

void count_multicast_sent(Requester& requester) {
  Port& own = requester.queue_pair.port();
  if (!own.counts()) return;
  add_sent(own, request_of(requester, requester.request(), is_on_ipv4(requester)));
  own.add(kXmitMulticast);
  own.add(kMoreSends);
}

void count_multicast_taken(Requester& requester) {
  if (!requester.queue_pair.port().counts()) return;
  Port& there = requester.target.port(requester.known_port);
  add_taken(there, request_of(requester, requester.request(), is_on_ipv4(requester)));
  there.add(kRcvMulticast);
  there.add(kMoreReceives);
}

void count_not_ready(Requester& requester) {
  Port& own = requester.queue_pair.port();
  if (!own.counts() || !requester.target) return;
  Port& there = requester.target.port(requester.known_port);
  there.add(kOutOfBuffer);
  if (!requester.is_reliable()) return;
  there.add(kRnrNakSent);
  own.add(kRnrNakReceived);
  const bool on_ipv4 = is_on_ipv4(requester);
  const Packets request = request_of(requester, requester.request(), on_ipv4);
  const Packets nak = answer_of(requester, requester.request(), on_ipv4, Arrived::kRefused);
  add_exchange(own, there, request, nak);
}

void count_no_answer(Requester& requester) {
  Port& own = requester.queue_pair.port();
  const std::uint64_t times = std::uint64_t{requester.queue_pair.attributes().retry_cnt} + 1;
  own.add(kAckTimeout, times);
}

}  // namespace gdr::local
