// Raw packet queue pairs: a whole Ethernet frame goes out of a device and reaches every device on
// the segment whose port takes it and has a flow rule for it; of its own device, the rules that
// others than its sender have made (local loopback, as ConnectX does it between transport domains).
// Gathered first, then delivered to one receiver after the other.
#include <algorithm>
#include <cstring>

#include "local/fault_hooks.h"
#include "local/local_path.h"
#include "rnic/receive_hash.h"

namespace gdr::local {
namespace {

constexpr std::uint64_t kEthernetHeader = 14;

// Requester::phase, once the frame has been gathered.
constexpr int kDelivering = 1;

using Mac = std::array<std::uint8_t, 6>;

struct Candidate {
  Mac mac;
  std::uint32_t rank;
  bool sniffs;
  Target target;
};

// Whose rules a frame does not come back to: its device as it was opened by its sender.
struct Sender {
  std::uint32_t device, context;
};

// The rules of one process that take the frame: the best for each device, and every sniffer's.
// `sender` is null for another process.
void collect_from(rnic::Segment& segment, std::span<const std::uint8_t> frame, const Sender* sender,
                  std::vector<Candidate>& found, const auto& target_of_index) {
  const std::uint32_t end = std::min(segment.header().flow_end.load(), rnic::kFlows);
  for (std::uint32_t i = 0; i < end; ++i) {
    const std::optional<rnic::FlowRule> rule = rnic::read_rule(segment.flow(i));
    if (!rule || rule->device >= rnic::kDevices) continue;
    Mac mac;
    std::copy_n(segment.header().devices[rule->device].mac, mac.size(), mac.begin());
    const bool own =
        sender != nullptr && rule->device == sender->device && rule->context == sender->context;
    if (own || !rnic::matches(rule->match, std::span<const std::uint8_t, 6>(mac), frame)) {
      continue;
    }
    std::uint32_t receiver = rule->queue_pair;
    if (rule->spread != 0) {
      const std::optional<std::uint32_t> chosen = rnic::spread_to(segment, rule->spread, frame);
      if (!chosen) continue;
      receiver = *chosen;
    }
    Candidate candidate{mac, rule->rank, rule->match.sniffs != 0, target_of_index(receiver)};
    const auto rival = std::find_if(found.begin(), found.end(), [&](const Candidate& other) {
      return !candidate.sniffs && !other.sniffs && other.mac == mac;
    });
    if (rival == found.end()) {
      found.push_back(candidate);
    } else if (rule->rank < rival->rank) {
      *rival = candidate;
    }
  }
}

}  // namespace

Advance LocalPath::frame(QueuePair& queue_pair, Requester& requester, bool engine) {
  if (requester.phase == kDelivering) return serve_receivers(queue_pair, requester, engine);
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  if (!local_pieces(queue_pair, 0, &requester.from)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes < kEthernetHeader || request.total_bytes > rnic::kFrameBytes) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  requester.frame.resize(request.total_bytes);
  requester.to.clear();
  requester.to.add(plain_piece(requester.frame.data(), requester.frame.size()));
  return move(queue_pair, requester, engine);
}

Advance LocalPath::finish_frame_step(QueuePair& queue_pair, Requester& requester, Outcome outcome) {
  if (requester.phase != kDelivering) {
    if (outcome.error != 0) {
      return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
    }
    if (queue_pair.send_ring().front().flags & IBV_SEND_IP_CSUM) {
      rnic::fill_checksums(requester.frame);
    }
    faults::before_frame(requester.frame);
    collect_receivers(queue_pair, requester);
    requester.phase = kDelivering;
    return serve_receivers(queue_pair, requester, requester.by_engine);
  }
  if (outcome.error == 0 &&
      !requester.target.push_receive(requester.receive, nullptr, false, peers_)) {
    return begin_again(requester, kLockRetry);
  }
  release_target(requester);
  requester.receivers.pop_back();
  return serve_receivers(queue_pair, requester, requester.by_engine);
}

void LocalPath::collect_receivers(const QueuePair& queue_pair, Requester& requester) {
  const Sender sender{queue_pair.settings().device, queue_pair.settings().context};
  std::vector<Candidate> found;
  collect_from(adapter_->segment(), requester.frame, &sender, found,
               [this](std::uint32_t index) { return Target(*adapter_, nullptr, index); });
  requester.receivers.clear();
  requester.receiver_peers = peers_.everyone_by_now();
  for (const std::shared_ptr<Peer>& peer : requester.receiver_peers) {
    collect_from(peer->segment(), requester.frame, nullptr, found,
                 [&](std::uint32_t index) { return Target(*adapter_, peer.get(), index); });
  }
  for (const Candidate& candidate : found) requester.receivers.push_back(candidate.target);
}

Advance LocalPath::serve_receivers(QueuePair& queue_pair, Requester& requester, bool engine) {
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
    if (target.readiness(IBV_QPT_RAW_PACKET) != Readiness::kReady || !target.has_receive() ||
        !target.look_at_receive(&receive, &requester.to)) {
      target.unlock();  // a port without a posted buffer drops the frame
      requester.receivers.pop_back();
      continue;
    }
    requester.target = target;
    prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV, requester.frame.size());
    requester.receive.source_qp = 0;
    if (rnic::checksums_right(requester.frame)) requester.receive.flags |= IBV_WC_IP_CSUM_OK;
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
    // Given up for now: the same receiver again, not the whole frame.
    if (went != Advance::kCompleted && !requester.in_progress) requester.phase = kDelivering;
    return went;
  }
  requester.receiver_peers.clear();
  requester.phase = 0;
  requester.has_receive = false;
  queue_pair.complete_front(IBV_WC_SUCCESS, static_cast<std::uint32_t>(requester.frame.size()));
  return Advance::kCompleted;
}

}  // namespace gdr::local
