// QueuePair: an ibv_qp with its own completion queues, and the steps that bring it to work.
//
//   auto qp = rdma::QueuePair::create(nic, pd.get(), IBV_QPT_RC, {});
//   exchange(qp->number(), packet_sequence);
//   qp->connect(mine, theirs);
//   qp->post_send(request);
//   Result<std::optional<ibv_wc>> done = qp->poll_send();
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "rdma/resources.h"
#include "rdma/states.h"

namespace gdr::rdma {

struct QueuePairSize {
  std::uint32_t sends = 128;
  std::uint32_t receives = 16;
  bool atomics = true;  // a NIC without them may refuse the access right
};

class QueuePair {
 public:
  static Result<QueuePair> create(const Device& device, ibv_pd* pd, ibv_qp_type type,
                                  QueuePairSize size);

  std::uint32_t number() const { return qp_->qp_num; }
  ibv_qp* get() const { return qp_.get(); }

  // RC: INIT, RTR, RTS towards `theirs`. UD and raw: as far as they need; `theirs` is not used.
  Result<void> connect(const Endpoint& mine, const Endpoint& theirs, ibv_mtu mtu);

  Result<void> post_send(ibv_send_wr& request);
  Result<void> post_receive(ibv_recv_wr& request);

  // The next completion, if there is one now.
  Result<std::optional<ibv_wc>> poll_send() { return poll(send_queue_.get()); }
  Result<std::optional<ibv_wc>> poll_receive() { return poll(receive_queue_.get()); }

  // Raw packet queue pairs: frames for this Ethernet address, IPv4 address and UDP port land here.
  Result<Flow> steer(std::uint8_t port, const Mac& mac, std::uint32_t ipv4, std::uint16_t udp_port);

 private:
  QueuePair() = default;
  static Result<std::optional<ibv_wc>> poll(ibv_cq* queue);

  const Device* device_ = nullptr;
  ibv_qp_type type_ = IBV_QPT_RC;
  bool atomics_ = true;
  CompletionQueue send_queue_;
  CompletionQueue receive_queue_;
  Owned<ibv_qp> qp_;
};

}  // namespace gdr::rdma
