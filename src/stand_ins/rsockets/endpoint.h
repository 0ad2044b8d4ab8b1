// Endpoint: the queue pair of a connected rsocket with its completion queue and its three pieces of
// registered memory. It posts and polls, and knows nothing of the protocol but the messages'
// shapes.
//
//   Endpoint endpoint;
//   if (int error = endpoint.open(id, sizes)) return -error;
//   endpoint.post_message({Operation::kControl, 0});
//   endpoint.poll([](const Completion& done) { ... });
//
// Not safe for several threads: the socket's mutex guards it. Only the completions' descriptor may
// be waited on without.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <span>

#include "rsockets/completions.h"
#include "rsockets/protocol.h"
#include "rsockets/registered_bytes.h"
#include "rsockets/send_ring.h"

namespace gdr::rsockets {

struct EndpointSizes {
  std::uint32_t send_queue = 0, receive_queue = 0, inline_bytes = 0;
  std::uint32_t send_bytes = 0, receive_bytes = 0;
  std::uint32_t mappings = 0;
};

struct Completion {
  bool received = false;
  ibv_wc_status status = IBV_WC_SUCCESS;
  bool has_immediate = false;
  Immediate message;             // received, or that of a message of ours
  std::uint32_t ring_bytes = 0;  // of the send ring, which are free again
};

class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  // Clips `sizes` to what the device has. All of these return an errno value; 0: done.
  int open(rdma_cm_id* id, EndpointSizes& sizes);

  int post_receives(std::uint32_t count);
  int post_message(Immediate message);
  // 16 bytes from control slot `slot` into the peer's list.
  int post_target(Immediate message, std::span<const std::uint8_t> entry, std::uint32_t slot,
                  const RemoteRange& to);
  // Bytes of the send ring; with a message behind them or, for riowrite, without.
  int post_ring(const SendRing::Pieces& pieces, const RemoteRange& to, const Immediate* message);
  // Bytes of the caller, at most inline_bytes(); `ring_bytes` come back with the completion.
  int post_inline(std::span<const std::uint8_t> bytes, const RemoteRange& to,
                  const Immediate* message, std::uint32_t ring_bytes);

  // Up to `kBatch` completions; how many there were, or less than 0.
  static constexpr int kBatch = 16;
  int poll(Completion (&done)[kBatch]);

  Completions& completions() { return completions_; }
  std::uint32_t inline_bytes() const { return inline_bytes_; }
  ibv_pd* pd() const { return id_->qp->pd; }
  RegisteredBytes& send_memory() { return send_; }
  RegisteredBytes& receive_memory() { return receive_; }
  RegisteredBytes& target_memory() { return targets_; }

 private:
  int open_queues(const EndpointSizes& sizes);
  int post(ibv_send_wr& request, const RemoteRange* to, const Immediate* message,
           std::uint32_t ring_bytes);

  rdma_cm_id* id_ = nullptr;  // the socket's
  Completions completions_;
  bool has_queue_pair_ = false;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t send_bytes_ = 0;
  RegisteredBytes send_, receive_, targets_;
};

}  // namespace gdr::rsockets
