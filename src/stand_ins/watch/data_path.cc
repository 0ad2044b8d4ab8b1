#include "watch/data_path.h"

#include <cerrno>
#include <initializer_list>

#include "watch/regions.h"

namespace gdr::watch {
namespace {

// Before the call: whoever gets the completion may reuse the requests at once.
Tally tally_of(std::uint32_t device, const ibv_send_wr* list, const ibv_send_wr* end) {
  Tally tally;
  for (const ibv_send_wr* one = list; one != nullptr && one != end; one = one->next) {
    tally.add(device, *one);
  }
  return tally;
}

int post_send(ibv_qp* object, ibv_send_wr* list, ibv_send_wr** bad) {
  const QueuePair* queue_pair = find(object);
  const Context* context = queue_pair == nullptr ? find(object->context) : nullptr;
  if (queue_pair == nullptr && context == nullptr) return EINVAL;  // a closed device
  const std::uint32_t device = queue_pair != nullptr ? queue_pair->device : context->device;
  ledger::Counts* counts = queue_pair != nullptr ? queue_pair->counts : context->rest;
  PostSend* post = queue_pair != nullptr ? queue_pair->post_send : context->ops.post_send;
  Tally tally = tally_of(device, list, nullptr);
  const int result = post(object, list, bad);
  if (result != 0) tally = bad == nullptr ? Tally{} : tally_of(device, list, *bad);
  if (counts != nullptr) tally.commit(*counts);
  return result;
}

std::uint32_t memory_bits(std::uint32_t device, const ibv_recv_wr* list) {
  std::uint32_t bits = 0;
  for (; list != nullptr; list = list->next) {
    if (list->num_sge > 0) bits |= bit_of(memory_of(device, list->sg_list[0].lkey));
  }
  return bits;
}

int post_receive(ibv_qp* object, ibv_recv_wr* list, ibv_recv_wr** bad) {
  QueuePair* queue_pair = find(object);
  if (queue_pair == nullptr) {
    const Context* context = find(object->context);
    return context == nullptr ? EINVAL : context->ops.post_recv(object, list, bad);
  }
  const std::uint32_t bits = memory_bits(queue_pair->device, list);
  if ((queue_pair->receives_into.load(std::memory_order_relaxed) & bits) != bits) {
    queue_pair->receives_into.fetch_or(bits, std::memory_order_relaxed);
  }
  return queue_pair->post_receive(object, list, bad);
}

int post_shared_receive(ibv_srq* object, ibv_recv_wr* list, ibv_recv_wr** bad) {
  const Context* context = find(object->context);
  if (context == nullptr) return EINVAL;
  note_shared_receive(object, memory_bits(context->device, list));
  return context->ops.post_srq_recv(object, list, bad);
}

int poll_cq(ibv_cq* object, int entries, ibv_wc* completions) {
  const Context* context = find(object->context);
  if (context == nullptr) return -1;
  const int count = context->ops.poll_cq(object, entries, completions);
  for (int i = 0; i < count; ++i) {
    const ibv_wc& one = completions[i];
    if (one.status != IBV_WC_SUCCESS) {
      QueuePair* queue_pair = find_by_number(context->device, one.qp_num);
      ledger::Counts* counts = queue_pair != nullptr ? queue_pair->counts : context->rest;
      if (counts != nullptr) counts->add(ledger::kFailures, 1);
    } else if ((one.opcode & IBV_WC_RECV) != 0) {
      // With immediate data of a write, the bytes are the write's, and no receive buffer got them.
      const bool is_write = one.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
      count_receive(*context, one.qp_num, is_write ? 0 : one.byte_len);
    }
  }
  return count;
}

ledger::Memory memory_of_bits(std::uint32_t bits) {
  for (const auto memory : {ledger::Memory::kHost, ledger::Memory::kGpu}) {
    if (bits == bit_of(memory)) return memory;
  }
  return ledger::Memory::kOther;
}

}  // namespace

void count_receive(const Context& context, std::uint32_t number, std::uint64_t bytes) {
  const QueuePair* queue_pair = find_by_number(context.device, number);
  ledger::Counts* counts = queue_pair != nullptr ? queue_pair->counts : context.rest;
  if (counts == nullptr) return;
  std::uint32_t bits = 0;
  if (queue_pair != nullptr) {
    bits = queue_pair->srq != nullptr ? shared_receives_into(queue_pair->srq)
                                      : queue_pair->receives_into.load(std::memory_order_relaxed);
  }
  counts->add(ledger::kReceives, 1);
  if (bytes != 0) counts->add(ledger::kBytesReceived, memory_of_bits(bits), bytes);
}

void wrap_data_path(ibv_context_ops& ops) {
  if (ops.post_send != nullptr) ops.post_send = post_send;
  if (ops.post_recv != nullptr) ops.post_recv = post_receive;
  if (ops.post_srq_recv != nullptr) ops.post_srq_recv = post_shared_receive;
  if (ops.poll_cq != nullptr) ops.poll_cq = poll_cq;
}

}  // namespace gdr::watch
