// Target: the queue pair that a work request is carried out against, in this process or another's
// segment, and what is done to it under its responder lock: is it ready, which receive is next,
// push its completion. Everything read from a segment is checked before use. Hot.
#pragma once

#include "local/pieces.h"
#include "peers/peer.h"
#include "peers/peers.h"
#include "rnic/adapter.h"
#include "rnic/completion_run.h"
#include "rnic/delivery/receives.h"
#include "rnic/delivery/responder_lock.h"
#include "rnic/gids.h"
#include "rnic/tag_list.h"

namespace gdr::local {

using peers::Peer;
using rnic::kLockSpins;

// Receives lie behind each other: so many bytes on, the next ones are fetched while one is used.
constexpr std::size_t kReceivesAhead = 256;

enum class Readiness {
  kReady,
  kNotNow,  // not (yet, or any more) in a state to receive: a real NIC would see no answer
};

// The first receive request of the queue. It stays there until its completion is pushed, so that a
// request that must be begun again finds it again.
struct TakenReceive {
  std::uint64_t wr_id = 0;
  bool protection_error = false;  // a segment's key does not cover what the message takes of it
};

// Whether a receive was completed. If not it is there as before.
enum class Pushed {
  kYes,
  kNotNow,       // the request has to be begun again
  kNoRoom,       // for what its completion would carry: move that, and push again
  kUnreachable,  // this process cannot map the queue of its completion
};

// What a push that stored nothing means for its receive.
Pushed why_not(rnic::Push push);

// Whether the shared receive queue that an XRC request names could be locked.
enum class SrqEntry {
  kEntered,
  kBusy,  // by another request
  kNone,  // there is no such one in the queue pair's domain
};

// The last port that was looked for.
struct KnownPort {
  const rnic::SharedDevice* device = nullptr;
  rnic::Token owner = 0;
  ports::Port* port = nullptr;
};

// What was found out about a message with a tag-matching header.
struct TagMatch {
  std::uint32_t index = rnic::kNoTag;  // of the tagged receive that takes it
  rnic::TagInfo info;                  // of one that was matched
  bool unexpected = false;
  bool announced = false;  // only its place is told, in `rendezvous`
  rnic::Rendezvous rendezvous{};
};

// Short messages that reach their receiver together: see Target::begin_run().
struct Run {
  rnic::CompletionRun completions;
  std::optional<rnic::ReceiveRing> receives;
  std::uint32_t head = 0, ready = 0;  // of the receive queue
  std::uint32_t domain = 0;
  rnic::KnownRange to;  // where the last one's bytes belong
};
struct ShortMessage {
  const std::byte* carried;  // `bytes` up to a multiple of 16
  std::uint32_t bytes;
  std::uint32_t source;  // the queue pair that sends it
};

class Target {
 public:
  Target() = default;
  // `peer` is null for this process. Whoever keeps the Target keeps the peer: counting its users
  // here would cost two locked instructions for each request.
  Target(rnic::Adapter& adapter, Peer* peer, std::uint32_t index)
      : adapter_(&adapter),
        peer_(peer),
        segment_(peer != nullptr ? &peer->segment() : &adapter.segment()),
        queue_pair_(&segment_->queue_pair(index)),
        index_(index & (rnic::kQueuePairs - 1)) {}

  explicit operator bool() const { return queue_pair_ != nullptr; }
  Peer* peer() const { return peer_; }
  rnic::Segment& segment() const { return *segment_; }
  rnic::Token owner() const { return token_of(peer_); }  // of the segment
  std::uint32_t number() const;

  // Also mends what a holder that died, or was cut off, has left half-done.
  bool try_lock(int spins);
  bool has_no_srq() const { return srq_ == nullptr; }
  // Says that a receive that was completed is over, and keeps the lock. False: this process was cut
  // off.
  bool settle_receive();
  // Whether the next request is likely to push, too.
  void expect_more(bool more) { producer_.more = more; }
  // What pushes have kept: before anything that takes long.
  void release_producer() { release(producer_, held_); }
  // A receive that was completed is so from here on, whoever dies.
  void unlock();
  // Whoever holds it may be stopped, and not known here: has its owner look after it.
  void tell_of_wait() { tell(queue_pair_peer()); }
  // What lasts while nobody has cut this process off since try_lock(): see rnic/shared_lock.h.
  const While& held() const { return held_; }
  // With the queue pair locked: from here on receives, memory and completions are those of this
  // shared receive queue, until unlock(). `owner` is null for this process.
  SrqEntry enter_srq(Peer* owner, std::uint32_t number);

  // The rest under the responder lock.
  Readiness readiness(ibv_qp_type type) const;
  bool connected_to(std::uint32_t number) const { return queue_pair_->destination == number; }
  // Whether the queue pair's device has this address.
  bool has_gid(const std::uint8_t (&gid)[16]) const {
    return rnic::find_address(device(), gid).has_value();
  }
  const std::uint8_t (&own_gid() const)[16] { return device().addresses[rnic::kOwnAddress]; }
  // Of its device; where it is cheap to know, the same as before is not looked for again.
  ports::Port& port(KnownPort& known) const;
  std::uint32_t qkey() const { return queue_pair_->qkey.load(); }
  bool grants(std::uint32_t rights) const { return rnic::grants(*queue_pair_, rights); }
  std::uint8_t minimum_rnr_timer() const {
    return static_cast<std::uint8_t>(queue_pair_->minimum_rnr_timer.load());
  }

  // Whether a message of the queue pair's own is at its end and not completed yet: see
  // rnic::QueuePair::begin_to_end(). Mostly that is over in a moment, which this waits for.
  bool is_ending_send() {
    if (queue_pair_->ending_send.load(std::memory_order_acquire) == 0) return false;
    release_producer();  // which that completion may need
    for (int i = 0; queue_pair_->ending_send.load(std::memory_order_acquire) != 0; ++i) {
      if (i == kLockSpins) return true;
      cpu_relax();
    }
    return false;
  }
  // Takes one from the shared receive queue, if that is where they come from.
  bool has_receive() { return rnic::ready_receives(*queue_pair_) != 0 || take_shared(); }
  // How many have been posted to its own receive queue; 0 where they come from a shared one.
  std::uint32_t own_receives() const {
    return rnic::read_once(queue_pair_->srq) == 0 ? rnic::ready_receives(*queue_pair_) : 0;
  }
  // Leaves a note for the owner to wake this process at its next posted receive; true if one has
  // arrived meanwhile.
  bool wait_for_receive();
  // `pieces`: what a message of so many bytes takes of its segments, checked; less if they have no
  // room for it. What it does not take may lie outside of any region, as on NICs.
  bool look_at_receive(std::uint64_t bytes, TakenReceive* receive, PieceList* pieces);

  // Checks a range that the request names by rkey.
  rnic::RegionError find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                         std::uint32_t rights, Piece* piece) const;

  // Whether a window of type 2 with this key is bound to this queue pair.
  bool has_window(std::uint32_t key) const;
  void invalidate_window(std::uint32_t key) const { rnic::invalidate_window_of(*segment_, key); }

  // Whether a completion of the receive could carry that many bytes now: more than an annex holds.
  bool may_bounce(std::uint32_t bytes) const;
  // Takes the receive off the queue and completes it.
  [[nodiscard]] Pushed push_receive(rnic::SharedCompletion& completion,
                                    const rnic::Carried& carried, bool solicited);
  // --- Messages of one list that reach their receiver together: target_run.cc.
  // Whether they can, as far as shows without the lock: in another process, to a receive queue of
  // its own, whose completions need no look at each.
  bool may_take_runs() const;
  // Waits some microseconds until so many receives are there, or a few: for a receiver that is at
  // it and only slower, so that it need not wake this process. With the queue pair locked.
  void await_receives(std::uint32_t wanted) const;
  // With the queue pair locked. False: send them one by one.
  bool begin_run(Run* run);
  // One more, if it can be carried by a completion and there is room for it.
  bool add_to_run(Run& run, const ShortMessage& message) const;
  // Their receives are completed, and so are they. False: none is, since this process was cut off.
  bool end_run(const Run& run);

  // --- Of a queue pair whose shared receive queue matches tags: tagged_target.cc.
  bool takes_tags() const;
  // As enter_srq() for the queue pair's own. False: another request holds it.
  bool enter_tags();
  std::uint32_t match_tag(std::uint64_t tag) const;
  bool look_at_tag(std::uint32_t index, std::uint64_t bytes, TakenReceive* receive,
                   PieceList* pieces) const;
  [[nodiscard]] Pushed push_tagged(rnic::SharedCompletion& completion, const rnic::Carried& carried,
                                   bool solicited, const TagMatch& match);

  // The request broke the connection: its owner moves to error.
  void report(rnic::Failure failure);

 private:
  // Also mends what its holder has left half-done. False: its holder goes on.
  bool lock_srq(Peer* owner, rnic::Segment& segment, std::uint32_t index);
  rnic::Token token_of(const Peer* owner) const {
    return owner != nullptr ? owner->token() : adapter_->token();
  }
  bool take_shared();
  void hold_srq(Peer* owner, rnic::Segment& segment, std::uint32_t index);
  void look_at(const rnic::SharedReceive& entry, std::uint32_t most_segments, std::uint32_t domain,
               std::uint64_t bytes, TakenReceive* receive, PieceList* pieces) const;
  void tell_of_push(rnic::Push push, std::uint32_t queue);
  template <typename Ring>
  bool look_at_first(Ring& queue, std::uint32_t domain, std::uint64_t bytes, TakenReceive* receive,
                     PieceList* pieces) const;
  // Takes the first receive of the shared receive queue that was entered, and completes it.
  Pushed complete_of_srq(rnic::SharedCompletion& completion, const rnic::Carried& carried,
                         bool solicited, bool unexpected);
  void end_completing(rnic::SharedQueuePair& queue_pair);
  void end_completing(rnic::SharedSrq& srq) const;
  template <typename Ring>
  Pushed complete_first(Ring& queue, rnic::SharedCompletion& completion, std::uint32_t completions,
                        const rnic::Carried& carried, bool solicited);
  // The queue pair's device; peer_ and segment_ may be those of a shared receive queue.
  const rnic::SharedDevice& device() const {
    const rnic::SegmentHeader& header = queue_pair_peer() != nullptr
                                            ? queue_pair_peer()->segment().header()
                                            : adapter_->segment().header();
    return header.devices[rnic::read_once(queue_pair_->device) % rnic::kDevices];
  }
  Peer* queue_pair_peer() const { return srq_ != nullptr ? queue_pair_peer_ : peer_; }
  void tell(Peer* owner);
  rnic::RegionError find_in(std::uint32_t domain, std::uint32_t key, std::uint64_t address,
                            std::uint64_t length, std::uint32_t rights, Piece* piece) const;

  rnic::Adapter* adapter_ = nullptr;
  Peer* peer_ = nullptr;
  rnic::Segment* segment_ = nullptr;
  rnic::SharedQueuePair* queue_pair_ = nullptr;
  std::uint32_t index_ = 0;
  While held_{};
  std::uint64_t responder_word_ = 0, srq_word_ = 0;  // of the locks
  rnic::KeptProducer producer_{};                    // of the queue pair's completion queue
  // A receive of the queue pair's own: unlock() says that it is over, in one with the lock.
  bool has_completed_ = false;
  // The shared receive queue that a request has entered; peer_ and segment_ are then its owner's.
  rnic::SharedSrq* srq_ = nullptr;
  std::uint32_t srq_index_ = 0;
  Peer* queue_pair_peer_ = nullptr;
};

}  // namespace gdr::local
