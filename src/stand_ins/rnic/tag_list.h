// Tag matching: the tagged receives of a shared receive queue of the type IBV_SRQT_TM, in its
// owner's segment. A message begins with an ibv_tmh (see tm_types.h); the oldest receive whose tag
// is the message's under its mask takes it. What no one takes is unexpected, and goes into a plain
// receive for the program to match.
//
// The initiator looks for the tag and takes it; the owner adds and removes. Both do so under the
// queue's `consumer`, which initiators hold for the whole message.
//
// A program that adds a receive may not know yet of an unexpected message that belongs into it. So
// both sides count unexpected messages, and a receive is live, that is, can be matched, only once
// the program has said that it has seen all of them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <vector>

#include "base/restartable.h"
#include "base/result.h"
#include "rnic/completion_queue.h"
#include "rnic/receive_ring.h"

namespace gdr::rnic {

constexpr std::uint32_t kMaxTagBits = 12;
constexpr std::uint32_t kMaxTags = 1u << kMaxTagBits;  // of one queue
constexpr std::uint32_t kNoTag = ~0u;

enum class TagState : std::uint32_t {
  kFree,
  kWaits,     // until the counts agree
  kLive,      // to be matched
  kTaken,     // its completion is being pushed; SharedTag::after comes next
  kDue,       // matched by a rendezvous, which its owner is to fetch
  kFetching,  // by a queue pair of its owner
};

// Where the bytes of a message are that has been announced only.
struct Rendezvous {
  std::uint64_t address;
  std::uint32_t key;
  std::uint32_t length;
  std::uint32_t queue_pair;  // index of the owner's that it came through
  std::uint32_t context;     // ibv_tmh::app_ctx, in network order
  std::uint64_t tag;         // in network order
};

// A SharedReceive follows it.
struct SharedTag {
  std::atomic<TagState> state;
  std::atomic<TagState> after;
  std::uint32_t order;  // one later than the one added before; marks its completion
  std::uint32_t reserved;
  std::uint64_t tag, mask;
  Rendezvous rendezvous;

  SharedReceive& receive() { return *reinterpret_cast<SharedReceive*>(this + 1); }
};

// Where the tags of a queue lie, once their shared description has been found sound.
struct TagTable {
  std::byte* base = nullptr;  // null: it is not sound
  std::uint32_t capacity = 0, stride = 0, segments = 0;

  TagTable(Segment& segment, const SharedSrq& srq);
  SharedTag& at(std::uint32_t index) const {
    return *reinterpret_cast<SharedTag*>(base + std::uint64_t{index} * stride);
  }
  // Null: there is none.
  SharedTag* find(std::uint32_t index) const {
    return base == nullptr || index >= capacity ? nullptr : &at(index);
  }
};

// --- Initiators, under `consumer`.

// The oldest live one that takes that tag, or kNoTag.
std::uint32_t match_tag(Segment& segment, const SharedSrq& srq, std::uint64_t tag);

// Takes it off the list, marks the completion as its own, and says in which state it will be once
// that is pushed: kFree or kDue. To be ended by tag_completed().
void take_tag(Segment& segment, std::uint32_t srq, std::uint32_t index, TagState after,
              SharedCompletion* completion);
void tag_completed(Segment& segment, std::uint32_t srq, std::uint32_t index);
// Its completion could not be pushed: it is there as before.
void put_back_tag(Segment& segment, std::uint32_t srq, std::uint32_t index, const While& held);

// After `consumer` was taken over from the dead: one that was taken is as before, or completed.
void mend_tag(Segment& segment, std::uint32_t srq, Token self, Liveness& liveness);

// --- The owner, under `consumer`.
class TagList {
 public:
  static Result<std::unique_ptr<TagList>> create(Segment& segment, SharedSrq& srq,
                                                 std::uint32_t capacity, std::uint32_t segments);
  ~TagList();

  // 0 with the handle in `operation`; EINVAL, ENOMEM.
  int add(ibv_ops_wr& operation, bool live);
  // False: it is not on the list, or not any more.
  bool remove(std::uint32_t handle);
  void make_live();

  // Those in use lie below it.
  std::uint32_t end() const;
  SharedTag& at(std::uint32_t index) const;

 private:
  TagList(Segment& segment, SharedSrq& srq, std::uint64_t offset, std::byte* base,
          std::uint32_t capacity, std::uint32_t segments);

  Segment& segment_;
  SharedSrq& shared_;
  const std::uint64_t offset_;
  std::byte* const base_;
  const std::uint32_t capacity_, segments_, stride_;
  std::uint32_t last_order_ = 0;
  std::vector<std::uint32_t> handles_;  // by index; 0: never used
};

}  // namespace gdr::rnic
