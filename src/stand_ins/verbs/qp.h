// Qp: a queue pair as programs see it, plain or extended.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "rnic/queue_pair.h"
#include "verbs/send_batch.h"
#include "verbs/xrcd.h"

namespace gdr::verbs {

// The head is rdma-core's private verbs_qp.
struct RwqTable;

struct Qp {
  union {
    ibv_qp base;
    ibv_qp_ex extended;
  };
  std::uint32_t comp_mask = 0;
  Xrcd* xrcd = nullptr;

  std::shared_ptr<rnic::QueuePair> queue;
  std::unique_ptr<SendBatch> batch;  // only with the extended posting interface
  RwqTable* table = nullptr;         // of a queue pair that spreads its frames over work queues
  std::atomic<int> flows{0};
  std::atomic<int> groups{0};      // multicast
  std::uint32_t events_taken = 0;  // under Context::events_mutex
  std::uint64_t serial = 0;
  usage::Recorded record = nullptr;

  Qp() : extended{} {}
};

inline Qp& qp_of(ibv_qp* qp) { return *reinterpret_cast<Qp*>(qp); }
inline Qp& qp_of(ibv_qp_ex* qp) { return *reinterpret_cast<Qp*>(qp); }

// Gives a queue pair the ibv_wr_* functions for the operations of `flags`
// (ibv_qp_create_send_ops_flags). EOPNOTSUPP when its type does not serve one of them.
int offer_extended_posting(Qp& qp, std::uint64_t flags);

}  // namespace gdr::verbs
