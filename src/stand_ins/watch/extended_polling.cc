// ibv_start_poll and ibv_next_poll. Hot. A completion queue whose functions these are is always
// known.
#include "watch/data_path.h"
#include "watch/extended.h"

namespace gdr::watch {
namespace {

void count(const CompletionQueue& known, ibv_cq_ex* queue) {
  const Context& context = *known.context;
  if (queue->status != IBV_WC_SUCCESS) {
    const QueuePair* queue_pair = known.shows_queue_pair
                                      ? find_by_number(context.device, queue->read_qp_num(queue))
                                      : nullptr;
    ledger::Counts* counts = queue_pair != nullptr ? queue_pair->counts : context.rest;
    if (counts != nullptr) counts->add(ledger::kFailures, 1);
    return;
  }
  const ibv_wc_opcode opcode = queue->read_opcode(queue);
  if ((opcode & IBV_WC_RECV) == 0 || opcode >= IBV_WC_TM_ADD) return;
  const bool is_write = opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  const std::uint64_t bytes = known.shows_bytes && !is_write ? queue->read_byte_len(queue) : 0;
  // No queue pair has the number 0xffffffff.
  count_receive(context, known.shows_queue_pair ? queue->read_qp_num(queue) : ledger::kNone, bytes);
}

int start_poll(ibv_cq_ex* queue, ibv_poll_cq_attr* attributes) {
  const CompletionQueue& known = *find(queue);
  const int result = known.start_poll(queue, attributes);
  if (result == 0) count(known, queue);
  return result;
}

int next_poll(ibv_cq_ex* queue) {
  const CompletionQueue& known = *find(queue);
  const int result = known.next_poll(queue);
  if (result == 0) count(known, queue);
  return result;
}

}  // namespace

void wrap_polling(CompletionQueue& known) {
  known.start_poll = known.object->start_poll;
  known.next_poll = known.object->next_poll;
  known.object->start_poll = start_poll;
  known.object->next_poll = next_poll;
}

void unwrap_polling(const CompletionQueue& known) {
  known.object->start_poll = known.start_poll;
  known.object->next_poll = known.next_poll;
}

}  // namespace gdr::watch
