// Wq: a receive work queue; RwqTable: an indirection table of several. A raw packet queue pair made
// on a table spreads what its flow rules take over them by a hash.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rnic/queue_pair.h"

namespace gdr::verbs {

struct Wq {
  ibv_wq base{};
  std::shared_ptr<rnic::QueuePair> queue;  // a raw packet one that only receives
  std::atomic<int> users{0};               // table entries
  std::uint32_t events_taken = 0;          // under Context::events_mutex
  std::uint64_t serial = 0;
};
inline Wq& wq_of(ibv_wq* wq) { return *reinterpret_cast<Wq*>(wq); }

struct RwqTable {
  ibv_rwq_ind_table base{};
  std::vector<Wq*> queues;
  std::atomic<int> users{0};  // queue pairs
  std::uint64_t serial = 0;
};
inline RwqTable& table_of(ibv_rwq_ind_table* table) { return *reinterpret_cast<RwqTable*>(table); }

// The spread of a queue pair of these attributes, in the device's segment: see receive_hash.h.
// EINVAL, EOPNOTSUPP, ENOMEM.
Result<std::uint64_t> make_spread(ibv_context* context, const ibv_qp_init_attr_ex& attributes);

// verbs_context::create_wq and so on.
void set_wq_functions(verbs_context& table);

}  // namespace gdr::verbs
