// Requests that a queue pair makes by itself: reading a message that was only announced into its
// tagged receive, and telling the sender so. They share the send ring with the program's, and
// nothing of them appears on the send side's completion queue.
#include <endian.h>
#include <infiniband/tm_types.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "rnic/adapter.h"

namespace gdr::rnic {
namespace {

constexpr std::uint32_t kFinish = ~0u;  // SendRequest::fetch of the one that tells the sender

SendRequest plain_request(ibv_wr_opcode opcode, std::uint32_t fetch) {
  SendRequest request{};
  request.opcode = opcode;
  request.fetch = fetch;
  return request;
}

}  // namespace

Fetch QueuePair::fetch(std::uint32_t tag, const Rendezvous& wanted, const SharedReceive& into,
                       std::uint32_t most_segments) {
  const std::unique_lock guard(send_lock_, std::try_to_lock);
  if (!guard) return Fetch::kLater;
  const ibv_qp_state now_in = state();
  if (destroyed_ || now_in == IBV_QPS_RESET || now_in == IBV_QPS_INIT || now_in == IBV_QPS_ERR) {
    return Fetch::kNever;
  }
  if (now_in != IBV_QPS_RTS || ring_.capacity() - ring_.size() < 2) return Fetch::kLater;
  SendRequest& read = ring_.back_slot();
  read = plain_request(IBV_WR_RDMA_READ, tag + 1);
  read.remote_address = wanted.address;
  read.rkey = wanted.key;
  auto* segments = reinterpret_cast<ibv_sge*>(&read + 1);
  const std::uint32_t count = std::min(read_once(into.segments), most_segments);
  while (read.segment_count < count && read.total_bytes < wanted.length) {
    const SharedSegmentEntry from = read_segment(into, read.segment_count);
    const auto room = static_cast<std::uint32_t>(wanted.length - read.total_bytes);
    const ibv_sge segment{from.address, std::min(from.length, room), from.key};
    segments[read.segment_count++] = segment;
    read.total_bytes += segment.length;
  }
  ring_.push();
  SendRequest& finish = ring_.back_slot();
  finish = plain_request(IBV_WR_SEND, kFinish);
  finish.flags = IBV_SEND_INLINE | IBV_SEND_FENCE;
  const ibv_tmh header{
      .opcode = IBV_TMH_FIN, .reserved = {}, .app_ctx = wanted.context, .tag = wanted.tag};
  finish.total_bytes = finish.inline_bytes = sizeof header;
  std::memcpy(static_cast<void*>(&finish + 1), &header, sizeof header);
  ring_.push();
  carrier_->send_later(*this);
  return Fetch::kPosted;
}

void QueuePair::end_fetch(const SendRequest& request, bool succeeded) {
  if (request.fetch != kFinish) settings_.srq->fetched(request.fetch - 1, succeeded);
}

// Empties the ring. After its completions were forgotten: that a tagged receive of another object,
// the shared receive queue, has ended is not.
void QueuePair::drop_sends() {
  for (; !ring_.empty(); ring_.pop()) {
    if (ring_.front().fetch != 0) end_fetch(ring_.front(), false);
  }
}

}  // namespace gdr::rnic
