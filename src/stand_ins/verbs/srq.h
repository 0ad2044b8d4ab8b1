// Srq: a shared receive queue as programs see it.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "rnic/srq.h"
#include "verbs/xrcd.h"

namespace gdr::verbs {

// Reported by ibv_query_device_ex. Tag operations are complete when they have been posted.
constexpr std::uint32_t kMaxTagOperations = 1u << 16;
constexpr std::uint32_t kMaxRendezvousHeader = 64;

struct Srq {
  ibv_srq base{};
  std::shared_ptr<rnic::Srq> queue;
  ibv_cq* cq = nullptr;            // of an XRC one, and of one that matches tags
  Xrcd* xrcd = nullptr;            // of an XRC one
  std::atomic<int> users{0};       // queue pairs
  std::uint32_t events_taken = 0;  // under Context::events_mutex
  std::uint64_t serial = 0;
};

inline Srq& srq_of(ibv_srq* srq) { return *reinterpret_cast<Srq*>(srq); }

}  // namespace gdr::verbs
