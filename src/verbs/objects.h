// The verbs objects: each begins with the struct that programs see, followed by what stands behind
// it in src/rnic. Conversions from the former to the latter are the `*_of` functions.
//
//   Pd& pd = pd_of(program_pd);
//   auto* mr = new Mr{...};
//   mr->serial = pd.context.adopt([mr] { dispose(mr); });
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "rnic/adapter.h"
#include "rnic/events.h"
#include "verbs/device.h"

namespace gdr::verbs {

// An opened device. What is still alive when it is closed is destroyed with it, last made first, as
// the kernel does.
struct Context {
  verbs_context base{};
  Device* device = nullptr;
  rnic::Adapter* adapter = nullptr;
  std::shared_ptr<rnic::EventQueue> events;

  // Whether asynchronous events of an object (its Cq, Qp or Srq) may still be handed out: after
  // drop_events() returns none is, not even one that another thread was about to report.
  void expect_events(const void* object);
  void drop_events(const void* object);
  bool expects_events(const void* object) const { return event_objects.contains(object); }
  std::mutex events_mutex;
  std::set<const void*> event_objects;  // under events_mutex

  // Remembers how to destroy an object; the number goes into its `serial`.
  std::uint64_t adopt(std::function<void()> dispose);
  void forget(std::uint64_t serial);

  std::mutex mutex;
  std::uint64_t last_serial = 0;
  std::map<std::uint64_t, std::function<void()>> live;
};

inline Context& context_of(ibv_context* context) {
  auto* extended = reinterpret_cast<verbs_context*>(reinterpret_cast<char*>(context) -
                                                    offsetof(verbs_context, context));
  return *reinterpret_cast<Context*>(extended);
}

struct Pd {
  ibv_pd base{};
  std::uint32_t domain = 0;
  std::atomic<int> users{0};  // regions, queue pairs, address handles
  std::uint64_t serial = 0;
};
inline Pd& pd_of(ibv_pd* pd) { return *reinterpret_cast<Pd*>(pd); }

struct Mr {
  ibv_mr base{};
  std::uint64_t serial = 0;
};
inline Mr& mr_of(ibv_mr* mr) { return *reinterpret_cast<Mr*>(mr); }

// The one port of a device, and the only entries of its GID and partition key tables.
constexpr int kPort = 1;
constexpr int kGidIndex = 0;
constexpr std::uint16_t kPartitionKey = 0xffff;

}  // namespace gdr::verbs
