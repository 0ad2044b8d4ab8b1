// Raw packet queue pairs: a whole Ethernet frame goes out of a device and reaches every device on
// the segment whose port takes it and has a flow rule for it; of its own device, the rules that
// others than its sender have made (local loopback, as ConnectX does it between transport domains).
#include <algorithm>
#include <cstring>

#include "local/fault_hooks.h"
#include "local/requester.h"
#include "rnic/receive_hash.h"

namespace gdr::local {
namespace {

constexpr std::uint64_t kEthernetHeader = 14;

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

Advance begin_frame(Requester& requester) {
  const std::uint64_t bytes = requester.request().total_bytes;
  if (!requester.local_pieces(0, &requester.from)) return requester.break_off(IBV_WC_LOC_PROT_ERR);
  if (bytes < kEthernetHeader || bytes > rnic::kFrameBytes) {
    return requester.break_off(IBV_WC_LOC_LEN_ERR);
  }
  make_group(requester, 0);
  return requester.move();
}

void find_receivers(Requester& requester, Group& group) {
  rnic::Adapter& adapter = requester.adapter;
  if (requester.request().flags & IBV_SEND_IP_CSUM) rnic::fill_checksums(group.bytes);
  faults::before_frame(group.bytes);
  const rnic::QueuePairSettings& settings = requester.queue_pair.settings();
  const Sender sender{settings.device, settings.context};
  std::vector<Candidate> found;
  collect_from(adapter.segment(), group.bytes, &sender, found,
               [&](std::uint32_t index) { return Target(adapter, nullptr, index); });
  group.peers = requester.neighbours.peers().everyone_by_now();
  for (const std::shared_ptr<peers::Peer>& peer : group.peers) {
    collect_from(peer->segment(), group.bytes, nullptr, found,
                 [&](std::uint32_t index) { return Target(adapter, peer.get(), index); });
  }
  for (const Candidate& candidate : found) group.receivers.push_back(candidate.target);
}

}  // namespace gdr::local
