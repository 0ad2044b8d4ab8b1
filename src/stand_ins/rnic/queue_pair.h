// QueuePair: states, work requests and what becomes of them, whichever carrier they have.
//
// Locks, in the order they may be taken: send_lock (this process: the send ring and its execution)
// before receive_lock (this process: posting receives) before a SharedLock; of these the
// responder's before a shared receive queue's before a completion queue's. Nobody waits for the
// responder lock of one queue pair while holding that of another.
//
// Threads: post_* by the application (hot); Carrier::send by the application or the carrier's own
// thread, under send_lock; flush_* by the service thread.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/spin_lock.h"
#include "ports/port_file.h"
#include "rnic/carrier.h"
#include "rnic/completion_queue.h"
#include "rnic/events.h"
#include "rnic/region_table.h"
#include "rnic/srq.h"
#include "rnic/work_request.h"

namespace gdr::rnic {

class Adapter;

struct QueuePairSettings {
  ibv_qp_type type = IBV_QPT_RC;  // RC, UC, UD, RAW_PACKET, XRC_SEND or XRC_RECV
  std::uint32_t device = 0;       // index into the adapter's devices
  std::uint32_t context = 0;      // which opening of the device: its raw frames do not come back
  std::uint32_t protection_domain = 0;
  std::shared_ptr<CompletionQueue> send_completion_queue;     // null: XRC_RECV
  std::shared_ptr<CompletionQueue> receive_completion_queue;  // null: XRC_SEND, XRC_RECV
  std::shared_ptr<Srq> srq{};  // null: it has a receive queue of its own
  XrcDomain xrc_domain{};      // of XRC_RECV
  std::shared_ptr<EventQueue> events;
  void* verbs_object = nullptr;  // named by asynchronous events
  ibv_qp_cap capabilities{};     // asked for; query() reports what was granted (rounded up)
  bool signal_all = false;
  RingAllocator send_memory = {};  // empty: the library's own
  // Multicast datagrams of its own do not come back to it.
  bool block_multicast_loopback = false;
  std::uint64_t spread = 0;  // its flow rules' frames go where this says: see receive_hash.h
  bool work_queue = false;   // it is what stands behind an ibv_wq: its events are a work queue's
};

// In ibv_send_wr::send_flags, beside ibv_send_flags: the request is ibv_bind_mw's, which alone
// binds windows of type 1.
constexpr std::uint32_t kBoundByVerb = 1u << 31;

constexpr bool is_reliable(ibv_qp_type type) {
  return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
}
constexpr bool is_xrc(ibv_qp_type type) {
  return type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
}

// Limits that ibv_query_device reports.
constexpr std::uint32_t kMaxSendRequests = 32768;
constexpr std::uint32_t kMaxReceiveRequests = 32768;
constexpr std::uint32_t kMaxInline = 1024;
constexpr std::uint32_t kMaxReadAtomic = 128;
constexpr std::uint32_t kMaxMessage = 1u << 31;
constexpr std::uint32_t kDatagramBytes = 4096;  // of a UD payload: the path MTU
constexpr std::uint32_t kFrameBytes = 9216;     // of a raw frame: a jumbo frame
constexpr std::uint32_t kGrhBytes = 40;
constexpr std::uint32_t kTagHeaderBytes = 16;

// What a carrier keeps of a queue pair.
class CarrierState {
 public:
  virtual ~CarrierState() = default;
};

// Whether a message that was announced is being read.
enum class Fetch {
  kPosted,
  kLater,  // not now
  kNever,  // the queue pair is in no state for it
};

class QueuePair : public std::enable_shared_from_this<QueuePair> {
 public:
  // Use Adapter::create_queue_pair.
  QueuePair(Adapter& adapter, std::uint32_t index, const QueuePairSettings& settings);
  ~QueuePair();
  Result<void> allocate();

  std::uint32_t index() const { return index_; }
  std::uint32_t number() const { return number_; }
  const QueuePairSettings& settings() const { return settings_; }
  ibv_qp_type type() const { return settings_.type; }

  // --- Commands (verbs layer). 0 or an errno value.
  int modify(const ibv_qp_attr& attributes, int mask);
  void query(ibv_qp_attr* attributes, ibv_qp_init_attr* init) const;
  int post_send(const ibv_send_wr* list, const ibv_send_wr** bad);
  int post_receive(const ibv_recv_wr* list, const ibv_recv_wr** bad);
  // Whether a request of IBV_WR_BIND_MW would be taken: 0 or EINVAL.
  int check_bind(const ibv_send_wr& request) const;
  // ibv_open_qp makes further handles of it, and its events go to each. open() is false when the
  // last one has been closed, close() true for the last.
  bool open(std::shared_ptr<EventQueue> events, void* verbs_object);
  bool close(const void* verbs_object);
  // Stops everything and forgets its completions; nobody touches its memory after this returns.
  void destroy();
  // In a fork's child, which has none of the threads that may have held a lock: posts are refused.
  void child_of_fork() {
    send_lock_.unlock();
    receive_lock_.unlock();
    handles_lock_.unlock();
    state_.store(IBV_QPS_RESET);
    ring_.clear();
  }

  // --- For carriers, under send_lock().
  SpinLock& send_lock() { return send_lock_; }
  SendRing& send_ring() { return ring_; }
  ibv_qp_state state() const { return state_.load(std::memory_order_acquire); }
  const ibv_qp_attr& attributes() const { return attributes_; }
  SharedQueuePair& shared() { return shared_; }
  // Completes the front request and takes it off the ring. Any status but success moves the queue
  // pair to error (RC) or send-queue-error (others) and flushes what is behind it.
  void complete_front(ibv_wc_status status, std::uint32_t bytes);
  // Before the receiver of the front message has it: until complete_front() or go_back() the
  // receiver's answer waits, so that nobody sees it before the message's own completion. As from a
  // NIC, whose acknowledgement comes first. For one whose success is told; no thread that polls
  // only afterwards needs this. Hot.
  void begin_to_end() {
    const CompletionQueue* const answers = settings_.receive_completion_queue.get();
    if (answers != nullptr && answers->is_polled_by_others()) {
      shared_.ending_send.store(1, std::memory_order_relaxed);
    }
  }
  void go_back() {
    if (shared_.ending_send.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      shared_.ending_send.store(0, std::memory_order_release);
    }
  }
  ports::Port& port() const;  // its device's
  std::unique_ptr<CarrierState> local_state;
  // For packets; a datagram queue pair uses both.
  std::unique_ptr<CarrierState> packet_state;
  // Whether there is a request, and the front one is for that carrier. Hot.
  bool has_front_for(const Carrier& carrier) {
    return !ring_.empty() && ring_.front().goes_beyond == (carrier_ != &carrier);
  }
  // Has carriers go on with the ring, each with what is its own, until one has to wait.
  void carry();

  // Whether the request's success is told; the front one's. Hot.
  bool is_signalled(const SendRequest& request) const {
    return settings_.signal_all || (request.flags & IBV_SEND_SIGNALED) != 0;
  }
  bool front_is_signalled() { return is_signalled(ring_.front()); }

  // The front request, a datagram to a group, has been served within this host: the other carrier
  // goes on with it. False: it leaves no host.
  bool pass_beyond();

  // The protection domain of a request's own bytes.
  std::uint32_t domain_of(const SendRequest& request) const {
    return request.fetch == 0 ? settings_.protection_domain
                              : settings_.srq->settings().protection_domain;
  }

  // --- For the service thread.
  // Reads what was announced into a tagged receive of its shared receive queue, and tells the
  // sender. Srq::fetched() says how it ended.
  Fetch fetch(std::uint32_t tag, const Rendezvous& wanted, const SharedReceive& into,
              std::uint32_t most_segments);
  // Flushes both queues if an initiator reported an error of this queue pair, or after it moved to
  // error by itself; raises IBV_EVENT_QP_ACCESS_ERR or _REQ_ERR for the first. Never waits
  // for a lock: its holder may wait for this very thread to copy. True: come again soon.
  bool serve();
  // A completion queue is in error: if it is one of this queue pair's, serve() ends this one with
  // IBV_EVENT_QP_FATAL (C10-42, "local work queue catastrophic error"). True: call it soon.
  bool lose_completion_queue(const CompletionQueue& queue);
  // Ends it with IBV_EVENT_QP_REQ_ERR, soon, on the service thread.
  void fail();

 private:
  int check_send(const ibv_send_wr& request) const;
  void store_send(const ibv_send_wr& request, SendRequest& slot);
  bool goes_beyond(const SendRequest& datagram);
  Carrier* carrier_of_front();
  int connect();
  void cancel_sends();
  static void store_window_request(const ibv_send_wr& request, SendRequest& slot);
  bool has_own_receives() const { return settings_.srq == nullptr && !is_xrc(type()); }
  SharedReceive& receive_at(std::uint32_t position) const;
  bool allocate_sends();
  Result<void> allocate_receives();
  void set_state(ibv_qp_state state);
  void raise(ibv_event_type event);
  void apply(const ibv_qp_attr& attributes, int mask);
  void reset();
  void enter_error(ibv_qp_state error_state);
  void flush_sends();
  void count_failed(ibv_wc_status status);
  void drop_sends();
  void end_fetch(const SendRequest& request, bool succeeded);
  bool flush_receives();

  Adapter& adapter_;
  Carrier* carrier_;  // under send_lock_; of datagrams: within the host
  const std::uint32_t index_, number_;
  QueuePairSettings settings_;
  SharedQueuePair& shared_;
  std::atomic<ibv_qp_state> state_{IBV_QPS_RESET};  // the shared one is for initiators only
  ibv_qp_attr attributes_{};

  struct Handle {
    std::shared_ptr<EventQueue> events;
    void* object;  // named by its events
  };
  SpinLock handles_lock_;
  std::vector<Handle> handles_;

  SpinLock send_lock_;
  SendRing ring_;

  SpinLock receive_lock_;
  std::uint32_t known_receive_head_ = 0;  // what the shared one was when the ring last seemed full
  std::uint32_t receive_tail_ = 0;  // 0 with a shared receive queue: then initiators advance it
  std::uint32_t receive_capacity_ = 0, receive_stride_ = 0;
  std::uint32_t receive_places_ = 0;  // of the ring: a power of two
  std::uint64_t receive_ring_ = 0;
  std::byte* receives_ = nullptr;
  bool destroyed_ = false;  // under send_lock_
  // Where the last datagram's address was found. Under send_lock_.
  std::optional<std::array<std::uint8_t, 16>> last_gid_;
  bool last_goes_beyond_ = false;
  bool last_receive_told_ = false;      // under receive_lock_
  std::atomic<bool> flush_due_{false};  // receives were posted to, or are left in, a failed queue
};

}  // namespace gdr::rnic
