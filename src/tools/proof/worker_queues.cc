// Worker: queue pairs, posting, and waiting for completions with a bound.
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/random.h"
#include "proof/worker.h"

namespace gdr::proof {
namespace {

constexpr std::uint32_t kPacketSequenceMask = 0xffffff;
// Poll without rest for this long, then leave the core to others between looks.
constexpr Nanoseconds kEagerPolling = 2 * kMillisecond;
constexpr unsigned kRestMicroseconds = 50;

ibv_qp_type type_of(QueueKind kind) {
  switch (kind) {
    case QueueKind::kUd:
      return IBV_QPT_UD;
    case QueueKind::kRaw:
      return IBV_QPT_RAW_PACKET;
    default:
      return IBV_QPT_RC;
  }
}

ibv_wr_opcode opcode_of(Operation operation) {
  switch (operation) {
    case Operation::kSend:
      return IBV_WR_SEND;
    case Operation::kSendWithImmediate:
      return IBV_WR_SEND_WITH_IMM;
    case Operation::kWriteWithImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Operation::kRead:
      return IBV_WR_RDMA_READ;
    case Operation::kCompareAndSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Operation::kFetchAndAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    default:
      return IBV_WR_RDMA_WRITE;
  }
}

bool is_atomic(Operation operation) {
  return operation == Operation::kCompareAndSwap || operation == Operation::kFetchAndAdd;
}

}  // namespace

Result<Worker::Queue*> Worker::find_queue(std::uint32_t id) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return Error{EINVAL, "no such queue pair"};
  return &found->second;
}

rdma::Endpoint Worker::mine(const Queue& queue) const {
  rdma::Endpoint end;
  end.number = queue.pair.number();
  end.packet_sequence = queue.packet_sequence;
  end.port = port_;
  end.lid = address_.lid;
  end.gid_index = address_.gid_index;
  end.gid = address_.gid;
  end.global = ethernet_;
  return end;
}

Result<CreateQueue::Reply> Worker::handle(const CreateQueue& request) {
  if (!device_) return Error{EINVAL, "no device open"};
  rdma::QueuePairSize size;
  size.atomics = atomics_;
  Result<rdma::QueuePair> pair =
      rdma::QueuePair::create(*device_, domain_.get(), type_of(request.kind), size);
  if (!pair) return pair.error();
  CreateQueue::Reply reply;
  reply.queue = next_id_++;
  reply.number = pair->number();
  reply.packet_sequence = static_cast<std::uint32_t>(random_u64()) & kPacketSequenceMask;
  queues_.emplace(reply.queue,
                  Queue{*std::move(pair), request.kind, reply.packet_sequence, {}, {}});
  return reply;
}

Result<Nothing> Worker::handle(const Connect& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  rdma::Endpoint theirs;
  theirs.number = request.remote_number;
  theirs.packet_sequence = request.remote_packet_sequence;
  theirs.lid = request.remote_lid;
  std::copy(request.remote_gid.begin(), request.remote_gid.end(), theirs.gid.raw);
  theirs.global = ethernet_;
  const auto mtu = static_cast<ibv_mtu>(std::clamp<int>(request.mtu, IBV_MTU_256, IBV_MTU_4096));
  if (Result<void> done = (*queue)->pair.connect(mine(**queue), theirs, mtu); !done) {
    return done.error();
  }
  return Nothing{};
}

Result<Nothing> Worker::handle(const DestroyQueue& request) {
  if (queues_.erase(request.queue) == 0) return Error{EINVAL, "no such queue pair"};
  return Nothing{};
}

Result<Nothing> Worker::handle(const Steer& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  if ((*queue)->kind != QueueKind::kRaw) return Error{EINVAL, "only raw queue pairs take rules"};
  Result<rdma::Flow> flow =
      (*queue)->pair.steer(port_, request.mac, request.ipv4, request.udp_port);
  if (!flow) return flow.error();
  (*queue)->flow = *std::move(flow);
  return Nothing{};
}

Result<Nothing> Worker::handle(const PostReceive& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  Result<Buffer*> buffer = find_range(request.range);
  if (!buffer) return buffer.error();
  ibv_sge piece{(*buffer)->memory.address() + request.range.from,
                static_cast<std::uint32_t>(request.range.length), (*buffer)->region->lkey};
  ibv_recv_wr receive{};
  receive.wr_id = request.range.from;
  receive.sg_list = &piece;
  receive.num_sge = 1;
  if (Result<void> posted = (*queue)->pair.post_receive(receive); !posted) return posted.error();
  return Nothing{};
}

Result<void> Worker::post(Queue& queue, const Execute& request, bool signalled) {
  Result<Buffer*> buffer = find_range(request.range);
  if (!buffer) return buffer.error();
  if (request.range.length > UINT32_MAX) return Error{EINVAL, "work request too long"};
  ibv_sge piece{(*buffer)->memory.address() + request.range.from,
                static_cast<std::uint32_t>(request.range.length), (*buffer)->region->lkey};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = opcode_of(request.operation);
  work.send_flags = signalled ? static_cast<unsigned>(IBV_SEND_SIGNALED) : 0u;
  work.imm_data = __builtin_bswap32(request.immediate);
  if (queue.kind == QueueKind::kUd) {
    if (!queue.path) {
      rdma::Endpoint theirs;
      theirs.lid = request.remote_lid;
      std::copy(request.remote_gid.begin(), request.remote_gid.end(), theirs.gid.raw);
      theirs.global = ethernet_;
      Result<rdma::AddressHandle> path =
          rdma::make_address_handle(*device_, domain_.get(), rdma::path_to(mine(queue), theirs));
      if (!path) return path.error();
      queue.path = *std::move(path);
    }
    work.wr.ud = {queue.path.get(), request.remote_number, rdma::kQKey};
  } else if (is_atomic(request.operation)) {
    work.wr.atomic = {request.remote_address, request.compare_or_add, request.swap, request.rkey};
  } else {
    work.wr.rdma = {request.remote_address, request.rkey};
  }
  return queue.pair.post_send(work);
}

Result<Completion> Worker::await(Queue& queue, bool receive, std::uint32_t milliseconds) {
  const Nanoseconds start = now();
  const Nanoseconds deadline = start + milliseconds * kMillisecond;
  for (;;) {
    Result<std::optional<ibv_wc>> polled =
        receive ? queue.pair.poll_receive() : queue.pair.poll_send();
    if (!polled) return polled.error();
    if (polled->has_value()) {
      const ibv_wc& wc = **polled;
      Completion completion;
      completion.seen = true;
      completion.status = wc.status;
      completion.status_text = device_->library().wc_status_str(wc.status);
      completion.opcode = wc.opcode;
      completion.vendor_error = wc.vendor_err;
      completion.length = wc.byte_len;
      completion.has_immediate = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
      completion.immediate = __builtin_bswap32(wc.imm_data);
      return completion;
    }
    const Nanoseconds time = now();
    if (time >= deadline) return Completion{};
    if (time - start < kEagerPolling) {
      sched_yield();
    } else {
      usleep(kRestMicroseconds);
    }
  }
}

Result<Completion> Worker::handle(const Execute& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  if (Result<void> posted = post(**queue, request); !posted) return posted.error();
  return await(**queue, false, request.milliseconds);
}

Result<Completion> Worker::handle(const AwaitReceive& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  return await(**queue, true, request.milliseconds);
}

}  // namespace gdr::proof
