// How the requests of a queue pair end: completed, failed or flushed, and what the service thread
// does for one that has failed.
#include <infiniband/verbs.h>

#include <mutex>

#include "rnic/adapter.h"
#include "rnic/delivery/responder_lock.h"
#include "rnic/queue_pair.h"

namespace gdr::rnic {
namespace {

SharedCompletion flushed(std::uint64_t wr_id, std::uint32_t opcode, std::uint32_t qp_number) {
  SharedCompletion completion{};
  completion.wr_id = wr_id;
  completion.status = IBV_WC_WR_FLUSH_ERR;
  completion.opcode = opcode;
  completion.qp_number = qp_number;
  return completion;
}

ibv_event_type event_of(Failure failure) {
  switch (failure) {
    case Failure::kReported:
      return IBV_EVENT_QP_ACCESS_ERR;
    case Failure::kFatal:
      return IBV_EVENT_QP_FATAL;
    default:
      return IBV_EVENT_QP_REQ_ERR;
  }
}

ibv_wc_opcode completion_opcode(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    case IBV_WR_BIND_MW:
      return IBV_WC_BIND_MW;
    case IBV_WR_LOCAL_INV:
      return IBV_WC_LOCAL_INV;
    default:
      return IBV_WC_SEND;
  }
}

}  // namespace

void QueuePair::count_failed(ibv_wc_status status) {
  using enum ports::PortCount;
  port().add(kRequesterErrors);
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return port().add(kRetriesExceeded);
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return port().add(kRnrRetriesExceeded);
    case IBV_WC_REM_INV_REQ_ERR:
      return port().add(kRemoteInvalidRequests);
    case IBV_WC_REM_ACCESS_ERR:
      return port().add(kRemoteAccessErrors);
    default:
      return;
  }
}

void QueuePair::complete_front(ibv_wc_status status, std::uint32_t bytes) {
  const SendRequest& request = ring_.front();
  if (request.fetch != 0) [[unlikely]] {
    end_fetch(request, status == IBV_WC_SUCCESS);
  } else if (front_is_signalled() || status != IBV_WC_SUCCESS) {
    SharedCompletion completion{};
    completion.wr_id = request.wr_id;
    completion.status = status;
    completion.opcode = completion_opcode(request.opcode);
    completion.bytes = bytes;
    completion.qp_number = number_;
    adapter_.complete(*settings_.send_completion_queue, completion);
  }
  go_back();
  ring_.pop();
  if (status == IBV_WC_SUCCESS) return;
  count_failed(status);
  // A datagram queue pair only stops sending (C10-44); a connection is broken.
  enter_error(is_reliable(type()) ? IBV_QPS_ERR : IBV_QPS_SQE);
}

// Under send_lock_. Receives are flushed by the service thread: this may be the engine thread, and
// the responder lock that they need may be held by a transfer of its own.
void QueuePair::enter_error(ibv_qp_state error_state) {
  set_state(error_state);
  flush_sends();
  if (error_state != IBV_QPS_ERR) return;
  shared_.failure.store(static_cast<std::uint32_t>(Failure::kServed));
  flush_due_.store(true);
  adapter_.wake_for(*this);
}

void QueuePair::flush_sends() {
  for (; !ring_.empty(); ring_.pop()) {
    const SendRequest& request = ring_.front();
    if (request.fetch != 0) {
      end_fetch(request, false);
      continue;
    }
    adapter_.complete(*settings_.send_completion_queue,
                      flushed(request.wr_id, completion_opcode(request.opcode), number_));
    port().add(ports::PortCount::kRequesterFlushes);
  }
}

// False when somebody still holds one of the locks that it needs.
bool QueuePair::flush_receives() {
  const std::unique_lock receive_guard(receive_lock_, std::try_to_lock);
  if (!receive_guard) return false;
  const Token self = adapter_.token();
  std::uint64_t word = 0;
  if (take_responder({adapter_.segment(), shared_, index_, self}, self, adapter_.liveness(), 0,
                     &word) == Taken::kNo) {
    return false;
  }
  const bool shares = settings_.srq != nullptr;
  const std::uint32_t tail = shares ? settings_.srq->settled_tail(shared_) : receive_tail_;
  std::uint32_t head = shared_.receive_head.load();
  if (tail - head > receive_places_) head = tail - receive_places_;
  for (; state() == IBV_QPS_ERR && head != tail; ++head) {
    settings_.receive_completion_queue->push(flushed(receive_at(head).wr_id, IBV_WC_RECV, number_),
                                             false);
    port().add(ports::PortCount::kResponderFlushes);
  }
  shared_.receive_head.store(head);
  const bool tells = shares || type() == IBV_QPT_XRC_RECV;
  if (tells && state() == IBV_QPS_ERR && !last_receive_told_) {
    last_receive_told_ = true;
    raise(IBV_EVENT_QP_LAST_WQE_REACHED);
  }
  unlock(shared_.responder);
  return true;
}

bool QueuePair::lose_completion_queue(const CompletionQueue& queue) {
  const bool is_srqs =
      settings_.srq != nullptr && settings_.srq->settings().completion_queue.get() == &queue;
  if (!is_srqs && settings_.send_completion_queue.get() != &queue &&
      settings_.receive_completion_queue.get() != &queue) {
    return false;
  }
  if (state() == IBV_QPS_RESET || state() == IBV_QPS_ERR) return false;
  auto none = static_cast<std::uint32_t>(Failure::kNone);
  return shared_.failure.compare_exchange_strong(none, static_cast<std::uint32_t>(Failure::kFatal));
}

void QueuePair::fail() {
  shared_.failure.store(static_cast<std::uint32_t>(Failure::kInvalid));
  adapter_.wake_for(*this);
}

bool QueuePair::serve() {
  const auto failure = static_cast<Failure>(shared_.failure.load());
  if (failure != Failure::kNone && failure != Failure::kServed) {
    const std::unique_lock guard(send_lock_, std::try_to_lock);
    if (!guard) return true;
    if (destroyed_ || state() == IBV_QPS_RESET) return false;
    shared_.failure.store(static_cast<std::uint32_t>(Failure::kServed));
    if (state() != IBV_QPS_ERR) {
      cancel_sends();
      set_state(IBV_QPS_ERR);
      flush_sends();
      raise(settings_.work_queue ? IBV_EVENT_WQ_FATAL : event_of(failure));
    }
    flush_due_.store(true);
  }
  if (!flush_due_.exchange(false) || flush_receives()) return false;
  flush_due_.store(true);
  return true;
}

}  // namespace gdr::rnic
