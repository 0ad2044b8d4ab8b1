// Adapter: the software NIC of this process: its devices, its segment and every object in it.
//
//   std::shared_ptr<CompletionQueue> cq = *adapter.create_completion_queue({.limit = 64});
//   std::shared_ptr<QueuePair> qp = *adapter.create_queue_pair(settings);
//   std::uint32_t key = *adapter.register_memory(address, {iova, length, access, pd});
//
// One per process, made by peers::Host, which also knows the neighbours and who is alive.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "ports/port_file.h"
#include "rnic/carrier.h"
#include "rnic/completion_queue.h"
#include "rnic/device_table.h"
#include "rnic/flow.h"
#include "rnic/held_locks.h"
#include "rnic/listeners.h"
#include "rnic/multicast.h"
#include "rnic/neighbours.h"
#include "rnic/queue_pair.h"
#include "rnic/region_table.h"
#include "rnic/segment.h"
#include "rnic/srq.h"
#include "rnic/xrc_domains.h"

namespace gdr::rnic {

// What ibv_rereg_mr changes.
struct Reregistration {
  RegionAttributes attributes{};         // all of them, as they are to be
  std::optional<std::uint64_t> address;  // where its memory is pinned anew; without, it stays
  bool under_new_key = false;            // its bytes are others: no key given away reaches them
};

// Copies that may go on against queue pairs of this process: waited for without blocking, by
// whoever must not.
struct CopyInProgress {
  std::shared_ptr<const void> owner;  // of the lock
  SharedLock* lock;                   // a responder, or the `consumer` of an XRC request
  std::uint64_t holding;
};

class Adapter {
 public:
  static Result<std::unique_ptr<Adapter>> create(Token token,
                                                 std::vector<DeviceConfiguration> devices,
                                                 Neighbours& neighbours, Liveness& liveness);
  // Once, before any queue pair exists.
  void carry_by(LocalCarrier& carrier, BeyondCarrier* beyond = nullptr) {
    carrier_ = &carrier;
    beyond_ = beyond;
  }

  std::span<const DeviceConfiguration> devices() const { return devices_; }
  // What the ports count. Those of other processes' devices, too: whoever carries a message out
  // within the host counts it on both. The first is hot, the second cold.
  ports::Port& port(std::uint32_t device) { return *ports_[device]; }
  ports::Port& port_of(const SharedDevice& device);
  Segment& segment() { return *segment_; }
  RegionTable& regions() { return regions_; }
  XrcDomains& xrc_domains() { return xrc_domains_; }
  Neighbours& neighbours() { return neighbours_; }
  LocalCarrier& carrier() { return *carrier_; }      // within the host
  BeyondCarrier* beyond() const { return beyond_; }  // null: nothing leaves the host
  // Whether what goes to that address is carried beyond the host: no process of this host, of this
  // user, has a device of it. Cold.
  bool is_beyond(std::span<const std::uint8_t, 16> gid);
  bool is_here(std::span<const std::uint8_t, 16> gid);  // the opposite, whatever is carried how
  Liveness& liveness() { return liveness_; }
  Token token() const { return token_; }

  // A number that names a protection domain within this process; never 0.
  std::uint32_t allocate_protection_domain();

  // EINVAL for a limit that is none.
  Result<std::shared_ptr<CompletionQueue>> create_completion_queue(
      CompletionQueueSettings settings);
  // `events` and `verbs_object` receive IBV_EVENT_CQ_ERR when the queue overruns.
  void watch_overrun(CompletionQueue& queue, std::shared_ptr<EventQueue> events,
                     void* verbs_object);
  void destroy_completion_queue(CompletionQueue& queue);

  Result<std::shared_ptr<QueuePair>> create_queue_pair(const QueuePairSettings& settings);
  void destroy_queue_pair(QueuePair& queue_pair);
  std::shared_ptr<QueuePair> queue_pair(std::uint32_t number);  // null: none of this process
  // How many there have been: until it changes, queue_pair() gives what it gave. Hot.
  std::uint64_t destroyed_queue_pairs() const { return destroyed_queue_pairs_.load(); }

  Result<std::shared_ptr<Srq>> create_srq(const SrqSettings& settings);
  void destroy_srq(Srq& srq);

  // Registration. errno as ibv_reg_mr gives: EFAULT no such memory, EINVAL rights or length,
  // ENOMEM no key, EBADF/EOPNOTSUPP for descriptors. With IBV_ACCESS_ON_DEMAND nothing is pinned:
  // what is not there is found out when it is used.
  Result<std::uint32_t> register_memory(std::uint64_t address, const RegionAttributes& attributes);
  // Discards what is written to it and gives zeros.
  Result<std::uint32_t> register_nothing(const RegionAttributes& attributes) {
    return regions_.add(Backing::nothing(), attributes);
  }
  Result<std::uint32_t> register_dmabuf(memory::DmaBuf buffer, const RegionAttributes& attributes);
  // After this returns nobody, in any process, reads or writes through the key.
  Result<void> deregister(std::uint32_t key);
  // As deregistering and registering, but an error leaves the region as it was. The key it has now.
  Result<std::uint32_t> reregister(std::uint32_t key, const Reregistration& wanted);

  // A memory window's handle, also its first key; nobody uses it after its removal returns.
  Result<std::uint32_t> create_window(bool tied, std::uint32_t protection_domain) {
    return regions_.add_window(tied, protection_domain);
  }
  void destroy_window(std::uint32_t window);
  // Returns when every copy that this process's threads had begun has ended: for these queue pairs
  // as initiators, and for other processes that asked this one to copy. No lock is held by the
  // caller. Cold.
  void settle(std::span<const std::shared_ptr<QueuePair>> queue_pairs);
  // Those that began before now.
  std::vector<CopyInProgress> copies_in_progress();

  // Flow rules of a raw packet queue pair; the handle removes it.
  Result<std::uint32_t> create_flow(QueuePair& queue_pair, const ibv_flow_attr& attributes);
  void destroy_flow(std::uint32_t handle) { flows_.remove(handle); }

  MemberTable& members() { return members_; }  // of multicast groups
  // multicast.cc, as the table's attach() and detach(): for members that other hosts reach, too.
  Result<bool> join(const GroupId& group, QueuePair& queue_pair);
  Result<void> leave(const GroupId& group, QueuePair& queue_pair);
  void leave_all(QueuePair& queue_pair);
  ListenerTable& listeners() { return listeners_; }  // for connection requests

  // Takes what has arrived from beyond the host, before a completion queue that was found empty is
  // looked at again. False: that is not needed. Hot.
  bool progress() {
    BeyondCarrier* beyond = polled_.load(std::memory_order_acquire);
    return beyond != nullptr && beyond->progress();
  }
  // After a completion queue was armed. Hot.
  void awaits_event() {
    BeyondCarrier* beyond = polled_.load(std::memory_order_acquire);
    if (beyond != nullptr) beyond->awaits_event();
  }
  void poll_beyond(BeyondCarrier* beyond) {
    polled_.store(beyond);
  }  // null: nothing arrives any more

  // After a push onto one of this process's queues by its index: what is due is done at once, or by
  // the service thread. Hot.
  void tell_of_push(Push push, std::uint32_t queue) {
    if (push == Push::kPushed) return;
    if (push == Push::kEventDue) {
      deliver_event(queue);
    } else {
      neighbours_.wake_service();
    }
  }
  // Has the service thread look at it soon.
  void wake_for(const QueuePair& queue_pair);
  // For one of this process's own requests.
  void complete(CompletionQueue& queue, const SharedCompletion& completion);
  // Service thread, after a death: what the dead had pushed without raising its event. A queue that
  // was armed with completions in it may get an event too many, which verbs allows.
  void deliver_missed_events();

  // Around a fork. In the child the objects of the parent can be destroyed, and nothing else:
  // queue pairs are in reset, and who held a lock does not exist.
  void prepare_fork();
  void parent_of_fork();
  void child_of_fork();
  bool is_forked() const { return forked_.load(); }

  // Service thread: delivers due completion events, overrun events, flushes failed queue pairs.
  // True: something is left, come again soon.
  bool serve();
  // Service thread: cuts off who holds a lock of these objects and does not go on.
  void look_after_locks();

 private:
  std::optional<std::uint32_t> take_completion_queue_index();
  void deliver_event(std::uint32_t queue);
  Result<std::uint32_t> add_region(Backing backing, const RegionAttributes& attributes);
  struct WatchedQueue {
    std::shared_ptr<CompletionQueue> queue;
    std::shared_ptr<EventQueue> events;
    void* verbs_object = nullptr;
    bool overrun_told = false;
  };

  Adapter(Token token, std::vector<DeviceConfiguration> devices, std::unique_ptr<Segment> segment,
          Neighbours& neighbours, Liveness& liveness);
  struct Due {
    std::vector<std::shared_ptr<QueuePair>> queue_pairs;
    std::vector<WatchedQueue> completion_queues;  // with `events` to tell of an overrun
  };
  Due take_all_due();
  std::vector<std::shared_ptr<QueuePair>> queue_pairs_now();
  std::vector<std::shared_ptr<QueuePair>> busy_queue_pairs();  // perhaps
  std::vector<std::shared_ptr<CompletionQueue>> completion_queues_now();
  void wait_for_copies();
  std::vector<std::shared_ptr<Srq>> srqs_now();

  const Token token_;
  const std::vector<DeviceConfiguration> devices_;
  const std::unique_ptr<Segment> segment_;
  ports::PortFiles port_files_;
  ports::Port uncounted_{nullptr};
  std::array<ports::Port*, kDevices> ports_;
  Neighbours& neighbours_;
  Liveness& liveness_;
  RegionTable regions_;
  FlowTable flows_;
  MemberTable members_;
  ListenerTable listeners_;
  XrcDomains xrc_domains_;

  LocalCarrier* carrier_ = nullptr;
  BeyondCarrier* beyond_ = nullptr;
  std::atomic<bool> forked_{false};
  std::atomic<BeyondCarrier*> polled_{nullptr};
  std::atomic<std::uint64_t> destroyed_queue_pairs_{0};
  std::mutex mutex_;                                                 // the tables below: cold
  std::map<std::uint32_t, std::shared_ptr<QueuePair>> queue_pairs_;  // by index
  std::map<std::uint32_t, WatchedQueue> completion_queues_;
  std::vector<std::uint32_t> free_completion_queues_;  // indices that were in use
  std::uint32_t next_completion_queue_ = 0;            // from here on none was
  std::map<std::uint32_t, std::shared_ptr<Srq>> srqs_;
  // From a random place on: who forges packets has to guess a number first. 0 and 1 are the
  // specification's special queue pairs.
  std::uint32_t next_queue_pair_, next_srq_;
  HeldLocks held_locks_;
  bool looks_at_everything_ = false;  // service thread
  Nanoseconds looked_at_everything_ = 0;
  std::uint32_t next_domain_ = 1;
};

}  // namespace gdr::rnic
