// The Owner's side that works on this process's own requests: work, its bytes, its end.
#include <algorithm>

#include "net/packet_queue_pair.h"
#include "rnic/delivery/atomic.h"
#include "rnic/delivery/segments.h"

namespace gdr::net {
namespace {

using engine::Status;
using engine::WorkKind;

WorkKind kind_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
      return WorkKind::kSend;
    case IBV_WR_SEND_WITH_IMM:
      return WorkKind::kSendImmediate;
    case IBV_WR_SEND_WITH_INV:
      return WorkKind::kSendInvalidate;
    case IBV_WR_RDMA_WRITE:
      return WorkKind::kWrite;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return WorkKind::kWriteImmediate;
    case IBV_WR_RDMA_READ:
      return WorkKind::kRead;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return WorkKind::kCompareSwap;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return WorkKind::kFetchAdd;
    default:
      return WorkKind::kLocal;
  }
}

bool is_send(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

ibv_wc_status status_of(Status status) {
  switch (status) {
    case Status::kSuccess:
      return IBV_WC_SUCCESS;
    case Status::kLocalLengthError:
      return IBV_WC_LOC_LEN_ERR;
    case Status::kLocalProtectionError:
      return IBV_WC_LOC_PROT_ERR;
    case Status::kBadResponse:
      return IBV_WC_BAD_RESP_ERR;
    case Status::kRemoteInvalidRequest:
      return IBV_WC_REM_INV_REQ_ERR;
    case Status::kRemoteAccessError:
      return IBV_WC_REM_ACCESS_ERR;
    case Status::kRemoteOperationalError:
      return IBV_WC_REM_OP_ERR;
    case Status::kRnrRetryExceeded:
      return IBV_WC_RNR_RETRY_EXC_ERR;
    case Status::kRetryExceeded:
      break;
  }
  return IBV_WC_RETRY_EXC_ERR;
}

}  // namespace

bool PacketQueuePair::work(std::uint32_t index, engine::Work* work) {
  rnic::SendRing& ring = queue_pair_.send_ring();
  if (ring_index(index) >= ring.size() || requests_failed_) return false;
  const rnic::SendRequest& request = ring.peek(ring_index(index));
  // Reads before it have their answers, but not yet in place.
  if ((request.flags & IBV_SEND_FENCE) != 0 && !deferred_works_.empty()) return false;
  *work = {};
  work->kind = kind_of(request.opcode);
  if (work->kind == WorkKind::kLocal) return true;
  work->solicited = (request.flags & IBV_SEND_SOLICITED) != 0;
  work->fence = (request.flags & IBV_SEND_FENCE) != 0;
  work->immediate = request.immediate;
  work->length = request.total_bytes;
  if (datagram_) {
    work->destination_qp = request.remote_qp;
    work->qkey = request.remote_qkey;
    return true;
  }
  work->rkey = request.rkey;
  work->remote_address = request.remote_address;
  work->compare_or_add = request.compare_add;
  work->swap = request.swap;
  work->xrc_srq = request.remote_srq;
  const bool writes_here = work->kind == WorkKind::kRead || rnic::is_atomic(request.opcode);
  if (!rnic::keys_are_right(adapter_.regions(), request.segments(), queue_pair_.domain_of(request),
                            writes_here ? rnic::kWriteHere : rnic::kReadHere)) {
    work->error = Status::kLocalProtectionError;
  } else if (request.total_bytes > rnic::kMaxMessage ||
             (rnic::is_atomic(request.opcode) && request.total_bytes != rnic::kOperandBytes)) {
    work->error = Status::kLocalLengthError;
  }
  return true;
}

void PacketQueuePair::complete(Status status) {
  if (requests_failed_) return;
  const bool is_placed = last_response_ <= placer_.placed() && !is_lost(last_response_);
  if (!is_placed || !deferred_works_.empty()) {
    return deferred_works_.push_back({last_response_, status});
  }
  finish_work(status);
}

void PacketQueuePair::finish_work(Status status) {
  ++ended_works_;
  const rnic::SendRequest& request = queue_pair_.send_ring().front();
  if (kind_of(request.opcode) == WorkKind::kLocal && status != Status::kSuccess) {
    return queue_pair_.complete_front(IBV_WC_MW_BIND_ERR, 0);
  }
  if (status == Status::kSuccess && is_send(request.opcode)) {
    queue_pair_.port().add(ports::PortCount::kMoreSends);
  }
  queue_pair_.complete_front(status_of(status), static_cast<std::uint32_t>(request.total_bytes));
  // A queue pair with nothing to do keeps none of the memory that all share.
  if (queue_pair_.send_ring().empty() && !works_ahead_.is_empty()) works_ahead_.clear();
}

bool PacketQueuePair::place_response(std::uint32_t index, std::uint64_t offset,
                                     std::span<const std::byte> bytes) {
  rnic::SendRing& ring = queue_pair_.send_ring();
  if (ring_index(index) >= ring.size() || requests_failed_) return false;
  const rnic::SendRequest& request = ring.peek(ring_index(index));
  const bool placed = rnic::store_segments(
      adapter_.regions(), request.segments(), queue_pair_.domain_of(request), offset, bytes,
      [&](const rnic::Place& place, auto part) { return store(place, part, true, false); });
  last_response_ = last_piece_;
  return placed;
}

// Nothing is waited for here, where the receive lock may be held and arrivals of all queue pairs
// wait behind it.
std::optional<Status> PacketQueuePair::carry_out_local() {
  if (!deferred_works_.empty()) return std::nullopt;
  release_responder();
  switch (window_.go_on(adapter_, queue_pair_)) {
    case rnic::WindowChange::Went::kWaits:
      return std::nullopt;
    case rnic::WindowChange::Went::kRefused:
      return Status::kLocalProtectionError;
    case rnic::WindowChange::Went::kDone:
      break;
  }
  return Status::kSuccess;
}

void PacketQueuePair::build_datagram(engine::Transmit* transmit) {
  engine::Work front;
  work(0, &front);
  datagram_->build(front, transmit);
}

}  // namespace gdr::net
