// What this library knows of the program's contexts, queue pairs and completion queues, with the
// provider's own functions behind those that it has put in their place.
//
//   if (QueuePair* known = find(queue_pair)) return known->post_send(queue_pair, list, bad);
//
// Made when the object is made, freed when it is destroyed, both by the thread that does so; in
// between anybody may look it up. Allocated by malloc: the program allocates there anyway.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "ledger/ledger.h"
#include "watch/tally.h"

namespace gdr::watch {

using PostSend = int(ibv_qp*, ibv_send_wr*, ibv_send_wr**);
using PostReceive = int(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**);
using PostSharedReceive = int(ibv_srq*, ibv_recv_wr*, ibv_recv_wr**);
using PollCq = int(ibv_cq*, int, ibv_wc*);

struct Context {
  ibv_context* object = nullptr;
  ibv_context_ops ops{};  // the provider's
  ibv_qp* (*create_qp_ex)(ibv_context*, ibv_qp_init_attr_ex*) = nullptr;
  ibv_cq_ex* (*create_cq_ex)(ibv_context*, ibv_cq_init_attr_ex*) = nullptr;
  std::uint32_t device = ledger::kNone;
  ledger::Counts* rest = nullptr;  // of queue pairs without a record
};

struct QueuePair {
  ibv_qp* object = nullptr;
  PostSend* post_send = nullptr;
  PostReceive* post_receive = nullptr;
  std::uint32_t device = ledger::kNone;
  ledger::QueuePair* record = nullptr;
  ledger::Counts* counts = nullptr;
  ibv_srq* srq = nullptr;
  std::atomic<std::uint32_t> receives_into{0};  // a bit for each ledger::Memory
  // Extended posting: the provider's functions, and what was posted since ibv_wr_start(). Whoever
  // called that has the queue pair for himself.
  bool is_extended = false;
  ibv_qp_ex functions{};
  Tally batch;
  ledger::BytesOf batch_kind = ledger::kBytesOut;
};

struct CompletionQueue {
  ibv_cq_ex* object = nullptr;
  const Context* context = nullptr;
  int (*start_poll)(ibv_cq_ex*, ibv_poll_cq_attr*) = nullptr;
  int (*next_poll)(ibv_cq_ex*) = nullptr;
  bool shows_bytes = false, shows_queue_pair = false;
};

// Null: not known, which is no fault of the program.
Context* find(const ibv_context* object);
QueuePair* find(const ibv_qp* object);
QueuePair* find_by_number(std::uint32_t device, std::uint32_t number);
CompletionQueue* find(const ibv_cq_ex* object);

// The program has it from now on. False: too many; then it stays as the provider made it.
bool add(Context* made);
bool add(QueuePair* made);
bool add(CompletionQueue* made);
// Before it is destroyed: its address may belong to another thread's object right afterwards.
void drop(Context* gone);
void drop(QueuePair* gone);
void drop(CompletionQueue* gone);

// What receives of a shared receive queue go into: bits as above.
std::uint32_t shared_receives_into(const ibv_srq* srq);
void note_shared_receive(const ibv_srq* srq, std::uint32_t bits);
void drop_shared(const ibv_srq* srq);

inline constexpr std::uint32_t bit_of(ledger::Memory memory) {
  return 1U << static_cast<std::uint32_t>(memory);
}

}  // namespace gdr::watch
