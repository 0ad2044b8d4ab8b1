// One message for many receivers: what raw frames and multicast datagrams share.
#include <algorithm>
#include <span>

#include "local/requester.h"

namespace gdr::local {
namespace {

bool is_frame(const Requester& requester) {
  return requester.queue_pair.type() == IBV_QPT_RAW_PACKET;
}

bool takes_message(const Requester& requester, const Target& target) {
  if (is_frame(requester)) return target.readiness(IBV_QPT_RAW_PACKET) == Readiness::kReady;
  return target.readiness(IBV_QPT_UD) == Readiness::kReady &&
         target.qkey() == requester.request().remote_qkey;
}

void prepare_receive(Requester& requester, const TakenReceive& taken, const Group& group) {
  requester.prepare_receive(taken.wr_id, IBV_WC_RECV, group.bytes.size());
  rnic::SharedCompletion& receive = requester.receive;
  if (!is_frame(requester)) {
    return rnic::add_network_header(&receive, requester.request().address.destination_gid);
  }
  receive.source_qp = 0;
  requester.solicited = false;
  if (rnic::checksums_right(group.bytes)) receive.flags |= IBV_WC_IP_CSUM_OK;
}

// Its target is locked, and takes it.
Advance serve(Requester& requester, const TakenReceive& taken, const Group& group) {
  prepare_receive(requester, taken, group);
  if (taken.protection_error || requester.to.bytes() < group.bytes.size()) {
    requester.receive.status = rnic::refusal(!taken.protection_error);
    const Pushed pushed = requester.push_receive(true);
    if (pushed == Pushed::kNotNow) return requester.begin_again(kLockRetry);
    if (pushed == Pushed::kYes) requester.target.report(rnic::Failure::kInvalid);
    return finish_group_move(requester, {EFAULT, true});
  }
  requester.from.clear();
  requester.from.add(plain_piece(group.bytes.data(), group.bytes.size()));
  return requester.move();
}

}  // namespace

Group& make_group(Requester& requester, std::size_t header_bytes) {
  auto& group = requester.progress.emplace<Group>();
  const std::size_t bytes = requester.request().total_bytes;
  group.bytes.resize(header_bytes + bytes);
  requester.to.clear();
  requester.to.add(plain_piece(group.bytes.data() + header_bytes, bytes));
  return group;
}

Advance serve_group(Requester& requester) {
  auto& group = std::get<Group>(requester.progress);
  for (; !group.receivers.empty(); group.receivers.pop_back()) {
    Target& target = group.receivers.back();
    if (peers::Peer* peer = target.peer(); peer != nullptr && !peer->alive()) continue;
    if (!target.try_lock(kLockSpins)) {
      requester.tell_of_wait(target);
      return requester.later(kLockRetry);
    }
    TakenReceive taken;
    if (takes_message(requester, target) && target.has_receive() &&
        target.look_at_receive(group.bytes.size(), &taken, &requester.to)) {
      requester.target = target;
      return serve(requester, taken, group);
    }
    target.unlock();  // a port without a posted buffer drops the message
  }
  if (!is_frame(requester)) {
    // Who sends it to other hosts counts its packet.
    if (requester.queue_pair.pass_beyond()) return requester.pass_on();
    count_multicast_sent(requester);
  }
  return requester.complete();
}

Advance finish_group_move(Requester& requester, Outcome outcome) {
  auto& group = std::get<Group>(requester.progress);
  if (!group.is_gathered) {
    if (outcome.error != 0) return requester.break_off(IBV_WC_LOC_PROT_ERR);
    if (is_frame(requester)) {
      find_receivers(requester, group);
    } else {
      find_members(requester, group);
    }
    group.is_gathered = true;
    return serve_group(requester);
  }
  if (outcome.error == 0) {
    if (requester.queue_pair.front_is_signalled()) requester.queue_pair.begin_to_end();
    const Pushed pushed = requester.push_receive(requester.solicited);
    if (pushed == Pushed::kNotNow) return requester.begin_again(kLockRetry);
    if (pushed == Pushed::kYes && !is_frame(requester)) count_multicast_taken(requester);
  }
  requester.release_target();
  group.receivers.pop_back();
  return serve_group(requester);
}

}  // namespace gdr::local
