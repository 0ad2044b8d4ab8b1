// UD to a multicast group: one copy of the datagram to each member of the group on the segment, in
// every process. Gathered first, with its header, then delivered to one member after the other.
#include <algorithm>
#include <cstring>

#include "local/local_path.h"
#include "rnic/datagram_header.h"

namespace gdr::local {
namespace {

// Requester::phase, once the datagram has been gathered.
constexpr int kDelivering = 1;

void collect_from(rnic::Segment& segment, const rnic::GroupId& group, const auto& take) {
  const std::uint32_t end = std::min(segment.header().member_end.load(), rnic::kMembers);
  for (std::uint32_t i = 0; i < end; ++i) {
    const std::optional<rnic::Member> member = rnic::read_member(segment.member(i));
    if (member && member->group == group) take(member->queue_pair);
  }
}

}  // namespace

Advance LocalPath::multicast(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  if (!request.address.has_gid || !rnic::is_multicast(request.address.destination_gid)) {
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  }
  (void)local_pieces(queue_pair, 0, &requester.from);  // datagram() has checked it
  requester.frame.resize(rnic::kGrhBytes + request.total_bytes);
  const std::span<std::uint8_t, rnic::kGrhBytes> header(requester.frame.data(), rnic::kGrhBytes);
  const auto& source = adapter_->segment().header().devices[queue_pair.settings().device].gid;
  rnic::fill_network_header(request.address, source, request.address.destination_gid,
                            request.total_bytes, header);
  requester.to.clear();
  requester.to.add(plain_piece(requester.frame.data() + rnic::kGrhBytes, request.total_bytes));
  requester.to_group = true;
  requester.phase = 0;
  const Advance went = move(queue_pair, requester, engine);
  const bool waits = went == Advance::kLater || went == Advance::kEngine;
  if (waits && !requester.in_progress && requester.phase == 0) {
    requester.to_group = false;  // begun again from the start
  }
  return went;
}

Advance LocalPath::finish_multicast_step(QueuePair& queue_pair, Requester& requester,
                                         Outcome outcome) {
  if (requester.phase != kDelivering) {
    if (outcome.error != 0) {
      requester.to_group = false;
      return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
    }
    collect_members(queue_pair, requester);
    requester.phase = kDelivering;
    return serve_members(queue_pair, requester, requester.by_engine);
  }
  if (outcome.error == 0 &&
      !requester.target.push_receive(requester.receive, nullptr, requester.solicited, peers_)) {
    return begin_again(requester, kLockRetry);
  }
  release_target(requester);
  requester.receivers.pop_back();
  return serve_members(queue_pair, requester, requester.by_engine);
}

void LocalPath::collect_members(const QueuePair& queue_pair, Requester& requester) {
  const rnic::SendRequest& request = const_cast<QueuePair&>(queue_pair).send_ring().front();
  const rnic::GroupId& group = request.address.destination_gid;
  requester.receivers.clear();
  collect_from(adapter_->segment(), group, [&](std::uint32_t index) {
    const bool blocked =
        queue_pair.settings().block_multicast_loopback && index == queue_pair.index();
    if (!blocked) requester.receivers.emplace_back(*adapter_, nullptr, index);
  });
  requester.receiver_peers = peers_.everyone_by_now();
  for (const std::shared_ptr<Peer>& peer : requester.receiver_peers) {
    collect_from(peer->segment(), group, [&](std::uint32_t index) {
      requester.receivers.emplace_back(*adapter_, peer.get(), index);
    });
  }
}

Advance LocalPath::serve_members(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  while (!requester.receivers.empty()) {
    Target& target = requester.receivers.back();
    if (Peer* peer = target.peer(); peer != nullptr && !peer->alive()) {
      requester.receivers.pop_back();
      continue;
    }
    if (!target.try_lock(peers_, kLockSpins)) {
      tell_of_wait(requester, target);
      return later(requester, kLockRetry);
    }
    TakenReceive receive;
    if (target.readiness(IBV_QPT_UD) != Readiness::kReady || target.qkey() != request.remote_qkey ||
        !target.has_receive() || !target.look_at_receive(&receive, &requester.to)) {
      target.unlock();
      requester.receivers.pop_back();
      continue;
    }
    requester.target = target;
    prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV, requester.frame.size());
    rnic::add_network_header(&requester.receive, request.address.destination_gid);
    const bool too_short = requester.to.bytes() < requester.frame.size();
    if (receive.protection_error || too_short) {
      requester.receive.status = rnic::refusal(!receive.protection_error);
      if (!requester.target.push_receive(requester.receive, nullptr, true, peers_)) {
        return begin_again(requester, kLockRetry);
      }
      target.report(rnic::Failure::kInvalid);
      target.unlock();
      requester.target = Target();
      requester.receivers.pop_back();
      continue;
    }
    requester.from.clear();
    requester.from.add(plain_piece(requester.frame.data(), requester.frame.size()));
    requester.to.truncate(requester.from.bytes());
    const Advance went = move(queue_pair, requester, engine);
    // Given up for now: the same member again, not the whole datagram.
    if (!requester.in_progress) requester.phase = kDelivering;
    return went;
  }
  requester.receiver_peers.clear();
  requester.phase = 0;
  requester.has_receive = false;
  requester.solicited = false;
  requester.to_group = false;
  queue_pair.complete_front(IBV_WC_SUCCESS, static_cast<std::uint32_t>(request.total_bytes));
  return Advance::kCompleted;
}

}  // namespace gdr::local
