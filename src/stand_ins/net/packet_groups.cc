// Multicast groups between hosts: which ones this process has to hear of. What is sent to one
// leaves as any datagram; what arrives is in arrivals.cc.
#include <algorithm>

#include "net/packet_path.h"
#include "rnic/multicast.h"

namespace gdr::net {

// A loopback interface reaches no other host. What is too long for a packet has reached this host's
// members already, and stays here.
bool PacketPath::carries_groups(rnic::QueuePair& queue_pair) {
  const OpenPort* port = port_of(queue_pair, rnic::kOwnAddress);
  return queue_pair.packet_state != nullptr && port != nullptr && port->interface != 0 &&
         queue_pair.send_ring().front().total_bytes <= port->path_mtu;
}

// Where a device's own address cannot be opened, its groups stay within the host.
void PacketPath::groups_changed() {
  if (adapter_.is_forked()) return;  // the sockets are the parent's
  const std::lock_guard changing(groups_mutex_);
  std::vector<GroupPorts::Wanted> wanted;
  rnic::for_each_member(adapter_.segment(), [&](const rnic::Member& member) {
    const auto queue_pair = adapter_.queue_pair(
        rnic::make_qp_number(rnic::slot_of(adapter_.token()), member.queue_pair));
    if (queue_pair == nullptr) return;
    const std::uint32_t device = queue_pair->settings().device;
    const Result<OpenPort*> port = open_port(device, rnic::kOwnAddress);
    if (!port || (*port)->interface == 0) return;
    const GroupPorts::Wanted one{device, (*port)->interface, member.group};
    if (std::ranges::find(wanted, one) == wanted.end()) wanted.push_back(one);
  });
  const std::lock_guard guard(open_mutex_);
  for (const int descriptor : groups_.update(
           wanted, [this](std::unique_ptr<Port> port) { return wrap(std::move(port)); })) {
    thread_->watch(descriptor);
  }
}

}  // namespace gdr::net
