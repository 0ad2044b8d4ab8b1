// The receive that a request completes, and the ways in which a request ends or waits.
#include <algorithm>
#include <limits>

#include "local/requester.h"
#include "peers/slots.h"
#include "wire/aeth_codes.h"

namespace gdr::local {
namespace {

constexpr Nanoseconds kTellOfWait = 30 * kMillisecond;
constexpr Nanoseconds kAnswerPatience = kSecond;  // for a process that is stopped in its send
// Long enough for this process's other threads to tell the program what has arrived before.
constexpr Nanoseconds kGonePatience = 50 * kMillisecond;
constexpr Nanoseconds kForEver = std::numeric_limits<Nanoseconds>::max();

}  // namespace

std::optional<Advance> Requester::match_receive(std::uint64_t bytes, TakenReceive* taken,
                                                PieceList* pieces) {
  if (!target.has_receive()) {
    if (!is_reliable()) {
      count_not_ready(*this);
      return break_off(IBV_WC_SUCCESS);
    }
    if (!target.wait_for_receive()) return no_receive();
  }
  if (target.look_at_receive(bytes, taken, pieces)) return std::nullopt;
  return is_reliable() ? not_ready() : break_off(IBV_WC_SUCCESS);
}

bool Requester::may_invalidate() const {
  return request().opcode != IBV_WR_SEND_WITH_INV || invalidated ||
         target.has_window(request().immediate);
}

void Requester::prepare_receive(std::uint64_t wr_id, ibv_wc_opcode opcode, std::uint64_t bytes) {
  const rnic::SendRequest& front = request();
  rnic::fill_completion(&receive, opcode, bytes, target.number(), queue_pair.number());
  receive.wr_id = wr_id;
  if (front.opcode == IBV_WR_SEND_WITH_IMM || front.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    rnic::add_immediate(&receive, front.immediate);
  } else if (front.opcode == IBV_WR_SEND_WITH_INV) {
    rnic::add_invalidated(&receive, front.immediate);
  }
  solicited = (front.flags & IBV_SEND_SOLICITED) != 0;
  has_receive = true;
}

Pushed Requester::complete_receive() {
  if ((receive.flags & IBV_WC_WITH_INV) != 0 && target.held().holds()) {
    target.invalidate_window(receive.immediate);
    invalidated = true;  // should it have to begin again
  }
  if (receive.carried <= rnic::kCarriedBytes) return push({.few = few}, solicited);
  iovec pieces[PieceList::kMost];
  std::size_t count = 0;
  for (const Piece& piece : from.pieces()) {
    pieces[count++] = {reinterpret_cast<void*>(piece.address), piece.length};
  }
  return push({.many = {pieces, count}}, solicited);
}

Pushed Requester::push_receive(bool is_solicited) {
  receive.carried = 0;
  return push({}, is_solicited);
}

Pushed Requester::push(const rnic::Carried& what, bool is_solicited) {
  target.expect_more(queue_pair.send_ring().size() > 1);
  return has_tag ? target.push_tagged(receive, what, is_solicited, tag)
                 : target.push_receive(receive, what, is_solicited);
}

Advance Requester::refuse_receive(bool too_short) {
  receive.status = rnic::refusal(too_short);
  if (const Pushed pushed = push_receive(true); pushed != Pushed::kYes) {
    return not_completed(pushed);
  }
  ports::Port& its_port = target.port(known_port);
  its_port.add(ports::PortCount::kResponderErrors);
  if (too_short) its_port.add(ports::PortCount::kResponderLengthErrors);
  ibv_wc_status status = too_short ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
  if (!is_reliable()) status = IBV_WC_SUCCESS;
  return break_off(status, rnic::Failure::kInvalid);
}

// As far as a packet would have left: what this side finds wrong with its own memory sends none.
void Requester::count_broken_off(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:  // dropped: of an unreliable transport
      return count_traffic(*this, Arrived::kNo);
    case IBV_WC_RETRY_EXC_ERR:
      count_traffic(*this, Arrived::kNo);
      return count_no_answer(*this);
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      count_traffic(*this, Arrived::kRefused);
      if (target && status == IBV_WC_REM_ACCESS_ERR) {
        target.port(known_port).add(ports::PortCount::kResponderAccessErrors);
      }
      return;
    default:
      return;
  }
}

Advance Requester::break_off(ibv_wc_status status, rnic::Failure failure) {
  count_broken_off(status);
  if (failure != rnic::Failure::kNone && target) target.report(failure);
  return end(status, 0);
}

Advance Requester::refuse(ibv_wc_status status, rnic::Failure failure) {
  return is_reliable() ? break_off(status, failure) : break_off(IBV_WC_SUCCESS);
}

Advance Requester::later(Nanoseconds after) {
  retry_at = now() + after;
  return Advance::kLater;
}

Advance Requester::begin_again(Nanoseconds after) {
  queue_pair.go_back();
  abandon();
  return later(after);
}

// A target whose queue cannot be mapped here gives no answer, like one that is not ready: this
// process may be able to map it later.
Advance Requester::not_completed(Pushed why) {
  if (why == Pushed::kNotNow) return begin_again(kLockRetry);
  queue_pair.go_back();
  return is_reliable() ? not_ready() : break_off(IBV_WC_SUCCESS);
}

Advance Requester::busy() {
  tell_of_wait(target);
  target = Target();
  return later(kLockRetry);
}

void Requester::tell_of_wait(Target& there) {
  const Nanoseconds time = now();
  if (time - told_of_wait < kTellOfWait) return;
  told_of_wait = time;
  there.tell_of_wait();
}

// What it has waited so far counts: to begin anew would be to wait for ever.
Advance Requester::go_on_waiting(Nanoseconds since, Nanoseconds after) {
  abandon();
  waiting_since = since;
  return later(after);
}

Advance Requester::wait_for_end() { return begin_again(kReadyRetry); }

// A NIC delivers what is not acknowledged without an answer of the process that it is for. Here the
// two must have met. A busy process takes a while to answer who calls it; one that does not answer
// until others are no longer waited for is stopped, and no more is kept for it.
Advance Requester::wait_to_meet(std::uint32_t qp_number) {
  const Nanoseconds since = waiting_since != 0 ? waiting_since : now();
  if (now() - since >= peers::kSilencePatience ||
      neighbours.peers().is_settled(rnic::slot_of_qp(qp_number))) {
    return break_off(IBV_WC_SUCCESS);
  }
  return go_on_waiting(since, kReadyRetry);
}

bool Requester::is_early_answer() {
  if (!target.is_ending_send()) return false;
  if (answer_since == 0) answer_since = now();
  return now() - answer_since < kAnswerPatience;
}

// No part of the patience for a target that is not ready or has no receive.
Advance Requester::wait_to_answer() { return go_on_waiting(waiting_since, kLockRetry); }

Advance Requester::wait_for_srq() {
  tell_of_wait(target);
  return go_on_waiting(waiting_since, kLockRetry);
}

// As a NIC that gets no acknowledgement: retry_cnt + 1 times the local ACK timeout (C9-140), for
// ever if that is 0.
Advance Requester::not_ready() { return unanswered(kForEver); }

// There will be no acknowledgement from a process that has ended, but no NIC knows that before its
// timeouts have passed. Programs count on it: of two that exchange messages, the first to have all
// its own ends while the other's spare ones are on their way, and that one must not be told of an
// error before it has been told of its last message (ibv_srq_pingpong).
Advance Requester::gone() {
  return is_reliable() ? unanswered(kGonePatience) : break_off(IBV_WC_SUCCESS);
}

Advance Requester::unanswered(Nanoseconds at_most) {
  const Nanoseconds since = waiting_since != 0 ? waiting_since : now();
  abandon();
  waiting_since = since;
  const ibv_qp_attr& attributes = queue_pair.attributes();
  Nanoseconds patience = at_most;
  if (attributes.timeout != 0) {
    patience = std::min(patience, (Nanoseconds{4096} << attributes.timeout) *
                                      (Nanoseconds{attributes.retry_cnt} + 1));
  }
  return now() - since < patience ? later(kReadyRetry) : break_off(IBV_WC_RETRY_EXC_ERR);
}

// Receiver not ready: rnr_retry times the responder's RNR timer, for ever if that is 7 (C9-142).
Advance Requester::no_receive() {
  if (waiting_since == 0) count_not_ready(*this);
  const Nanoseconds since = waiting_since != 0 ? waiting_since : now();
  const Nanoseconds timer = wire::rnr_wait(target.minimum_rnr_timer());
  abandon();
  waiting_since = since;
  const std::uint8_t retries = queue_pair.attributes().rnr_retry;
  if (retries == 7) return later(kSecond);  // woken by the receiver
  const Nanoseconds patience = timer * retries;
  const Nanoseconds waited = now() - since;
  return waited < patience ? later(patience - waited) : break_off(IBV_WC_RNR_RETRY_EXC_ERR);
}

}  // namespace gdr::local
