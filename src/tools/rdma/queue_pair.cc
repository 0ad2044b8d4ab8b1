#include "rdma/queue_pair.h"

#include <string.h>

#include <algorithm>
#include <string>

#include "base/bytes.h"

namespace gdr::rdma {

Result<QueuePair> QueuePair::create(const Device& device, ibv_pd* pd, ibv_qp_type type,
                                    QueuePairSize size) {
  QueuePair pair;
  pair.device_ = &device;
  pair.type_ = type;
  pair.atomics_ = size.atomics;
  Result<CompletionQueue> sends = make_completion_queue(device, static_cast<int>(size.sends));
  if (!sends) return sends.error();
  pair.send_queue_ = *std::move(sends);
  Result<CompletionQueue> receives = make_completion_queue(device, static_cast<int>(size.receives));
  if (!receives) return receives.error();
  pair.receive_queue_ = *std::move(receives);

  ibv_qp_init_attr init{};
  init.qp_type = type;
  init.send_cq = pair.send_queue_.get();
  init.recv_cq = pair.receive_queue_.get();
  init.cap = {size.sends, size.receives, 1, 1, 0};
  errno = 0;
  ibv_qp* qp = device.library().create_qp(pd, &init);
  if (!qp) return verbs_error("ibv_create_qp", errno ? errno : EIO);
  pair.qp_ = Owned<ibv_qp>(qp, {device.library().destroy_qp});
  return pair;
}

Result<void> QueuePair::connect(const Endpoint& mine, const Endpoint& theirs, ibv_mtu mtu) {
  return bring_up(*device_, qp_.get(), mine, theirs,
                  {.type = type_, .mtu = mtu, .atomics = atomics_});
}

Result<void> QueuePair::post_send(ibv_send_wr& request) {
  ibv_send_wr* bad = nullptr;
  if (int code = ibv_post_send(qp_.get(), &request, &bad)) {
    return verbs_error("ibv_post_send", code > 0 ? code : errno);
  }
  return {};
}

Result<void> QueuePair::post_receive(ibv_recv_wr& request) {
  ibv_recv_wr* bad = nullptr;
  if (int code = ibv_post_recv(qp_.get(), &request, &bad)) {
    return verbs_error("ibv_post_recv", code > 0 ? code : errno);
  }
  return {};
}

Result<std::optional<ibv_wc>> QueuePair::poll(ibv_cq* queue) {
  ibv_wc completion{};
  const int count = ibv_poll_cq(queue, 1, &completion);
  if (count < 0) return verbs_error("ibv_poll_cq", EIO);
  if (count == 0) return std::optional<ibv_wc>();
  return std::optional<ibv_wc>(completion);
}

Result<Flow> QueuePair::steer(std::uint8_t port, const Mac& mac, std::uint32_t ipv4,
                              std::uint16_t udp_port) {
  // The specifications follow the attributes in memory, each saying its own size.
  struct Rule {
    ibv_flow_attr attributes;
    ibv_flow_spec_eth ethernet;
    ibv_flow_spec_ipv4 ip;
    ibv_flow_spec_tcp_udp udp;
  };
  static_assert(sizeof(Rule) == sizeof(ibv_flow_attr) + sizeof(ibv_flow_spec_eth) +
                                    sizeof(ibv_flow_spec_ipv4) + sizeof(ibv_flow_spec_tcp_udp));
  Rule rule{};
  rule.attributes.type = IBV_FLOW_ATTR_NORMAL;
  rule.attributes.size = sizeof rule;
  rule.attributes.num_of_specs = 3;
  rule.attributes.port = port;
  rule.ethernet.type = IBV_FLOW_SPEC_ETH;
  rule.ethernet.size = sizeof rule.ethernet;
  std::copy(mac.begin(), mac.end(), rule.ethernet.val.dst_mac);
  memset(rule.ethernet.mask.dst_mac, 0xff, sizeof rule.ethernet.mask.dst_mac);
  rule.ip.type = IBV_FLOW_SPEC_IPV4;
  rule.ip.size = sizeof rule.ip;
  rule.ip.val.dst_ip = __builtin_bswap32(ipv4);
  rule.ip.mask.dst_ip = 0xffffffff;
  rule.udp.type = IBV_FLOW_SPEC_UDP;
  rule.udp.size = sizeof rule.udp;
  rule.udp.val.dst_port = __builtin_bswap16(udp_port);
  rule.udp.mask.dst_port = 0xffff;

  errno = 0;
  ibv_flow* flow = ibv_create_flow(qp_.get(), &rule.attributes);
  if (!flow) return verbs_error("ibv_create_flow", errno ? errno : EIO);
  return Flow(flow, {[](ibv_flow* rule_to_remove) { return ibv_destroy_flow(rule_to_remove); }});
}

}  // namespace gdr::rdma
