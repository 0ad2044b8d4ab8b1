#include "rsockets/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rsockets/credits.h"
#include "rsockets/errno_or.h"
#include "rsockets/settings.h"

namespace gdr::rsockets {
namespace {

// A work request's number: the message's immediate above, what it holds of the send ring below.
constexpr std::uint64_t kReceive = ~std::uint64_t{0};
// RDMA writes without a message (riowrite) use an operation that never travels.
constexpr Immediate kPlainWrite{static_cast<Operation>(2), 0};

std::uint64_t number_of(Immediate message, std::uint32_t ring_bytes) {
  return std::uint64_t{encode(message)} << 32 | ring_bytes;
}

}  // namespace

int Endpoint::open(rdma_cm_id* id, EndpointSizes& sizes) {
  id_ = id;
  ibv_device_attr device{};
  if (const int error = ibv_query_device(id->verbs, &device); error != 0) return error;
  const auto most = static_cast<std::uint32_t>(std::clamp(device.max_qp_wr, 1, 0xFFFE));
  sizes.send_queue = std::min(std::max(sizes.send_queue, kSmallestQueue), most);
  sizes.receive_queue = std::min(std::max(sizes.receive_queue, kSmallestQueue), most);
  sizes.receive_bytes = sizes.receive_bytes / 2 * 2;
  if (const int error = open_queues(sizes); error != 0) return error;
  send_bytes_ = sizes.send_bytes;
  const std::size_t control = ControlSlots::kSlots * kTargetBytes;
  const int remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  if (int error = send_.open(pd(), send_bytes_ + control, IBV_ACCESS_LOCAL_WRITE)) return error;
  if (int error = receive_.open(pd(), sizes.receive_bytes, remote)) return error;
  const std::size_t lists = kTargetEntries * kTargetBytes + sizes.mappings * kMappingBytes;
  if (int error = targets_.open(pd(), lists, remote)) return error;
  return post_receives(sizes.receive_queue);
}

int Endpoint::open_queues(const EndpointSizes& sizes) {
  const auto entries = static_cast<int>(sizes.send_queue + sizes.receive_queue);
  if (const int error = completions_.open(id_->verbs, entries); error != 0) return error;
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = completions_.queue();
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  attributes.cap.max_send_wr = sizes.send_queue;
  attributes.cap.max_recv_wr = sizes.receive_queue;
  attributes.cap.max_send_sge = 2;
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = sizes.inline_bytes;
  if (rdma_create_qp(id_, nullptr, &attributes) != 0) return errno_or(EINVAL);
  has_queue_pair_ = true;
  // A device may grant more than the program wants.
  inline_bytes_ = std::min(attributes.cap.max_inline_data, sizes.inline_bytes);
  return 0;
}

Endpoint::~Endpoint() {
  if (has_queue_pair_) rdma_destroy_qp(id_);
}

int Endpoint::post_receives(std::uint32_t count) {
  // Messages are immediates only, so a receive needs no memory.
  ibv_recv_wr requests[kBatch]{};
  while (count > 0) {
    const auto batch = std::min<std::uint32_t>(count, kBatch);
    for (std::uint32_t i = 0; i < batch; ++i) {
      requests[i].wr_id = kReceive;
      requests[i].next = i + 1 < batch ? &requests[i + 1] : nullptr;
    }
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_recv(id_->qp, requests, &refused); error != 0) return error;
    count -= batch;
  }
  return 0;
}

int Endpoint::post(ibv_send_wr& request, const RemoteRange* to, const Immediate* message,
                   std::uint32_t ring_bytes) {
  request.wr_id = number_of(message != nullptr ? *message : kPlainWrite, ring_bytes);
  request.opcode = message != nullptr ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  if (message != nullptr) request.imm_data = htonl(encode(*message));
  if (to != nullptr) {
    request.wr.rdma.remote_addr = to->address;
    request.wr.rdma.rkey = to->key;
  }
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(id_->qp, &request, &refused);
}

int Endpoint::post_message(Immediate message) {
  ibv_send_wr request{};
  return post(request, nullptr, &message, 0);
}

int Endpoint::post_target(Immediate message, std::span<const std::uint8_t> entry,
                          std::uint32_t slot, const RemoteRange& to) {
  const std::size_t offset = send_bytes_ + slot * kTargetBytes;
  std::memcpy(&send_.bytes()[offset], entry.data(), kTargetBytes);
  ibv_sge segment{send_.address() + offset, kTargetBytes, send_.lkey()};
  ibv_send_wr request{};
  request.sg_list = &segment;
  request.num_sge = 1;
  return post(request, &to, &message, 0);
}

int Endpoint::post_ring(const SendRing::Pieces& pieces, const RemoteRange& to,
                        const Immediate* message) {
  ibv_sge segments[2]{{send_.address() + pieces.first.offset, pieces.first.length, send_.lkey()},
                      {send_.address() + pieces.second.offset, pieces.second.length, send_.lkey()}};
  ibv_send_wr request{};
  request.sg_list = segments;
  request.num_sge = pieces.second.length > 0 ? 2 : 1;
  return post(request, &to, message, pieces.first.length + pieces.second.length);
}

int Endpoint::post_inline(std::span<const std::uint8_t> bytes, const RemoteRange& to,
                          const Immediate* message, std::uint32_t ring_bytes) {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(bytes.data()),
                  static_cast<std::uint32_t>(bytes.size()), 0};
  ibv_send_wr request{};
  request.sg_list = &segment;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_INLINE;
  return post(request, &to, message, ring_bytes);
}

int Endpoint::poll(Completion (&done)[kBatch]) {
  ibv_wc wcs[kBatch];
  const int count = ibv_poll_cq(completions_.queue(), kBatch, wcs);
  for (int i = 0; i < count; ++i) {
    done[i] = {};
    done[i].status = wcs[i].status;
    done[i].received = wcs[i].wr_id == kReceive;
    if (!done[i].received) {
      done[i].message = decode_immediate(static_cast<std::uint32_t>(wcs[i].wr_id >> 32));
      done[i].ring_bytes = static_cast<std::uint32_t>(wcs[i].wr_id);
    } else if (wcs[i].status == IBV_WC_SUCCESS && (wcs[i].wc_flags & IBV_WC_WITH_IMM) != 0) {
      done[i].has_immediate = true;
      done[i].message = decode_immediate(ntohl(wcs[i].imm_data));
    }
  }
  return count;
}

}  // namespace gdr::rsockets
