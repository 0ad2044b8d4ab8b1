// The verbs objects: each begins with the struct that programs see, followed by what stands behind
// it in src/stand_ins/rnic. Conversions from the former to the latter are the `*_of` functions.
//
//   Pd& pd = pd_of(program_pd);
//   auto* mr = new Mr{...};
//   mr->serial = pd.context.adopt([mr] { dispose(mr); });
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "rnic/adapter.h"
#include "rnic/events.h"
#include "verbs/device.h"
#include "verbs/session.h"
#include "verbs/usage.h"

namespace gdr::verbs {

// An opened device. Its objects are those of its session, which it may share.
struct Context {
  verbs_context base{};
  Device* device = nullptr;
  rnic::Adapter* adapter = nullptr;
  std::uint32_t number = 0;  // differs between the contexts of a process
  std::shared_ptr<rnic::EventQueue> events;
  std::shared_ptr<Session> session;
  UniqueFd command;  // base.context.cmd_fd
  usage::Counted usage = nullptr;

  // Whether asynchronous events of an object (its Cq, Qp or Srq) may still be handed out: after
  // drop_events() returns none is, not even one that another thread was about to report.
  void expect_events(const void* object);
  void drop_events(const void* object);
  bool expects_events(const void* object) const { return event_objects.contains(object); }
  std::mutex events_mutex;
  std::set<const void*> event_objects;  // under events_mutex

  // Remembers how to destroy an object; the number goes into its `serial`.
  std::uint64_t adopt(std::function<void()> dispose) { return session->adopt(std::move(dispose)); }
  void forget(std::uint64_t serial) { session->forget(serial); }
};

inline Context& context_of(ibv_context* context) {
  auto* extended = reinterpret_cast<verbs_context*>(reinterpret_cast<char*>(context) -
                                                    offsetof(verbs_context, context));
  return *reinterpret_cast<Context*>(extended);
}

struct Td;

// One count for all that name the same object.
class SharedCount {
 public:
  void operator++() { ++*count_; }
  void operator--() { --*count_; }
  int load() const { return count_->load(); }

 private:
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

struct Pd {
  ibv_pd base{};
  std::uint32_t domain = 0;
  SharedCount users;  // regions, queue pairs, address handles, parent domains
  std::uint64_t serial = 0;

  // Set in a parent domain; null in a protection domain. See parent_domain.cc.
  Pd* protection = nullptr;
  Td* thread = nullptr;
  void* (*allocate)(ibv_pd*, void*, std::size_t, std::size_t, std::uint64_t) = nullptr;
  void (*free)(ibv_pd*, void*, void*, std::uint64_t) = nullptr;
  void* allocator_context = nullptr;
};
inline Pd& pd_of(ibv_pd* pd) { return *reinterpret_cast<Pd*>(pd); }

class DeviceMemory;
struct DmaHandle;

struct Mr {
  ibv_mr base{};
  std::uint64_t serial = 0;
  // What ibv_rereg_mr starts from.
  unsigned access = 0;     // as the program gave it
  std::uint64_t iova = 0;  // the same
  enum class Origin { kAddress, kDescriptor, kDevice, kNothing } origin = Origin::kAddress;
  std::shared_ptr<DeviceMemory> device_memory;
  DmaHandle* dma_handle = nullptr;  // that it was registered with
};
inline Mr& mr_of(ibv_mr* mr) { return *reinterpret_cast<Mr*>(mr); }

// The one port of a device, and the only entry of its partition key table.
constexpr int kPort = 1;
constexpr std::uint16_t kPartitionKey = 0xffff;

}  // namespace gdr::verbs
